"""Figures about a BE-Tree: how many nodes of each kind, how deep, how full."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from wherecast.matching.trees.betree.branch import BranchFigures
from wherecast.matching.trees.betree.layout import CNODE, PNODE, TreeState
from wherecast.matching.trees.betree.tree import BETree
from wherecast.matching.trees.filter_store import FilterStore


def figures_of(tree: BETree, store: FilterStore, filters: int) -> dict[str, Any]:
    """The figures of a tree.

    Args:
        tree: the tree.
        store: of its filters.
        filters: how many of them there are.
    """
    arrays, nodes = tree.arrays, tree.nodes()
    counts = arrays.c[nodes, CNODE.COUNT]
    full = counts[counts > 0]
    placed = int(counts.sum())
    p_nodes = int(
        np.count_nonzero(arrays.p[: int(arrays.state[TreeState.P_USED]), PNODE.SLOT] >= 0)
    )
    return {
        "c_nodes": len(nodes),
        "p_nodes": p_nodes,
        "l_nodes": len(full),
        "depth": max((depth_of(tree, c) for c in nodes[counts > 0].tolist()), default=0),
        "halvings": int(arrays.c[nodes, CNODE.DEPTH].max(initial=0)),
        "filters_per_l_node": placed / max(1, len(full)),
        "largest_l_node": int(counts.max(initial=0)),
        "never_matching": filters - placed,
        "tree_bytes": tree.nbytes,
        "store_bytes": store.nbytes,
        "leaves": len(store.leaves),
    }


def plan_of(figures: dict[str, Any], filters: int, branches: Sequence[BranchFigures]) -> list[str]:
    """How a tree is searched, in lines of text.

    Args:
        figures: of the tree.
        filters: how many it has.
        branches: of the tree.
    """
    never = figures["never_matching"]
    rest = filters - never - sum(b.subscriptions for b in branches)
    nodes = f"{figures['p_nodes']:,} p-nodes, {figures['c_nodes']:,} c-nodes"
    whole = f"{filters:,} filters in a BE-Tree, {never:,} of them never matching"
    return [
        f"{whole}: {nodes}, {figures['depth']} p-nodes deep",
        "a publication is tried on the filters of the buckets that its values are in",
        *(f"{b.attribute} ({b.type}): {b.subscriptions:,} filters" for b in branches),
        f"in no branch: {rest:,} filters",
    ]


def depth_of(tree: BETree, c: int) -> int:
    """The number of p-nodes above a c-node."""
    depth, p = 0, int(tree.arrays.c[c, CNODE.PNODE])
    while p >= 0:
        depth += 1
        p = int(tree.arrays.c[tree.arrays.p[p, PNODE.PARENT], CNODE.PNODE])
    return depth
