"""Figures about a covering forest: how many nodes, how deep, how much is covered."""

from typing import Any

from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.forest.layout import NODE, TOP
from wherecast.matching.trees.forest.tree import CoveringForest


def figures_of(forest: CoveringForest, store: FilterStore, filters: int) -> dict[str, Any]:
    """The figures of a forest.

    Args:
        forest: the forest.
        store: of its filters.
        filters: how many of them there are.
    """
    arrays, nodes = forest.arrays, forest.nodes()
    roots = forest.children(TOP)
    placed = int(arrays.n[nodes, NODE.SIZE].sum())
    at_top = sum(int(arrays.n[root, NODE.SIZE]) for root in roots)
    return {
        "nodes": len(nodes),
        "roots": len(roots),
        "depth": _depth(forest),
        "covering_ratio": 1 - at_top / placed if placed else 0.0,
        "filters_per_node": placed / max(1, len(nodes)),
        "never_matching": filters - placed,
        "forest_bytes": forest.nbytes,
        "store_bytes": store.nbytes,
        "leaves": len(store.leaves),
    }


def _depth(forest: CoveringForest) -> int:
    """The most nodes on a path from a root."""
    depth, level = 0, forest.children(TOP)
    while level:
        depth += 1
        level = [child for node in level for child in forest.children(node)]
    return depth
