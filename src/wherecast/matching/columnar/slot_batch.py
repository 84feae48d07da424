"""The columns of a batch by slot; derived ones that only programs ask for are computed then."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.formula_columns import derived_vector
from wherecast.language.meaning.keys import float_keys
from wherecast.language.table.predicate_table import PredicateTable
from wherecast.matching.columnar.element_columns import ElementColumn, Probes
from wherecast.matching.columnar.slots import BatchColumns, SlotColumn, absent, columns_of, keys_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


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
        self._elements: dict[int, ElementColumn] = {}

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
        return keys_of(column.values), column.present()

    def elements(self, slot: int) -> ElementColumn:
        """The elements of a slot that stands for those of an array."""
        found = self._elements.get(slot)
        if found is None:
            array = self._arrays.find(self._table.attributes[slot])
            found = ElementColumn.of(array, self.rows, self._table.strings)
            self._elements[slot] = found
        return found

    def probes(self, slots: Sequence[int]) -> Probes:
        """What is searched for, where conjunctions ask for the elements of some slots."""
        return Probes.of(self.columns, {slot: self.elements(slot) for slot in slots})

    def take(self, rows: Ints) -> "SlotBatch":
        """Some of the publications."""
        columns = [column.take(rows) for column in self.columns]
        return SlotBatch(self._batch.take(pa.array(rows)), self._table, columns)
