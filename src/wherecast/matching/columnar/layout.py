"""What the arrays of packed trees mean, for the kernels and for the code that builds the arrays.

*Cells.* Every value becomes a uint16 cell of its attribute, monotonically: 0 is missing, then come
the cells below, on and between the boundaries, and 65535 is the open upper end.

*Blocks.* 64 entries, for each dimension 64 low cells, then 64 high cells. Level 0 holds entries;
a block of the level above holds the boxes of 64 blocks below. Child j of block i is 64 * i + j.

*Groups.* Entries with the same dimensions, one tree each. A header is a row of 24 int64.

*Clauses.* The dimensions of a group are ANDed, but for a clause, whose dimensions are ORed. An
entry of a group with clauses stands for all conjunctions of its filter, and names the first. A box
around entries holds wherever one of them does.

*Rests.* The sides of an entry that are no dimensions of its group: triples of uint16, the slot and
the low and high cell, the most selective first.

*Predicates.* What decides exactly: a row per predicate of a conjunction, in key space.

*Outcomes.* What becomes of a match depends on its group, or, in a mixed group, on its entry: two
words of bits for each leaf block.

*Stamps.* A byte per filter: the mark of the last publication that reported it. Marks run from 1 to
255; then all stamps become 0, and marks begin anew.
"""

from enum import IntEnum, IntFlag
from typing import NamedTuple

import numpy as np

CELL_MISSING = 0
CELL_FIRST = 1
CELL_LAST = 65535
LANES = 64
DIMS_MAX = 16
SLOTS_MAX = 65_535  # attributes; a slot is a uint16
LEVELS_MAX = 5
HEADER_WORDS = 24


class Header(IntEnum):
    """The words of a group's header; the dimensions are uint16 in words 16 to 19."""

    DIMS = 0
    LEVELS = 1
    BASE = 2  # one per level, up to 5
    FIRST = 7
    FLAGS = 8
    SIZE = 9
    NEEDED = 10
    EXACT = 11
    REST = 12
    CLAUSES = 13  # a bit for each dimension that is in the clause of the one before
    CONJUNCTIONS = 14  # that an entry stands for; 0 is 1
    SLOTS = 16


class Pointers(IntEnum):
    """The arrays whose addresses the kernels take, in their order."""

    COLUMNS = 0
    IS_FLOAT = 1
    HEADERS = 2
    BLOCKS = 3
    NUMBERS = 4
    SOURCES = 5
    OFFSETS = 6
    SLOTS = 7
    KINDS = 8
    LOWS = 9
    HIGHS = 10
    KEYS = 11
    EXACT_SLOTS = 12
    REST_ENDS = 13
    RESTS = 14
    DIRECTORY = 15
    GROUPS = 16
    SECONDS = 17
    SCRATCH = 18
    STAMPS = 19
    OUTCOMES = 20


class CellPointers(IntEnum):
    """The arrays whose addresses the kernel that makes cells takes, in their order."""

    VALUES = 0  # addresses of the values, one per slot
    BITS = 1  # addresses of their bits; 0 where all values are there
    FIRSTS = 2
    FLOATS = 3
    EXACT = 4
    BOUNDS = 5
    BOUND_ENDS = 6
    TABLES = 7
    TABLE_ENDS = 8
    ORIGINS = 9
    SCALES = 10


class Stamps(NamedTuple):
    """By which the kernels report each filter once per publication; for one match at a time.

    Attributes:
        marks: uint8 [filters], the mark of the last publication that reported each filter.
        last: int64 [1], the mark of the last publication.
    """

    marks: np.ndarray
    last: np.ndarray


RECORD_SLOT_BITS, RECORD_KIND_BITS = 28, 4
"""Of the word of a test's record: the slot, then the kind, then 16 bits for each way on."""


