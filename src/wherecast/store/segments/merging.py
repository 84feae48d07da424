"""Which segments are merged: in tiers, so that their number grows with the logarithm of the time.

A segment of a batch is of tier 0. `FAN_IN` neighbours of one tier become one of the next. Where
merging lags, whole powers of `FAN_IN` are merged at once. A segment of `SEALED_BYTES` or more is
left as it is: a reader gains nothing from larger ones, and a merge of any is bounded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

FAN_IN = 8
SEALED_BYTES = 32 << 20
_MERGED_BYTES = FAN_IN * SEALED_BYTES
_MERGED_MOST = FAN_IN**3


@dataclass(frozen=True, slots=True)
class Due:
    """Neighbours that are to be merged.

    Attributes:
        begin: the place of the first.
        end: the place after the last.
        tier: of the merged segment.
    """

    begin: int
    end: int
    tier: int


def due(tiers: Sequence[int], sizes: Sequence[int]) -> Due | None:
    """The oldest neighbours that are to be merged, if some are.

    Args:
        tiers: of all segments, the oldest first.
        sizes: their bytes, likewise.
    """
    begin = 0
    while begin < len(tiers):
        if sizes[begin] >= SEALED_BYTES:
            begin += 1
            continue
        end = begin + 1
        while end < len(tiers) and sizes[end] < SEALED_BYTES:
            end += 1
        closed = end < len(tiers)
        found = _all_of(tiers, sizes, begin, end) if closed else _run(tiers, sizes, begin, end)
        if found:
            return found
        begin = end
    return None


def _all_of(tiers: Sequence[int], sizes: Sequence[int], begin: int, end: int) -> Due | None:
    """What lies between two sealed segments: nothing joins it any more, so it becomes one."""
    taken = _within(sizes, begin, min(end, begin + _MERGED_MOST))
    if taken - begin < 2:
        return None
    return Due(begin, taken, max(tiers[begin:taken]) + 1)


def _run(tiers: Sequence[int], sizes: Sequence[int], begin: int, end: int) -> Due | None:
    """The oldest run of one tier that is long enough."""
    while begin < end:
        last = begin
        while last < end and tiers[last] == tiers[begin]:
            last += 1
        taken = min(_within(sizes, begin, last), begin + _MERGED_MOST) - begin
        steps = 0
        while FAN_IN ** (steps + 1) <= taken:
            steps += 1
        if steps:
            return Due(begin, begin + FAN_IN**steps, tiers[begin] + steps)
        begin = last
    return None


def _within(sizes: Sequence[int], begin: int, end: int) -> int:
    """How far segments can be merged at once."""
    total, at = 0, begin
    while at < end and (total := total + sizes[at]) <= _MERGED_BYTES:
        at += 1
    return at
