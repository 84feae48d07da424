"""The kernels of the BE-Tree; compiled where numba can be imported."""

from wherecast.matching.trees.betree.kernels.insertion import insert, put, settle
from wherecast.matching.trees.betree.kernels.matching import ALL, REST, find, find_all, note_loss
from wherecast.matching.trees.betree.kernels.nodes import add_p, halve_at, plant, score
from wherecast.matching.trees.betree.kernels.shrinking import cut, prune, remove

__all__ = [
    "ALL", "REST", "add_p", "cut", "find", "find_all", "halve_at", "insert", "note_loss", "plant",
    "prune", "put", "remove", "score", "settle",
]  # fmt: skip
