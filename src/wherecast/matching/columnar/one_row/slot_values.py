"""The values of one publication by slot."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import ArrayState
from wherecast.matching.columnar.slots import keys_of

ELEMENTS_MAX = 256
"""Elements of arrays of a publication, more of which are left to the batch."""


class SlotValues:
    """The values of one publication by slot.

    Attributes:
        doubles, ints: the values, the same memory; a string is its key.
        there: whether each value is there.
        texts: the strings by slot; those of earlier publications may be left.
        element_count: number of elements of arrays.
    """

    def __init__(self, width: int) -> None:
        self._values, self._there = np.zeros(width, np.int64), np.zeros(width, np.uint8)
        self.ints: Any = memoryview(self._values)  # type: ignore[arg-type]
        self.doubles: Any = memoryview(self._values.view(np.float64))  # type: ignore[arg-type]
        self.there: Any = memoryview(self._there)  # type: ignore[arg-type]
        self._nothing = bytes(width)
        self.texts: dict[int, str] = {}
        self.element_count = 0
        self._elements = np.zeros(ELEMENTS_MAX, np.int64)
        self._element_keys = np.zeros(ELEMENTS_MAX, np.int64)
        self._element_slots = np.zeros(ELEMENTS_MAX, np.int32)
        self._element_starts = np.zeros((width, 2), np.int64)
        self._element_states = np.zeros(width, np.uint8)
        self._has_arrays = False

    def clear(self) -> None:
        """Forgets the values of the publication before."""
        self.there[:] = self._nothing
        if self._has_arrays:
            self._has_arrays, self.element_count = False, 0
            self._element_states[:] = ArrayState.MISSING

    def put_elements(self, slot: int, values: Sequence[Any], has_null: bool) -> None:
        """Puts the distinct elements of an array.

        Raises:
            OverflowError: there are too many.
        """
        start, end = self.element_count, self.element_count + len(values)
        if end > ELEMENTS_MAX:
            raise OverflowError(end)
        is_float = len(values) > 0 and type(values[0]) is float
        held: npt.NDArray[Any] = np.array(values, np.float64 if is_float else np.int64)
        self._elements[start:end] = held.view(np.int64)
        self._element_keys[start:end] = keys_of(held)
        self._element_slots[start:end] = slot
        self._element_starts[slot] = start, end
        self._element_states[slot] = ArrayState.WITH_NULL if has_null else ArrayState.THERE
        self.element_count, self._has_arrays = end, True

    def keys(self, is_float: npt.NDArray[np.uint8]) -> dict[int, int]:
        """The keys of the values that are there, by slot."""
        slots = np.flatnonzero(self._there)
        values = self._values[slots]
        keys = np.where(is_float[slots] > 0, keys_of(values.view(np.float64)), values)
        return dict(zip(slots.tolist(), keys.tolist(), strict=True))

    def probes(self) -> Iterator[tuple[int, int] | None]:
        """What is searched for: the slot and the key of each element; None where there is none."""
        if not self.element_count:
            yield None
        for place in range(self.element_count):
            yield int(self._element_slots[place]), int(self._element_keys[place])
