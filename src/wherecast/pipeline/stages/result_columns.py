"""Publications with the filters they match: the columns of both, in one of several shapes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.matching import Matches
from wherecast.pipeline.filters.loaded_filters import LoadedFilters
from wherecast.pipeline.stages.batch_stages import Validated

How = Literal["inner", "left", "semi", "anti"]
Output = Literal["rows", "arrays"]
Shape = Literal["rows", "arrays", "structs", "flags"]

_Numbers = npt.NDArray[np.int64]
_Places = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """The size of one batch of the result.

    Attributes:
        rows_max: number of rows, where a row is a match.
        matches_max: number of matches, where a row is a publication.
        bytes_max: size of the publications' columns, about.
    """

    rows_max: int = 65_536
    matches_max: int = 1 << 20
    bytes_max: int = 64 << 20


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """Which publications the result has, and which columns it adds to theirs.

    The added columns are the ids, the kept columns and the error, in this order.

    Attributes:
        how: as in SQL: matches, or publications without one too, with one, or without one.
        shape: a row per match; or a row per publication, with an array per added column, with one
            array of structs of all of them, or with whether it matched at all.
        ids: whether the ids of the filters are added.
        kept: the columns of the filters that are added.
        errors: whether a column is added that says why a publication was refused; `inner` and
            `semi` then have the refused ones too.
        limits: bound each batch of the result.
    """

    how: How = "inner"
    shape: Shape = "rows"
    ids: bool = True
    kept: tuple[str, ...] = ()
    errors: bool = False
    limits: ResultLimits = ResultLimits()


def join(
    batch: pa.RecordBatch,
    valid: Validated,
    matches: Matches,
    filters: LoadedFilters,
    plan: JoinPlan,
) -> Iterator[list[pa.Array]]:
    """The columns of the result, in pieces of a bounded size, in the order of the publications.

    Args:
        batch: the publications, with the columns that the result is to have.
        valid: the same after the stage validate.
        matches: of the good rows, with the places of the filters as numbers.
        filters: what the matches refer to.
        plan: what the result looks like.
    """
    counts = matches.counts
    if len(valid.rows) < batch.num_rows:
        counts = np.zeros(batch.num_rows, np.int64)
        counts[valid.rows] = matches.counts
    rows = _chosen(counts, valid, plan)
    added = [filters.ids] if plan.ids else []
    added += [filters.kept.column(name) for name in plan.kept]
    carried = batch.columns
    if plan.errors:
        carried = [*carried, _reasons(valid, batch.num_rows)]
    by = _by_match if plan.shape == "rows" and plan.ids else _by_publication
    for chosen, columns in by(rows, counts, matches.indices, added, _narrowed(plan.limits, batch)):
        if plan.shape == "structs":
            columns = [_zipped(columns, ("filter_id", *plan.kept))]
        elif plan.shape == "flags":
            columns = [array_of(counts[chosen] > 0)]
        taken = [_taken(column, chosen) for column in carried]
        yield [*taken[: batch.num_columns], *columns, *taken[batch.num_columns :]]


def _chosen(counts: _Numbers, valid: Validated, plan: JoinPlan) -> _Numbers:
    """The publications that are in the result."""
    if plan.how == "left":
        return np.arange(len(counts))
    chosen = counts == 0 if plan.how == "anti" else counts > 0
    if plan.errors:
        chosen[[letter.row for letter in valid.dead_letters]] = True
    return np.flatnonzero(chosen)


def _reasons(valid: Validated, length: int) -> pa.Array:
    """Why each publication was refused; null where it was not."""
    if not valid.dead_letters:
        return pa.nulls(length, pa.string())
    reasons = {letter.row: letter.reason for letter in valid.dead_letters}
    return pa.array([reasons.get(row) for row in range(length)], pa.string())


def _narrowed(limits: ResultLimits, batch: pa.RecordBatch) -> ResultLimits:
    """The limits with fewer rows where rows are wide, so that they do not fill the memory."""
    width = batch.nbytes // max(1, batch.num_rows)
    fitting = limits.bytes_max // max(1, width)
    return replace(limits, rows_max=int(max(1, min(limits.rows_max, fitting))))


_Piece = tuple[_Numbers, list[pa.Array]]


def _taken(column: pa.Array, rows: _Numbers) -> pa.Array:
    """Some rows of a column; of neighbours no copy is made."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all():
        return column.slice(int(rows[0]), len(rows))
    return column.take(array_of(rows))


def _by_match(
    rows: _Numbers, counts: _Numbers, places: _Places, added: list[pa.Array], limits: ResultLimits
) -> Iterator[_Piece]:
    """A row per match, and one with nulls for a publication without any."""
    repeated = np.repeat(rows, np.maximum(counts[rows], 1))
    absent = counts[repeated] == 0
    found = np.zeros(len(repeated), np.int32)
    found[~absent] = places
    for start in range(0, len(repeated), limits.rows_max):
        part = slice(start, start + limits.rows_max)
        taken = pa.array(found[part], mask=absent[part])
        yield repeated[part], [column.take(taken) for column in added]


def _by_publication(
    rows: _Numbers, counts: _Numbers, places: _Places, added: list[pa.Array], limits: ResultLimits
) -> Iterator[_Piece]:
    """A row per publication, with an array per added column."""
    offsets = np.concatenate([[0], np.cumsum(counts[rows])])
    start = 0
    while start < len(rows):
        full = int(np.searchsorted(offsets, offsets[start] + limits.matches_max, side="right")) - 1
        stop = min(max(start + 1, full), start + limits.rows_max, len(rows))
        bounds = array_of((offsets[start : stop + 1] - offsets[start]).astype(np.int32))
        found = places[offsets[start] : offsets[stop]]
        columns = [pa.ListArray.from_arrays(bounds, _gathered(c, found)) for c in added]
        yield rows[start:stop], columns
        start = stop


def _gathered(column: pa.Array, places: _Places) -> pa.Array:
    """The values at some places; plain numbers without nulls by NumPy, which is faster."""
    if pa.types.is_integer(column.type) and not column.null_count:
        return array_of(values_of(column)[places])
    return column.take(array_of(places))


def _zipped(lists: list[pa.Array], names: tuple[str, ...]) -> pa.Array:
    """Lists of one length per row as lists of structs."""
    values = pa.StructArray.from_arrays([column.values for column in lists], names)
    return pa.ListArray.from_arrays(lists[0].offsets, values)
