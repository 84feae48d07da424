"""What the arrays of filters in a store mean, for the kernels and for the code that fills them.

The words of a record are the fields of a named tuple of ints, such as `ENTRY.FLAGS`: numba reads
them as constants.
"""

from typing import NamedTuple

import numpy as np

from wherecast.matching.columnar.layout import Exact


class EntryWords(NamedTuple):
    """An entry: its rows, its flags, and the sides of its box."""

    START: int = 0
    SIZE: int = 1
    FLAGS: int = 2
    BOX: int = 3
    SIDES: int = 4


class EntryFlags(NamedTuple):
    """Flags of entries: holds always, holds never, is just one range, is just its box."""

    ALWAYS: int = 1
    NEVER: int = 2
    PLAIN: int = 4
    BOX: int = 8


class RowWords(NamedTuple):
    """A row, one predicate of a conjunction."""

    SLOT: int = 0
    KIND: int = 1
    LOW: int = 2
    HIGH: int = 3


class RowKinds(NamedTuple):
    """The kinds of rows: those of `Exact`, and all but one key."""

    RANGE: int = int(Exact.RANGE)
    SET: int = int(Exact.SET)
    NOT_SET: int = int(Exact.NOT_SET)
    PRESENT: int = int(Exact.PRESENT)
    MISSING: int = int(Exact.MISSING)
    LATER: int = int(Exact.LATER)
    EXCEPT: int = 6


class SideWords(NamedTuple):
    """A side of a box: an interval of keys of one slot."""

    SLOT: int = 0
    LOW: int = 1
    HIGH: int = 2


class CostWords(NamedTuple):
    """The counts of a match: filters tried, nodes visited."""

    CHECKED: int = 0
    VISITED: int = 1


ENTRY, FLAG, ROW, KIND, SIDE, COST = (
    EntryWords(), EntryFlags(), RowWords(), RowKinds(), SideWords(), CostWords(),
)  # fmt: skip
KIND_MASK, END = 7, 8  # of `ROW.KIND`: the kind, and whether a row ends its conjunction


class FilterRows(NamedTuple):
    """Filters as arrays; an entry is one filter.

    Attributes:
        e: int64 [entries, words of ENTRY].
        r: int64 [rows, words of ROW].
        b: int64 [sides, words of SIDE], by slot within an entry.
        keys: int64, the sorted keys of sets.
    """

    e: np.ndarray
    r: np.ndarray
    b: np.ndarray
    keys: np.ndarray


class Extra(NamedTuple):
    """Candidates whose leaves must be decided.

    Attributes:
        groups: int32 [room, 2], publications and entries.
        tests: int64 [room, 2], groups and leaves, all of which must hold.
        used: int64 [2], the numbers of groups and tests.
    """

    groups: np.ndarray
    tests: np.ndarray
    used: np.ndarray
