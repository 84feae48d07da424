"""The result of a reader: the good rows as a record batch, and the problems of the bad rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.columns.arrow_schema import arrow_schema, open_field
from wherecast.model.errors import Problem
from wherecast.model.schema import Schema

RowProblem = tuple[int, Problem]
"""A problem and the row, counted from 0, that has it."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One problem of one row; a row with several problems has several rejections.

    Attributes:
        row: the number of the row in the input, from 0.
        code: a stable word for programs.
        message: a sentence that names the attribute.
        attribute: the attribute with the problem, if the problem concerns one.
        key: the key of the publication object with the problem, if it is not an attribute.
        element: the place of the wrong element of an array, from 0.
    """

    row: int
    code: str
    message: str
    attribute: str | None = None
    key: str | None = None
    element: int | None = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The rows of one input.

    Attributes:
        batch: the good rows, with the columns of `arrow_schema`.
        rows: the number of each good row in the input; int64, shape (batch.num_rows,).
        rejected: the problems of the bad rows, sorted by row.
    """

    batch: pa.RecordBatch
    rows: npt.NDArray[np.int64]
    rejected: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True)
class DecodedColumn:
    """The values of one attribute in all rows, null in each row with a problem."""

    array: pa.Array
    problems: tuple[RowProblem, ...] = ()


def assemble(
    schema: Schema,
    declared: Sequence[DecodedColumn],
    undeclared: Mapping[str, DecodedColumn],
    length: int,
    problems: Iterable[RowProblem] = (),
) -> Decoded:
    """The decoded rows, put together from their columns.

    Args:
        schema: the schema of the batch.
        declared: a column per attribute of the schema, in its order.
        undeclared: the further columns of an open schema, by name.
        length: the number of rows in the input.
        problems: the problems that concern whole rows.
    """
    row_problems = [*problems]
    for column in (*declared, *undeclared.values()):
        row_problems.extend(column.problems)
    good = np.ones(length, dtype=np.bool_)
    good[[row for row, _ in row_problems]] = False
    batch = _batch(schema, declared, undeclared, good)
    rejected = sorted(
        (
            Rejection(row, p.code, p.message, p.attribute, element=p.element)
            for row, p in row_problems
        ),
        key=lambda rejection: rejection.row,
    )
    return Decoded(batch, np.flatnonzero(good).astype(np.int64), tuple(rejected))


def _batch(
    schema: Schema,
    declared: Sequence[DecodedColumn],
    undeclared: Mapping[str, DecodedColumn],
    good: npt.NDArray[np.bool_],
) -> pa.RecordBatch:
    """The batch of the good rows, without undeclared columns that are null in all of them."""
    mask = None if good.all() else pa.array(good)
    fields = list(arrow_schema(schema))
    arrays = [_select(column.array, mask) for column in declared]
    for name in sorted(undeclared):
        array = _select(undeclared[name].array, mask)
        if array.null_count < len(array):
            fields.append(open_field(name))
            arrays.append(array)
    if not arrays:  # an open schema without attributes: a batch that has rows but no columns
        rows = pa.nulls(int(good.sum()), pa.struct([]))
        return pa.RecordBatch.from_struct_array(rows.fill_null({}))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _select(array: pa.Array, mask: pa.Array | None) -> pa.Array:
    return array if mask is None else array.filter(mask)
