"""A covering forest as shapes of a picture: each node with the ids of its filters."""

from collections.abc import Sequence

from wherecast.matching.exact.drawing import Shape
from wherecast.matching.forest.layout import TOP
from wherecast.matching.forest.tree import CoveringForest
from wherecast.matching.matches import Id


def shape_of(
    forest: CoveringForest, ids: Sequence[Id], texts: Sequence[str], node: int = TOP
) -> Shape:
    """The shape of a node and all below it."""
    below = tuple(shape_of(forest, ids, texts, child) for child in sorted(forest.children(node)))
    if node == TOP:
        return Shape("p", ("all",), below)
    entries = sorted(forest.entries(node))
    return Shape("n", (", ".join(str(ids[entry]) for entry in entries), texts[entries[0]]), below)
