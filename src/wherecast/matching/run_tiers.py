"""Which of many small runs or parts are joined: four neighbours of about one size.

A tier is four times as large as the one below, so a filter is written again only as often as there
are tiers, and the number of pieces grows with the logarithm of the filters.
"""

from collections.abc import Sequence

JOIN_AT = 4  # neighbouring pieces of one tier
_BASE = 4_096  # filters of a piece of the lowest tier


def due(pieces: Sequence[tuple[int, int]]) -> slice | None:
    """The newest neighbours that should become one, or None.

    A piece of which most is hidden is due alone.

    Args:
        pieces: how many filters each holds, and how many of them are hidden; the oldest first.
    """
    tiers = [_tier(size) for size, _ in pieces]
    for end in range(len(pieces), 0, -1):
        size, hidden = pieces[end - 1]
        if hidden > size - hidden:
            return slice(end - 1, end)
        start = end - JOIN_AT
        if start >= 0 and max(tiers[start:end]) == tiers[end - 1]:
            return slice(start, end)
    return None


def _tier(filters: int) -> int:
    tier, size = 0, _BASE
    while filters > size:
        tier, size = tier + 1, size * JOIN_AT
    return tier
