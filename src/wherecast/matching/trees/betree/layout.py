"""What the arrays of a BE-Tree mean, for the kernels and for those who read them.

*c-nodes.* Each holds an l-node, a stretch of items, and the first of its p-nodes. Every c-node but
the root is also a bucket of the p-node above it: it has an interval of keys, and none or two
halves, which are c-nodes too.

*p-nodes.* One attribute, and the bucket that spans its domain. Those of a c-node are a list.

*Items.* The filters of l-nodes, see `wherecast.matching.trees.items`.

Unused c-nodes and p-nodes are lists too, linked by `CNODE.LEFT` and `PNODE.NEXT`. -1 ends every
list. There are few arrays, with rows for records: numba compiles many arrays many times slower. The
words of a record are the fields of a named tuple of ints, which numba reads as constants.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ROOT = 0


class CNodeWords(NamedTuple):
    """A c-node: its place in the tree, its keys, its items, and the counts of its l-node."""

    PNODE: int = 0  # the p-node above
    OVER: int = 1  # the bucket that this one is a half of
    LEFT: int = 2
    RIGHT: int = 3  # its halves
    FIRST: int = 4  # its first p-node
    DEPTH: int = 5  # how often the domain was halved
    LOW: int = 6
    HIGH: int = 7
    START: int = 8  # of its items
    COUNT: int = 9
    CLASS: int = 10
    ROOM: int = 11  # its capacity
    EQUAL: int = 12  # predicates of its l-node that equal a key above
    INSIDE: int = 13  # predicates of its l-node that are inside a key above
    FALSE: int = 14  # candidates of the sample that did not match


class SpanWords(NamedTuple):
    """The numbers that a bucket spans, which are halved."""

    FROM: int = 0
    TO: int = 1


class PNodeWords(NamedTuple):
    """A p-node; from COUNT on sums over its branch."""

    SLOT: int = 0
    PARENT: int = 1
    ROOT: int = 2
    NEXT: int = 3
    COUNT: int = 4
    EQUAL: int = 5
    INSIDE: int = 6
    FALSE: int = 7
    CHECKED: int = 8  # number of candidates


class PlaceWords(NamedTuple):
    """Where an entry is: its c-node, -1 where it is in no l-node, and its item."""

    NODE: int = 0
    PLACE: int = 1


CNODE, SPAN, PNODE, PLACE = CNodeWords(), SpanWords(), PNodeWords(), PlaceWords()


class TreeState(IntEnum):
    """The words of the tree's state."""

    C_USED = 0
    C_FREE = 1
    P_USED = 2
    P_FREE = 3
    ITEMS_USED = 4
    WAITING = 5
    SEEN = 6
    SAMPLED = 7


class Tree(NamedTuple):
    """A BE-Tree as arrays.

    Attributes:
        c: int64 [c-nodes, words of CNODE]; f: float64 [c-nodes, words of SPAN].
        p: int64 [p-nodes, words of PNODE].
        i: int64 [items, words of ITEM].
        e: int64 [entries, words of PLACE].
        free: int64 [classes], the free stretches.
        waiting: int64, c-nodes that may be over their capacity.
        state: int64, the words of `TreeState`.
        bits, double: int64 and float64 [1], the same memory.
    """

    c: Ints
    f: Floats
    p: Ints
    i: Ints
    e: Ints
    free: Ints
    waiting: Ints
    state: Ints
    bits: Ints
    double: Floats


class TreeLimits(NamedTuple):
    """The parameters as kernels take them; see `TreeParameters`."""

    leaf_max: int
    leaf_min: int
    depth_max: int
    alpha: float
    beta: float
    sample: int
