"""Room for a tree: empty arrays, and longer ones with the same content."""

import numpy as np

from wherecast.arrays.growth import grow
from wherecast.matching.trees.betree.layout import CNODE, PLACE, PNODE, Tree, TreeState
from wherecast.matching.trees.items import CLASSES, ITEM


def empty_tree() -> Tree:
    """A tree without a root, with room for one."""
    bits = np.zeros(1, np.int64)
    return Tree(
        c=np.zeros((16, len(CNODE)), np.int64),
        f=np.zeros((16, 2)),
        p=np.zeros((16, len(PNODE)), np.int64),
        i=np.zeros((64, len(ITEM)), np.int64),
        e=np.zeros((0, len(PLACE)), np.int64),
        free=np.zeros(CLASSES, np.int64),
        waiting=np.zeros(16, np.int64),
        state=np.zeros(len(TreeState), np.int64),
        bits=bits,
        double=bits.view(np.float64),
    )


def with_room(tree: Tree, nodes: int, items: int) -> Tree:
    """The tree with room for more c-nodes and p-nodes, items, and c-nodes that wait."""
    cs, ps = int(tree.state[TreeState.C_USED]), int(tree.state[TreeState.P_USED])
    used, waiting = int(tree.state[TreeState.ITEMS_USED]), int(tree.state[TreeState.WAITING])
    return tree._replace(
        c=grow(tree.c, cs + nodes, cs),
        f=grow(tree.f, cs + nodes, cs),
        p=grow(tree.p, ps + nodes, ps),
        i=grow(tree.i, used + items, used),
        waiting=grow(tree.waiting, waiting + 8, waiting),
    )


def with_entries(tree: Tree, entries: int) -> Tree:
    """The tree with room for so many entries."""
    return tree._replace(e=grow(tree.e, entries, len(tree.e)))
