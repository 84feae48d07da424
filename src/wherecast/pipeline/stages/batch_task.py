"""What a runner does with one record batch: the stages, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from wherecast.pipeline.filters.loaded_filters import LoadedFilters
from wherecast.pipeline.stages.batch_stages import match, validate
from wherecast.pipeline.stages.pace import paced
from wherecast.pipeline.stages.result_columns import JoinPlan, join


class Task(Protocol):
    """A picklable function from one batch to the batches of its result."""

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The result of one batch."""


class FilterSource(Protocol):
    """Filters, or where this process finds them; picklable where a task is to travel."""

    def load(self) -> LoadedFilters:
        """The filters, ready to be matched; asked once per batch."""


@dataclass(frozen=True, slots=True)
class JoinTask:
    """Validate, match and join.

    Attributes:
        filters: what publications are matched against.
        plan: what the result looks like.
        names: the names of the columns of the result.
        carried: whether the columns of the publications are in the result.
    """

    filters: FilterSource
    plan: JoinPlan
    names: tuple[str, ...]
    carried: bool = True

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The publications with the filters they match."""
        filters = self.filters.load()
        for rows in paced(batch, filters.pace):
            valid = validate(rows, filters.schema, filters.enforced)
            matches = match(valid, filters.parts)
            filters.pace.note(rows.num_rows, len(matches.indices))
            carried = rows if self.carried else rows.select([])
            for arrays in join(carried, valid, matches, filters, self.plan):
                yield pa.RecordBatch.from_arrays(arrays, schema=self._schema(carried, arrays))

    def _schema(self, carried: pa.RecordBatch, arrays: list[pa.Array]) -> pa.Schema:
        types = [array.type for array in arrays]
        fields = [pa.field(*pair) for pair in zip(self.names, types, strict=True)]
        for place, own in enumerate(carried.schema):
            fields[place] = own.with_name(self.names[place])
        return pa.schema(fields)


PAIRS = pa.schema([("row", pa.int64()), ("place", pa.int64())])
ROW = "\0row"  # no attribute has this name


@dataclass(frozen=True, slots=True)
class PairTask:
    """Match rows that are valid already; gives pairs of numbers, sorted by both.

    Attributes:
        filters: what rows are matched against.
        columns: the attributes that they look at.
    """

    filters: FilterSource
    columns: pa.Schema

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The number of each row that matches, with the place of each of its filters.

        Args:
            batch: the numbers of the rows, then the attributes, under any names.
        """
        filters = self.filters.load()
        rows, *arrays = batch.columns
        named = [a.cast(f.type) for a, f in zip(arrays, self.columns, strict=True)]
        fields = [*self.columns, pa.field(ROW, pa.int64())]
        attributes = pa.RecordBatch.from_arrays([*named, rows], schema=pa.schema(fields))
        for step in paced(attributes, filters.pace):
            matches = match(validate(step, filters.schema), filters.parts)
            filters.pace.note(step.num_rows, len(matches.indices))
            numbers = np.repeat(step.column(ROW).to_numpy(), matches.counts)
            places = matches.indices[np.lexsort((matches.indices, numbers))].astype(np.int64)
            yield pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(places)], schema=PAIRS)
