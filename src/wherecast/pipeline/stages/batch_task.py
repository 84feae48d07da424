"""What a runner does with one record batch: the stages, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.columns.now_column import with_now
from wherecast.language.meaning.formula import NOW
from wherecast.pipeline.filters.loaded_filters import LoadedFilters
from wherecast.pipeline.stages.batch_stages import Validated, match, validate
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
        now: the value of `now()`, in microseconds since 1970. A column `NOW_COLUMN` of a batch
            has the value of each row instead, and is never in the result.
    """

    filters: FilterSource
    plan: JoinPlan
    names: tuple[str, ...]
    carried: bool = True
    now: int | None = None

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The publications with the filters they match."""
        filters = self.filters.load()
        for rows in paced(batch, filters.pace):
            rows, times = _apart(rows, self.now)
            valid = validate(rows, filters.schema, filters.enforced)
            matches = match(_timed(valid, times), filters.parts)
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


def _apart(batch: pa.RecordBatch, now: int | None) -> tuple[pa.RecordBatch, pa.Array | int | None]:
    """The rows without their column of times, and their times."""
    if NOW_COLUMN not in batch.schema.names:
        return batch, now
    times = batch.column(NOW_COLUMN).cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    return batch.drop_columns([NOW_COLUMN]), times


def _timed(valid: Validated, times: pa.Array | int | None) -> Validated:
    """The good rows with the time that `now()` gives."""
    if times is None:
        return valid
    if isinstance(times, pa.Array):
        times = times.take(array_of(valid.rows))
    return replace(valid, batch=with_now(valid.batch, times))


PAIRS = pa.schema([("row", pa.int64()), ("place", pa.int64())])
NOW_COLUMN = NOW.name
ROW = "\0row"  # no attribute has this name


@dataclass(frozen=True, slots=True)
class PairTask:
    """Match rows that are valid already; gives pairs of numbers, sorted by both.

    Attributes:
        filters: what rows are matched against.
        columns: the attributes that they look at.
        now: the value of `now()`, in microseconds since 1970.
    """

    filters: FilterSource
    columns: pa.Schema
    now: int | None = None

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
            matches = match(_timed(validate(step, filters.schema), self.now), filters.parts)
            filters.pace.note(step.num_rows, len(matches.indices))
            numbers = np.repeat(step.column(ROW).to_numpy(), matches.counts)
            places = matches.indices[np.lexsort((matches.indices, numbers))].astype(np.int64)
            yield pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(places)], schema=PAIRS)
