"""The keys of a batch: a row for each publication, a column for each slot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import texts_of
from wherecast.language.meaning.keys import float_keys
from wherecast.matching.columnar.slots import SlotColumn, columns_of
from wherecast.matching.trees.key_slots import Slots
from wherecast.matching.trees.leaves import Leaves

_NO_STRINGS = texts_of([])
_CHUNK_KEYS = 1 << 20
_CHUNK_ROWS = 4_096


@dataclass(frozen=True, slots=True, eq=False)
class KeyBatch:
    """The keys of some publications.

    Attributes:
        keys: int64 [rows, slots], anything where a value is missing.
        there: uint8 [rows, slots], whether it is there.
        odd: uint8 [rows], whether a position is off the globe, where boxes do not hold.
    """

    keys: npt.NDArray[np.int64]
    there: npt.NDArray[np.uint8]
    odd: npt.NDArray[np.uint8]

    @property
    def any_odd(self) -> bool:
        """Whether one of them is."""
        return bool(self.odd.any())


class BatchKeys:
    """The columns of a batch, and their keys in chunks of rows."""

    def __init__(self, batch: pa.RecordBatch, slots: Slots, leaves: Leaves) -> None:
        self.columns: list[SlotColumn] = columns_of(batch, tuple(slots.attributes), _NO_STRINGS)
        self.rows = batch.num_rows
        self.chunk_rows = max(64, min(_CHUNK_ROWS, _CHUNK_KEYS // max(1, len(slots))))
        self._whole = [_keys(slots, slot, column) for slot, column in enumerate(self.columns)]
        self._there = [column.present() if len(column.bits) else None for column in self.columns]
        self._odd = _odd(self.columns, leaves, self.rows)

    def chunk(self, begin: int, end: int) -> KeyBatch:
        """The keys of some rows."""
        width = max(1, len(self.columns))
        keys = np.zeros((end - begin, width), np.int64)
        there = np.ones((end - begin, width), np.uint8)
        if not self.columns:
            there[:] = 0
        for slot, values in enumerate(self._whole):
            part = values[begin:end]
            keys[:, slot] = float_keys(part) if part.dtype == np.float64 else part
            present = self._there[slot]
            if present is not None:
                there[:, slot] = present[begin:end]
        return KeyBatch(keys, there, self._odd[begin:end])


def _keys(slots: Slots, slot: int, column: SlotColumn) -> npt.NDArray[Any]:
    """The keys of a column, but doubles as they are."""
    if column.texts is None or column.codes is None:
        return column.values
    keys = slots.value_keys(slot, column.texts.to_pylist())
    return keys[column.codes] if len(keys) else column.codes


def _odd(columns: Sequence[SlotColumn], leaves: Leaves, rows: int) -> npt.NDArray[np.uint8]:
    """Which rows have a position off the globe."""
    odd = np.zeros(rows, np.uint8)
    for slot, most in leaves.positions():
        with np.errstate(invalid="ignore"):
            place = np.abs(columns[slot].values.astype(np.float64))
            odd |= (place > most) & columns[slot].present()
    return odd
