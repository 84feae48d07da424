"""Publications with the filters they match: the columns of both, as rows or as arrays."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.matching import Matches
from wherecast.pipeline.filters import CompiledFilters
from wherecast.pipeline.stages import Validated

How = Literal["inner", "left", "semi", "anti"]
Output = Literal["rows", "arrays"]
HOWS: tuple[How, ...] = ("inner", "left", "semi", "anti")
OUTPUTS: tuple[Output, ...] = ("rows", "arrays")

_ROWS_MAX = 65_536  # of one batch of the result
_BYTES_MAX = 64 * 1024 * 1024  # of the publications' columns in one batch of the result, about
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """Which publications the result has, and which columns it adds to theirs.

    The added columns are the ids, the kept columns and the error, in this order.

    Attributes:
        how: as in SQL: matches, or publications without one too, with one, or without one.
        output: a row per match, or a row per publication with arrays.
        ids: whether the ids of the filters are added.
        kept: the columns of the filters that are added.
        errors: whether a column is added that says why a publication was refused.
        refused: whether refused publications, which match nothing, are in the result.
    """

    how: How = "inner"
    output: Output = "rows"
    ids: bool = True
    kept: tuple[str, ...] = ()
    errors: bool = False
    refused: bool = False


def join(
    batch: pa.RecordBatch,
    valid: Validated,
    matches: Matches,
    filters: CompiledFilters,
    plan: JoinPlan,
) -> Iterator[list[pa.Array]]:
    """The columns of the result, in pieces of a bounded size, in the order of the publications.

    Args:
        batch: the publications, with all their columns.
        valid: the same after the stage validate.
        matches: of the good rows, with the places of the filters as ids.
        filters: what the matches refer to.
        plan: what the result looks like.
    """
    counts = np.zeros(batch.num_rows, np.int64)
    counts[valid.rows] = matches.counts
    refused = np.ones(batch.num_rows, np.bool_)
    refused[valid.rows] = False
    rows = np.flatnonzero(_chosen(counts, refused, plan))
    places = np.asarray(matches.ids, np.int64)[matches.indices]
    reasons = _reasons(valid, batch.num_rows) if plan.errors else None
    added = [filters.ids] if plan.ids else []
    added += [filters.kept.column(name) for name in plan.kept]
    shape = _by_match if plan.output == "rows" and plan.ids else _by_publication
    for chosen, columns in shape(rows, counts, places, added, _rows_max(batch)):
        carried = [column.take(chosen) for column in batch.columns]
        yield [*carried, *columns, *([] if reasons is None else [reasons.take(chosen)])]


def _chosen(
    counts: _Numbers, refused: npt.NDArray[np.bool_], plan: JoinPlan
) -> npt.NDArray[np.bool_]:
    """Which publications are in the result; shape (publications,)."""
    if plan.how in ("inner", "semi"):
        chosen = counts > 0
    elif plan.how == "anti":
        chosen = counts == 0
    else:
        chosen = np.ones(len(counts), np.bool_)
    return chosen | refused if plan.refused else chosen & ~refused


def _reasons(valid: Validated, length: int) -> pa.Array:
    """Why each publication was refused; null where it was not."""
    reasons = {letter.row: letter.reason for letter in valid.dead_letters}
    return pa.array([reasons.get(row) for row in range(length)], pa.string())


def _rows_max(batch: pa.RecordBatch) -> int:
    """How many rows a piece may have, so that wide rows do not fill the memory."""
    width = batch.nbytes // max(1, batch.num_rows)
    return int(max(1, min(_ROWS_MAX, _BYTES_MAX // max(1, width))))


_Piece = tuple[pa.Array, list[pa.Array]]


def _by_match(
    rows: _Numbers, counts: _Numbers, places: _Numbers, added: list[pa.Array], most: int
) -> Iterator[_Piece]:
    """A row per match, and one with nulls for a publication without any."""
    repeated = np.repeat(rows, np.maximum(counts[rows], 1))
    absent = counts[repeated] == 0
    found = np.zeros(len(repeated), np.int64)
    found[~absent] = places
    for start in range(0, len(repeated), most):
        part = slice(start, start + most)
        taken = pa.array(found[part], mask=absent[part])
        yield pa.array(repeated[part]), [column.take(taken) for column in added]


def _by_publication(
    rows: _Numbers, counts: _Numbers, places: _Numbers, added: list[pa.Array], most: int
) -> Iterator[_Piece]:
    """A row per publication, with an array per added column."""
    offsets = np.concatenate([[0], np.cumsum(counts[rows])])
    start = 0
    while start < len(rows):
        full = int(np.searchsorted(offsets, offsets[start] + _ROWS_MAX, side="right")) - 1
        stop = min(max(start + 1, full), start + most, len(rows))
        bounds = pa.array(offsets[start : stop + 1] - offsets[start], pa.int32())
        found = pa.array(places[offsets[start] : offsets[stop]])
        columns = [pa.ListArray.from_arrays(bounds, column.take(found)) for column in added]
        yield pa.array(rows[start:stop]), columns
        start = stop
