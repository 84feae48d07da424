"""What becomes of the entries of groups in which not all have the same outcome."""

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import spans
from wherecast.matching.columnar.layout import LANES, GroupFlag, Header

Ints = npt.NDArray[np.int64]
_OUTCOMES = (GroupFlag.EXTRA, GroupFlag.ONCE)


def are_mixed(groups: int, group: Ints, outcome: Ints) -> npt.NDArray[np.bool_]:
    """The groups whose entries do not all have the same outcome, bool [groups].

    Shapes: group, outcome int64 [entries].
    """
    sizes = np.bincount(group, minlength=groups)
    mixed = np.zeros(groups, bool)
    for flag in _OUTCOMES:
        having = np.bincount(group[outcome & flag > 0], minlength=groups)
        mixed |= (having > 0) & (having < sizes)
    return mixed


def outcomes_by_block(
    headers: Ints, outcome: Ints, placed: Ints, starts: Ints
) -> npt.NDArray[np.uint64]:
    """A word of bits for each outcome of the entries of each leaf block, uint64 [blocks, 2].

    Args:
        headers: of the groups, with their flags.
        outcome: int64 [entries].
        placed: int64 [entries], the entries in the order of their positions.
        starts: int64 [groups + 1], where the entries of each group begin in `placed`.

    Returns:
        Nothing, uint64 [0, 2], where no group is mixed.
    """
    if not (headers[:, Header.FLAGS] & GroupFlag.MIXED).any():
        return np.zeros((0, 2), np.uint64)
    positions = spans(headers[:, Header.FIRST], np.diff(starts))
    bits = np.zeros((len(_OUTCOMES), int(headers[:, Header.SIZE].sum())), bool)
    for place, flag in enumerate(_OUTCOMES):
        bits[place, positions] = outcome[placed] & flag > 0
    words = np.packbits(bits, axis=1, bitorder="little").view(f"u{LANES // 8}")
    return np.ascontiguousarray(words.T, np.uint64)
