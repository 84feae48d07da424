"""What the arrays of a covering forest mean.

*Nodes.* Filters that are equal in form share a node, as a list linked by `MEMBER.NEXT`. Node 0 is
above all roots and has no filter. The children of a node are a stretch of items.

*Items.* The children of nodes, see `wherecast.matching.trees.items`.

Unused nodes are a list, linked by `NODE.PARENT`. -1 ends every list.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

TOP = 0


class NodeWords(NamedTuple):
    """A node: the node above and the item there, its filters, and the items of its children."""

    PARENT: int = 0
    PLACE: int = 1
    HEAD: int = 2  # its first filter
    SIZE: int = 3  # the number of its filters
    START: int = 4
    COUNT: int = 5
    CLASS: int = 6


class MemberWords(NamedTuple):
    """Where a filter is: its node, -1 where it is in none, and the next filter of the node."""

    NODE: int = 0
    NEXT: int = 1


NODE, MEMBER = NodeWords(), MemberWords()


class ForestState(IntEnum):
    """The words of the forest's state."""

    NODES_USED = 0
    NODES_FREE = 1
    ITEMS_USED = 2


class ForestArrays(NamedTuple):
    """A covering forest as arrays.

    Attributes:
        n: int64 [nodes, words of NODE].
        i: int64 [items, words of ITEM].
        e: int64 [entries, words of MEMBER].
        free: int64 [classes], the free stretches.
        state: int64, the words of `ForestState`.
    """

    n: Ints
    i: Ints
    e: Ints
    free: Ints
    state: Ints
