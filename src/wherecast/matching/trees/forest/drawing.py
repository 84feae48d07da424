"""A covering forest as shapes of a picture: each node with the ids of its filters."""

from collections.abc import Sequence

from wherecast.matching.matches import Id
from wherecast.matching.trees.forest.layout import TOP
from wherecast.matching.trees.forest.tree import CoveringForest
from wherecast.matching.trees.tree_pictures import PictureNode


def shape_of(forest: CoveringForest, ids: Sequence[Id], texts: Sequence[str]) -> PictureNode:
    """The shape of all roots and all below them, however deep that is."""
    nodes = [TOP]
    for node in nodes:
        nodes += sorted(forest.children(node))
    made: dict[int, PictureNode] = {}
    for node in reversed(nodes):
        below = tuple(made[child] for child in sorted(forest.children(node)))
        made[node] = PictureNode("p", ("all",), below)
        if node != TOP:
            entries = sorted(forest.entries(node))
            names = ", ".join(str(ids[entry]) for entry in entries)
            made[node] = PictureNode("n", (names, texts[entries[0]]), below)
    return made[TOP]
