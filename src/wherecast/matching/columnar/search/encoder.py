"""The columns of a batch as cells, computed by the kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.cells import Cells, Quantisers
from wherecast.matching.columnar.layout import CellPointers
from wherecast.matching.columnar.slots import SlotColumn


def address(array: npt.NDArray[Any]) -> int:
    """Where the values of an array lie; `ctypes.data` is the same, but slower."""
    found: int = array.__array_interface__["data"][0]
    return found


def addresses(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
    """Where the values of several arrays lie. The caller must hold the arrays."""
    return np.array([address(array) for array in arrays], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """How the columns of any batch become cells.

    Attributes:
        held: the arrays that `pointers` point to, held so that they stay in memory.
        pointers: int64, the addresses that the kernel takes, but for those of a batch.
    """

    held: tuple[npt.NDArray[Any], ...]
    pointers: npt.NDArray[np.int64]

    @staticmethod
    def of(quantisers: Quantisers, is_float: npt.NDArray[np.uint8]) -> "Encoding":
        """The encoding of slots."""
        of_batch = np.zeros(0, np.int64)
        held = (
            of_batch, of_batch, of_batch, is_float, quantisers.exact, quantisers.bounds,
            quantisers.bound_ends, quantisers.tables, quantisers.table_ends, quantisers.origins,
            quantisers.scales,
        )  # fmt: skip
        assert len(held) == len(CellPointers)
        return Encoding(held, addresses(held))


class Encoder:
    """The columns of one batch as cells."""

    def __init__(self, columns: Sequence[SlotColumn], encoding: Encoding) -> None:
        self._columns = columns  # keeps the values alive
        self.values = addresses([column.values for column in columns])
        bits = [address(column.bits) if len(column.bits) else 0 for column in columns]
        self._bits = np.array(bits, np.int64)
        self._firsts = np.array([column.first for column in columns], np.int64)
        self._encoding = encoding
        self._pointers = encoding.pointers.copy()
        self._pointers[: CellPointers.FLOATS] = addresses((self.values, self._bits, self._firsts))

    def cells(
        self, begin: int = 0, count: int | None = None
    ) -> tuple[Cells, npt.NDArray[np.uint64]]:
        """The cells of some rows, [rows, slots], and for each slot a bit per row that has one."""
        from wherecast.matching.columnar import kernels

        rows = len(self._columns[0].values) - begin if count is None else count
        cells = np.zeros((rows, len(self._columns)), np.uint16)
        there = np.empty((len(self._columns), (rows + 63) // 64), np.uint64)
        kernels.encode(begin, rows, self._pointers, cells, there)
        return cells, there
