"""Compiles tables of filters.

read:     a table of ids, filters and further columns → a `FilterReading`, on any machine
assemble: readings → one part, in the order of the ids, with its further columns
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of
from wherecast.language import PredicateTable, read_filters
from wherecast.language.table.table_join import joined
from wherecast.matching import IndexPart, join_parts
from wherecast.model import ConfigError, FilterError, Schema

OnBad = Literal["raise", "skip"]
_SHOWN_MAX = 3


@dataclass(frozen=True, slots=True)
class RejectedFilter:
    """A filter that cannot be used, and the reason.

    Attributes:
        id: the id of the filter, or None if it is missing.
        filter: the text of the filter, or None if it is missing.
        error: the reason, with a hint if there is one.
        position: the position of the error in the text, in characters from 0, if known.
    """

    id: Any
    filter: str | None
    error: str
    position: int | None


@dataclass(frozen=True, slots=True, eq=False)
class FilterReading:
    """The good and the bad filters of a table; picklable.

    Attributes:
        ids: the ids of the good filters, int64 or large_string.
        texts: the texts of the good filters, large_string.
        kept: the further columns of the good filters.
        table: the predicates of the good filters.
        rejected: the bad filters.
    """

    ids: pa.Array
    texts: pa.Array
    kept: pa.RecordBatch
    table: PredicateTable
    rejected: tuple[RejectedFilter, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FilterPart:
    """Filters in the order of their ids, with their texts and further columns.

    Attributes:
        part: the filters.
        texts: the original texts of the filters, large_string.
        kept: the further columns.
    """

    part: IndexPart
    texts: pa.Array
    kept: pa.RecordBatch


def read(table: pa.Table, schema: Schema) -> FilterReading:
    """Reads a table: its first column holds ids, its second filters, the others are kept."""
    table = table.combine_chunks()
    table, rejected = _readable(table)
    ids, texts = _one(table.column(0)), _one(table.column(1))
    whole = pc.and_(ids.is_valid(), texts.is_valid())
    rejected += [_without(*pair) for pair in _pairs(ids, texts, pc.invert(whole))]
    if not pc.all(whole, min_count=0).as_py():
        table = table.filter(whole)
        ids, texts = _one(table.column(0)), _one(table.column(1))
    found = read_filters(texts, schema)
    if found.rejected:
        errors = dict(found.rejected)
        good = np.ones(len(ids), np.bool_)
        good[list(errors)] = False
        pairs = _pairs(ids, texts, array_of(~good))
        rejected += [_bad(*pair, e) for pair, e in zip(pairs, errors.values(), strict=True)]
        found = joined([(found, good)], schema)
        table = table.filter(array_of(good))
        ids, texts = _one(table.column(0)), _one(table.column(1))
    kept = table.select(range(2, table.num_columns))
    return FilterReading(
        stored_ids(ids),
        texts.cast(pa.large_string()),
        pa.RecordBatch.from_arrays([_one(c) for c in kept.columns], schema=kept.schema),
        found,
        tuple(rejected),
    )


def assemble(
    parts: Sequence[FilterReading], schema: Schema, on_bad: OnBad
) -> tuple[FilterPart, list[RejectedFilter]]:
    """One part with all good filters and, with `on_bad="skip"`, the rejected filters.

    Raises:
        FilterError: with `on_bad="raise"`, the first three bad filters and their count.
        ConfigError: an id occurs twice.
    """
    rejected = [bad for part in parts for bad in part.rejected]
    rejected.sort(key=lambda bad: (bad.id is None, bad.id))
    ids = pa.concat_arrays([part.ids for part in parts])
    bad = [bad.id for bad in rejected if bad.id is not None]
    refuse_duplicates(pa.concat_arrays([ids, pa.array(bad, ids.type)]))
    if rejected and on_bad == "raise":
        raise _bad_filters(rejected)
    one, places = join_parts([IndexPart.of(part.ids, part.table, schema) for part in parts])
    batches = [part.kept for part in parts]
    kept = pa.Table.from_batches(batches).combine_chunks() if batches[0].num_columns else None
    taken = array_of(places)
    texts = pa.concat_arrays([part.texts for part in parts]).take(taken)
    return FilterPart(
        one, texts, batches[0] if kept is None else _batch(kept.take(taken))
    ), rejected


def stored_ids(ids: pa.Array) -> pa.Array:
    """The ids in the types of parts: int64 or large_string."""
    if not pa.types.is_integer(ids.type):
        return ids.cast(pa.large_string())
    try:
        return ids.cast(pa.int64())
    except pa.ArrowInvalid:
        raise ConfigError("an id that is an integer has at most 64 bits") from None


def need_on_bad(on_bad: object) -> None:
    """Raises ConfigError unless the option is `raise` or `skip`."""
    if on_bad not in ("raise", "skip"):
        raise ConfigError(f"on_bad_filter is 'raise' or 'skip', not {on_bad!r}")


def refuse_duplicates(ids: pa.Array) -> None:
    """Raises ConfigError if an id occurs twice."""
    counts = ids.value_counts()
    several = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(several):
        first = several.slice(0, _SHOWN_MAX).to_pylist()
        shown = ", ".join(f"{each['values']!r} {each['counts']} times" for each in first)
        more = ", …" if len(several) > _SHOWN_MAX else ""
        noun = "id occurs" if len(several) == 1 else "ids occur"
        raise ConfigError(f"{len(several)} {noun} more than once: {shown}{more}")


def _pairs(ids: pa.Array, texts: pa.Array, chosen: pa.Array) -> list[tuple[Any, str | None]]:
    return list(zip(ids.filter(chosen).to_pylist(), texts.filter(chosen).to_pylist(), strict=True))


def _readable(table: pa.Table) -> tuple[pa.Table, list[RejectedFilter]]:
    """The rows whose ids and filters are UTF-8, and a rejection for each other row."""
    columns = [_one(table.column(place)) for place in (0, 1)]
    bad = np.zeros(table.num_rows, np.bool_)
    for column in columns:
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            raw = column.cast(pa.large_binary()).to_pylist()
            bad |= [value is not None and not _is_utf8(value) for value in raw]
    if not bad.any():
        return table, []
    rejected = []
    for row in np.flatnonzero(bad).tolist():
        id, text = (_shown(column[row]) for column in columns)
        rejected.append(RejectedFilter(id, text, "is not UTF-8 text", None))
    return table.filter(array_of(~bad)), rejected


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(value: pa.Scalar) -> Any:
    """The value for a message, with replacement characters in place of damaged text."""
    if pa.types.is_integer(value.type) or not value.is_valid:
        return value.as_py()
    return value.as_buffer().to_pybytes().decode(errors="replace")


def _without(id: Any, text: str | None) -> RejectedFilter:
    return RejectedFilter(id, text, f"the {'id' if id is None else 'filter'} is null", None)


def _bad(id: Any, text: str | None, error: FilterError) -> RejectedFilter:
    hint = "" if error.hint is None else f"; {error.hint}"
    return RejectedFilter(id, text, f"{error.message}{hint}", error.position)


def _bad_filters(rejected: list[RejectedFilter]) -> FilterError:
    """One error for all bad filters: the first few and the count; of one, with its place."""
    if len(rejected) == 1 and rejected[0].position is not None:
        [bad] = rejected
        error = FilterError(f"1 filter cannot be used: {bad.id!r}: {bad.error}", bad.position)
        error.text = bad.filter
        return error
    shown = "; ".join(f"{bad.id!r}: {_message(bad)}" for bad in rejected[:_SHOWN_MAX])
    more = len(rejected) - _SHOWN_MAX
    noun = "filter cannot" if len(rejected) == 1 else "filters cannot"
    rest = f"; and {more} more" if more > 0 else ""
    return FilterError(f"{len(rejected)} {noun} be used: {shown}{rest}")


def _message(bad: RejectedFilter) -> str:
    return bad.error if bad.position is None else f"{bad.error} (at position {bad.position})"


def _one(column: pa.ChunkedArray) -> pa.Array:
    """The column as one array, without a dictionary."""
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = array.chunk(0) if array.num_chunks else pa.nulls(0, column.type)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _batch(table: pa.Table) -> pa.RecordBatch:
    columns = [_one(column) for column in table.columns]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)
