"""What a runner does with one record batch: the stages, one after the other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from wherecast.pipeline.filters import CompiledFilters
from wherecast.pipeline.join import JoinPlan, join
from wherecast.pipeline.stages import Validated, match, notify, validate


class Task(Protocol):
    """A picklable function from one batch to the batches of its result."""

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The result of one batch."""


@dataclass(frozen=True, slots=True)
class JoinTask:
    """Validate, match and join.

    Attributes:
        filters: what publications are matched against.
        plan: what the result looks like.
        names: the names of all columns of the result.
    """

    filters: CompiledFilters
    plan: JoinPlan
    names: tuple[str, ...]

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The publications with the filters they match."""
        return self.join(batch, validate(batch, self.filters.schema))

    def join(self, batch: pa.RecordBatch, valid: Validated) -> Iterator[pa.RecordBatch]:
        """The same for a batch that was validated already."""
        matches = match(valid, self.filters.index())
        carried = list(batch.schema)
        for arrays in join(batch, valid, matches, self.filters, self.plan):
            fields = [
                pa.field(name, array.type) for name, array in zip(self.names, arrays, strict=True)
            ]
            fields[: len(carried)] = carried
            yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


@dataclass(frozen=True, slots=True)
class NotifyTask:
    """Validate, match and notify.

    Attributes:
        filters: of the subscriptions, with their kept columns `subscriber`, `subscription_id`.
        number: the column with the number of a publication.
    """

    filters: CompiledFilters
    number: str

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The notifications of a batch."""
        valid = validate(batch, self.filters.schema)
        matches = match(valid, self.filters.index())
        numbers = batch.column(self.number).to_numpy().astype(np.int64)
        yield notify(matches, numbers[valid.rows], self.filters.kept)


PAIRS = pa.schema([("row", pa.int64()), ("place", pa.int64())])
_ROW = "\0row"  # no attribute has this name


@dataclass(frozen=True, slots=True)
class PairTask:
    """Match rows that are valid already; gives pairs of numbers, sorted by both.

    Attributes:
        filters: what rows are matched against.
        columns: the attributes that they look at.
    """

    filters: CompiledFilters
    columns: pa.Schema

    def __call__(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The number of each row that matches, with the place of each of its filters.

        Args:
            batch: the numbers of the rows, then the attributes, under any names.
        """
        rows, *arrays = batch.columns
        named = [a.cast(f.type) for a, f in zip(arrays, self.columns, strict=True)]
        fields = [*self.columns, pa.field(_ROW, pa.int64())]
        attributes = pa.RecordBatch.from_arrays([*named, rows], schema=pa.schema(fields))
        matches = match(validate(attributes, self.filters.schema), self.filters.index())
        numbers = np.repeat(rows.to_numpy(), matches.counts)
        places = np.asarray(matches.ids, np.int64)[matches.indices]
        yield pa.RecordBatch.from_arrays([pa.array(numbers), pa.array(places)], schema=PAIRS)
