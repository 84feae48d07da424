"""The columns of a batch by slot; derived ones that only programs ask for are computed then."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language.table.predicate_table import PredicateTable
from wherecast.matching.columnar.slots import SlotColumn, absent, columns_of

Ints = npt.NDArray[np.int64]


class SlotBatch:
    """A batch of publications as the filters of a table see it.

    Attributes:
        rows: number of publications.
        columns: the columns of the eager slots; at least one, so that a row has a cell.
    """

    def __init__(
        self,
        batch: pa.RecordBatch,
        table: PredicateTable,
        columns: Sequence[SlotColumn] | None = None,
    ) -> None:
        self._batch, self._table = batch, table
        self.rows = batch.num_rows
        eager = table.attributes[: table.eager]
        self.columns = list(
            columns or columns_of(batch, eager, table.strings) or [absent(self.rows)]
        )
        self._lazy: dict[int, SlotColumn] = {}

    def column(self, slot: int) -> SlotColumn:
        """The column of any slot."""
        if slot < self._table.eager:
            return self.columns[slot]
        if slot not in self._lazy:
            wanted = (self._table.attributes[slot],)
            [self._lazy[slot]] = columns_of(self._batch, wanted, self._table.strings)
        return self._lazy[slot]

    def take(self, rows: Ints) -> "SlotBatch":
        """Some of the publications."""
        columns = [column.take(rows) for column in self.columns]
        return SlotBatch(self._batch.take(pa.array(rows)), self._table, columns)
