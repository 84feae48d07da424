"""What the arrays of a covering forest mean.

*Nodes.* Filters that are equal in form share one; they are a list, linked by E_NEXT. Node 0 is
above all roots and has no filter. The children of a node are a stretch of items.

*Items.* The children of nodes, see `wherecast.matching.trees.items`.

Unused nodes are a list, linked by N_PARENT. -1 ends every list.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

TOP = 0

# nodes: the node above and the item there, the first filter and how many, the items of children
N_PARENT, N_PLACE, N_HEAD, N_SIZE, N_START, N_COUNT, N_CLASS = range(7)
N_WORDS = 7
E_NODE, E_NEXT = range(2)  # -1 where a filter is in no node
E_WORDS = 2


class ForestState(IntEnum):
    """The words of the forest's state."""

    NODES_USED = 0
    NODES_FREE = 1
    ITEMS_USED = 2


class ForestArrays(NamedTuple):
    """A covering forest as arrays.

    Attributes:
        n: int64 [nodes, N_WORDS].
        i: int64 [items, I_WORDS].
        e: int64 [entries, E_WORDS].
        free: int64 [classes], the free stretches.
        state: int64, the words of `ForestState`.
    """

    n: Ints
    i: Ints
    e: Ints
    free: Ints
    state: Ints
