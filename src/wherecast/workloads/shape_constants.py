"""The constants of the filters of a chunk, drawn by shape and set into the texts."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from wherecast.workloads.mixed_leaves import PredicateForm
from wherecast.workloads.mixed_shapes import MixedShape


class ShapeConstants:
    """The places of all constants in a chunk in which filters take the shapes in turn.

    Args:
        shapes: the shapes of the filters of a chunk, one after the other.
        key: predicates with equal keys get their constants in one draw.
    """

    def __init__(
        self, shapes: Sequence[MixedShape], key: Callable[[PredicateForm], Hashable]
    ) -> None:
        counts = [sum(leaf.slots for leaf in shape.leaves) for shape in shapes]
        self._texts = [shape.text for shape in shapes]
        self._ends: list[int] = [0, *np.cumsum(counts).tolist()]
        self._uses = _uses(shapes, key)

    def texts(self, rng: np.random.Generator) -> pa.StringArray:
        """The texts of a chunk, with new constants."""
        constants = np.empty(self._ends[-1], object)
        for leaf, places in self._uses:  # one draw per key instead of one per filter
            drawn = leaf.draw(rng, len(places))
            for slot in range(leaf.slots):
                constants[places + slot] = drawn[:, slot]
        filled = constants.tolist()
        ends = zip(self._texts, self._ends[:-1], self._ends[1:], strict=True)
        return pa.array([text % tuple(filled[start:end]) for text, start, end in ends], pa.string())


def _uses(
    shapes: Sequence[MixedShape], key: Callable[[PredicateForm], Hashable]
) -> list[tuple[PredicateForm, NDArray[np.int64]]]:
    """A predicate of each key, with the positions of the first constants of all that have it."""
    uses: dict[Hashable, tuple[PredicateForm, list[int]]] = {}
    place = 0
    for shape in shapes:
        for leaf in shape.leaves:
            uses.setdefault(key(leaf), (leaf, []))[1].append(place)
            place += leaf.slots
    return [(leaf, np.array(places)) for leaf, places in uses.values() if leaf.slots]
