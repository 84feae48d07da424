"""What the arrays of a BE-Tree mean, for the kernels and for those who read them.

*c-nodes.* Each holds an l-node, a stretch of items, and the first of its p-nodes. Every c-node but
the root is also a bucket of the p-node above it: it has an interval of keys, and none or two
halves, which are c-nodes too.

*p-nodes.* One attribute, and the bucket that spans its domain. Those of a c-node are a list.

*Items.* The filters of l-nodes, see `wherecast.matching.trees.items`.

Unused c-nodes and p-nodes are lists too, linked by C_LEFT and P_NEXT. -1 ends every list. Few
arrays with rows for records: numba compiles many arrays many times slower.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

ROOT = 0

# c-nodes: the p-node above, the bucket it is a half of, its halves, its first p-node
C_PNODE, C_OVER, C_LEFT, C_RIGHT, C_FIRST = range(5)
# how often the domain was halved for it, and its keys
C_DEPTH, C_LOW, C_HIGH = range(5, 8)
# its items, and its capacity
C_START, C_COUNT, C_CLASS, C_ROOM = range(8, 12)
# of its l-node: predicates subsumed and covered by the keys above, and candidates of the sample
# that did not match
C_EQUAL, C_INSIDE, C_FALSE = range(12, 15)
C_WORDS = 15
C_FROM, C_TO = range(2)  # the numbers that are halved
# p-nodes: of P_COUNT on sums over the branch, and how many candidates there were
P_SLOT, P_PARENT, P_ROOT, P_NEXT, P_COUNT, P_EQUAL, P_INSIDE, P_FALSE, P_CHECKED = range(9)
P_WORDS = 9
E_NODE, E_PLACE = range(2)  # where an entry is; -1 where it is in no l-node
E_WORDS = 2


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
        c: int64 [c-nodes, C_WORDS]; f: float64 [c-nodes, 2].
        p: int64 [p-nodes, P_WORDS].
        i: int64 [items, I_WORDS].
        e: int64 [entries, E_WORDS].
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
