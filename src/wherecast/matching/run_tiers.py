"""The rule that joins small runs or parts: four neighbours of about the same size become one.

A tier is four times as large as the one below. So a filter is rewritten at most once per tier, and
the number of pieces grows with the logarithm of the number of filters.
"""

from collections.abc import Sequence

JOIN_AT = 4  # neighbouring pieces of one tier
TIER_FILTERS = 4_096  # largest number of filters of a piece of the lowest tier


def due(pieces: Sequence[tuple[int, int]], tier_filters: int = TIER_FILTERS) -> slice | None:
    """The newest neighbours that should become one, or None.

    A piece with more hidden than visible filters is due alone.

    Args:
        pieces: the numbers of all and of hidden filters of each piece, the oldest first.
        tier_filters: the largest number of filters of a piece of the lowest tier.
    """
    tiers = [_tier(size, tier_filters) for size, _ in pieces]
    for end in range(len(pieces), 0, -1):
        size, hidden = pieces[end - 1]
        if hidden > size - hidden:
            return slice(end - 1, end)
        start = end - JOIN_AT
        if start >= 0 and max(tiers[start:end]) == tiers[end - 1]:
            return slice(start, end)
    return None


def _tier(filters: int, tier_filters: int) -> int:
    tier, size = 0, tier_filters
    while filters > size:
        tier, size = tier + 1, size * JOIN_AT
    return tier