class ProgramPointers(IntEnum):
    """The arrays whose addresses the kernel of programs takes, in their order."""

    RECORDS = 0  # of tests, three int64 each, as `CandidateTests` says
    SETS = 1
    KEYS = 2  # of the publications, row by row
    THERE = 3  # whether each of these is there
    STEPS = 4  # of formulas, two int64 each: an `Arithmetic` and its argument
    STEP_ENDS = 5  # of each derived slot
    STACK = 6  # doubles, the values of a formula on its way
    CODES = 7  # of the strings of publications in the memory of patterns, row by row; -1: unknown
    VERDICTS = 8  # of patterns on these strings, 0 where unknown, 1 false, 2 true
    TEXTS_MAX = 9  # no address, but the number of verdicts per pattern
    ELEMENT_STARTS = 10  # addresses of the starts of `ElementColumn`, one per slot; 0 for others
    ELEMENT_KEYS = 11  # addresses of its keys
    ELEMENT_STATES = 12  # addresses of its states


class Arithmetic(IntEnum):
    """The steps of a formula of doubles that the kernel of programs computes."""

    FLOAT = 0  # the double of a slot
    INT = 1  # the integer of a slot, as a double
    CONSTANT = 2  # the bits of a double
    ADD = 3
    SUBTRACT = 4
    MULTIPLY = 5
    DIVIDE = 6
    NEGATE = 7


class ArrayState(IntEnum):
    """What a publication has for an array attribute."""

    MISSING = 0
    THERE = 1
    WITH_NULL = 2


class GroupFlag(IntFlag):
    """What happens to the entries of a group that its cells let pass."""

    CHECK_ALL = 1  # each one is decided on exact keys
    CHECK_EDGES = 2  # those are whose cell is an end of their range
    EXTRA = 4  # they go to the list of extra matches, not straight to the result
    REST = 8  # their sides that are no dimensions are compared one by one
    ONCE = 16  # other entries may report the same filter, so the stamp of a filter is asked
    ELEMENT = 32  # they ask for an element of an array, so every probe is searched for
    MIXED = 64  # EXTRA and ONCE do not hold for all of them: two words a leaf block say for which


class Exact(IntEnum):
    """The kinds of predicate rows in key space."""

    RANGE = 0
    SET = 1
    NOT_SET = 2
    PRESENT = 3
    MISSING = 4
    LATER = 5  # present here; decided on the extra matches
    PATTERN = 6  # in programs only: a pattern, decided by the memory of patterns


class RowWord(IntEnum):
    """The words of the state that the kernel of single publications takes.

    Words of arrays are addresses; of a number where it says so.
    """

    SEARCH = 0  # of the arrays of `Pointers`
    CELLS = 1  # of the arrays of `CellPointers`; 0 without trees
    PROGRAMS = 2  # of the arrays of `ProgramPointers`; 0 where nothing remains to be decided
    ROW = 3  # cells, uint16 [slots]
    VALUES = 4  # int64 or float64 [slots]
    THERE = 5  # uint8 [slots], whether each value is there
    KEYS = 6  # int64 [slots], which the kernel fills
    OUT = 7  # int32, the matches
    EXTRA = 8  # int32 [room, 2], candidates that remain to be decided
    STOPS = 9  # int64 [room, 3], filter, test and verdict of candidates that stopped
    STARTS = 10  # int32, the first test of each position
    MARKS = 11  # uint8 [filters], stamps
    COUNTS = 12  # int64 [4]: publications, inner and leaf blocks read, entries checked
    ELEMENTS = 13  # int64 or float64, values of elements of arrays
    ELEMENT_SLOTS = 14  # int32, their slots
    ELEMENT_COUNT = 15  # their number
    WIDTH = 16  # number of slots
    HALF = 17  # half the size of the scratch
    OUT_ROOM = 18  # number of matches that there is room for
    EXTRA_ROOM = 19  # of candidates
    STOPS_ROOM = 20  # of candidates that stop
    FILTERS = 21  # number of filters, where stamps are used
    MARK = 22  # number of the last stamp
    FOUND = 23  # number of matches
    STOPPED = 24  # number of candidates that stopped
    CONJUNCTIONS = 25  # number of conjunctions, which are tried one by one where there are no trees
