"""Predicates in key space, which decide exactly where the cells of a box do not."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Predicates:
    """The predicates of all conjunctions in key space.

    Attributes:
        offsets: int64 [conjunctions + 1].
        slots, kinds, lows, highs: int32, uint8, int64, int64 [predicates].
        keys: int64, the sorted keys of the sets.
        least, most: int64 [slots], the ends of each slot's keys.
    """

    offsets: Ints
    slots: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.uint8]
    lows: Ints
    highs: Ints
    keys: Ints
    least: Ints
    most: Ints
