"""The columns of a batch as cells, through the kernel."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.cells import Cells, Quantisers
from wherecast.matching.columnar.layout import CellPointers
from wherecast.matching.columnar.slots import Column


class Encoder:
    """The columns of one batch and the quantisers of their slots."""

    def __init__(
        self, columns: Sequence[Column], quantisers: Quantisers, is_float: npt.NDArray[np.uint8]
    ) -> None:
        self._columns = columns  # keeps the values alive
        self.values = np.array([column.values.ctypes.data for column in columns], np.int64)
        bits = [column.bits.ctypes.data if len(column.bits) else 0 for column in columns]
        self._held = (
            self.values, np.array(bits, np.int64),
            np.array([column.first for column in columns], np.int64), is_float, quantisers.exact,
            quantisers.bounds, quantisers.bound_ends, quantisers.tables, quantisers.table_ends,
            quantisers.origins, quantisers.scales,
        )  # fmt: skip
        assert len(self._held) == len(CellPointers)
        self._pointers = np.array([array.ctypes.data for array in self._held], np.int64)

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
