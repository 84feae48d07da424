"""What a reader gives: the good rows as a record batch, and why the others are not among them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.columns.arrow_schema import arrow_schema, open_field
from wherecast.model.errors import Problem
from wherecast.model.schema import Schema

Placed = tuple[int, Problem]
"""A problem and the row, counted from 0, that has it."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """One problem of one row; a row with several problems has several rejections.

    Attributes:
        row: the number of the row in the input, from 0.
        code: a stable word for programs.
        message: a sentence that names the attribute.
        attribute: the attribute it is about, if it is about one.
        key: the part of a publication object beside its attributes that it is about, if any.
    """

    row: int
    code: str
    message: str
    attribute: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """The rows of one input.

    Attributes:
        batch: the good rows, with the columns of `arrow_schema`.
        rows: the number in the input of each good row; int64, shape (batch.num_rows,).
        rejected: every problem of every other row, sorted by row.
    """

    batch: pa.RecordBatch
    rows: npt.NDArray[np.int64]
    rejected: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True)
class DecodedColumn:
    """One attribute of all rows; a row with a problem has null here."""

    array: pa.Array
    problems: tuple[Placed, ...] = ()


def assemble(
    schema: Schema,
    declared: Sequence[DecodedColumn],
    undeclared: Mapping[str, DecodedColumn],
    length: int,
    problems: Iterable[Placed] = (),
) -> Decoded:
    """The decoded rows of converted columns.

    Args:
        schema: the schema of the batch.
        declared: a column per attribute of the schema, in its order.
        undeclared: the further columns of an open schema, by name.
        length: how many rows the input has.
        problems: what is wrong with rows as a whole.
    """
    placed = [*problems]
    for column in (*declared, *undeclared.values()):
        placed.extend(column.problems)
    good = np.ones(length, dtype=np.bool_)
    good[[row for row, _ in placed]] = False
    batch = _batch(schema, declared, undeclared, good)
    rejected = sorted(
        (Rejection(row, p.code, p.message, p.attribute) for row, p in placed),
        key=lambda rejection: rejection.row,
    )
    return Decoded(batch, np.flatnonzero(good).astype(np.int64), tuple(rejected))


def _batch(
    schema: Schema,
    declared: Sequence[DecodedColumn],
    undeclared: Mapping[str, DecodedColumn],
    good: npt.NDArray[np.bool_],
) -> pa.RecordBatch:
    """The good rows; undeclared columns without a value in any of them are left out."""
    mask = None if good.all() else pa.array(good)
    fields = list(arrow_schema(schema))
    arrays = [_kept(column.array, mask) for column in declared]
    for name in sorted(undeclared):
        array = _kept(undeclared[name].array, mask)
        if array.null_count < len(array):
            fields.append(open_field(name))
            arrays.append(array)
    if not arrays:  # an open schema that declares nothing: only the number of rows is known
        rows = pa.nulls(int(good.sum()), pa.struct([]))
        return pa.RecordBatch.from_struct_array(rows.fill_null({}))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _kept(array: pa.Array, mask: pa.Array | None) -> pa.Array:
    return array if mask is None else array.filter(mask)
