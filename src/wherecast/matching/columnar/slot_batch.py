"""The columns of a batch by slot; derived ones that only programs ask for are computed then."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.formula_columns import derived_vector
from wherecast.language.meaning.keys import float_keys
from wherecast.language.table.predicate_table import PredicateTable
from wherecast.matching.columnar.slots import BatchColumns, SlotColumn, absent, columns_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def keys_of(column: SlotColumn) -> Ints:
    """The keys of a column, int64 [rows]."""
    if column.values.dtype == np.float64:
        return float_keys(column.values)  # type: ignore[arg-type]
    return column.values  # type: ignore[return-value]


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
        self._arrays = BatchColumns(batch)
        self._lazy: dict[int, SlotColumn] = {}
        self._keys: dict[int, tuple[Ints, Bools]] = {}

    def column(self, slot: int) -> SlotColumn:
        """The column of any slot."""
        if slot < self._table.eager:
            return self.columns[slot]
        if slot not in self._lazy:
            wanted, strings = (self._table.attributes[slot],), self._table.strings
            [self._lazy[slot]] = columns_of(self._batch, wanted, strings, self._arrays)
        return self._lazy[slot]

    def keys(self, slot: int) -> tuple[Ints, Bools]:
        """The keys of any slot, and which of them are there, each [rows]."""
        found = self._keys.get(slot)
        if found is None:
            found = self._keys[slot] = self._keys_of(slot)
        return found

    def _keys_of(self, slot: int) -> tuple[Ints, Bools]:
        attribute = self._table.attributes[slot]
        if slot >= self._table.eager and isinstance(attribute, Derived):
            values, there = derived_vector(attribute, self._arrays.inputs)
            if values.dtype == np.float64:
                return float_keys(values), there
            if values.dtype != object:
                return values.astype(np.int64), there
        column = self.column(slot)
        return keys_of(column), column.present()

    def take(self, rows: Ints) -> "SlotBatch":
        """Some of the publications."""
        columns = [column.take(rows) for column in self.columns]
        return SlotBatch(self._batch.take(pa.array(rows)), self._table, columns)
