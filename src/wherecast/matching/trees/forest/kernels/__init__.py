"""The kernels of the covering forest; compiled where numba can be imported."""

from wherecast.matching.trees.forest.kernels.cover_search import (
    NONE,
    UNSURE,
    covered,
    descend,
    is_conjunction,
)
from wherecast.matching.trees.forest.kernels.matching import find_covered
from wherecast.matching.trees.forest.kernels.nodes import (
    attach,
    detach,
    drop_node,
    has_items,
    join,
    leave,
    new_node,
    plant_forest,
)

__all__ = [
    "NONE", "UNSURE", "attach", "covered", "descend", "detach", "drop_node", "find_covered",
    "has_items", "is_conjunction", "join", "leave", "new_node", "plant_forest",
]  # fmt: skip
