"""Inputs of a set of filters: DataFrames, or anything with the Arrow interface."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from wherecast.columns.sources import table_of
from wherecast.model import ConfigError, Schema
from wherecast.pipeline.filters.filter_table import FilterReading, read, stored_ids
from wherecast.pipeline.filters.stored_filters import StoredFilters
from wherecast.pipeline.spark import spark_runner
from wherecast.pipeline.spark.compile_filters import filter_columns, read_frame
from wherecast.pipeline.spark.frame_columns import arrow_schema_of

_NULLS = ("nullable", "containsNull", "valueContainsNull")  # keys in the JSON of Spark's types
# Spark has no unsigned integers. A value beyond the signed 64 bits makes the cast fail.
_SIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.int64(),
}


@dataclass(frozen=True, slots=True)
class FilterColumns:
    """The names of the columns of an input: ids, filters, and columns to keep."""

    id: str
    filter: str
    keep: tuple[str, ...]


def read_input(
    filters: Any, names: FilterColumns, schema: Schema, stored: StoredFilters | None
) -> tuple[list[StructField], list[FilterReading]]:
    """The columns for ids and kept values, and the filters of the input.

    Args:
        filters: a DataFrame, or anything with the Arrow interface.
        names: the names of its columns.
        schema: the schema of the filters.
        stored: the filters of the set; None before the first filter.

    Raises:
        ConfigError: a column is missing, or has another type than in the set.
    """
    known = None if stored is None else StructType.fromJson(json.loads(stored.columns)).fields
    if hasattr(filters, "mapInArrow"):
        ids, texts, *kept = filter_columns(filters, names.id, names.filter, names.keep)
        # A frame may spell its columns in another case; the set keeps its own spelling.
        own = (names.id, *names.keep) if known is None else [column.name for column in known]
        columns = _with_nulls([ids, *kept], own)
        _need_types(columns, known)
        parts = read_frame(filters, [ids, texts, *kept], schema)
        return columns, [_fit_columns(part, columns) for part in parts]
    table = _table(filters, names)
    columns = known or [_column(field) for place, field in enumerate(table.schema) if place != 1]
    ids, *kept = arrow_schema_of(columns)
    fields = [ids, pa.field("filter", pa.large_string()), *kept]
    arrays = [_cast(*pair) for pair in zip(table.columns, fields, strict=True)]
    return columns, [read(pa.table(arrays, schema=pa.schema(fields)), schema)]


def distinct_ids(ids: Any, name: str) -> pa.Array:
    """The distinct ids of an input, in the Arrow type of stored ids.

    Args:
        ids: a list, a DataFrame or an Arrow table.
        name: the column of the ids, if the input has several columns.

    Raises:
        ConfigError: a value is not an id, or no column has that name.
    """
    if hasattr(ids, "mapInArrow"):
        found = _from_frame(ids, name)
    elif hasattr(ids, "__arrow_c_stream__"):
        found = _from_arrow(ids, name)
    else:
        found = _from_list(ids)
    found = _plain(found)
    if pa.types.is_null(found.type) and not len(found):
        found = found.cast(pa.large_string())
    if found.null_count or not _is_id(found.type):
        problem = "one is null" if found.null_count else f"these are {found.type}"
        raise ConfigError(f"ids are strings or integers; {problem}")
    return stored_ids(found.combine_chunks()).unique()


def _from_frame(ids: Any, name: str) -> pa.ChunkedArray:
    """The ids of a DataFrame."""
    if ids.isStreaming:
        raise ConfigError("ids are a batch DataFrame, not a streaming one")
    place = _place_of_ids(ids.columns, name)
    plain = ids.toDF(*(f"c{number}" for number in range(len(ids.columns))))
    return spark_runner.to_arrow(plain.select(f"c{place}")).column(0)


def _from_arrow(ids: Any, name: str) -> pa.ChunkedArray:
    """The ids of a table or of a single column."""
    try:
        table = table_of(ids)
    except pa.ArrowInvalid:
        return pa.chunked_array(ids)
    return table.column(_place_of_ids(table.column_names, name))


def _place_of_ids(columns: Sequence[str], name: str) -> int:
    """The position of the column of the ids: by exact case, by any case, or the only column."""
    exact = [place for place, column in enumerate(columns) if column == name]
    folded = [place for place, column in enumerate(columns) if column.casefold() == name.casefold()]
    found = exact or folded or ([0] if len(columns) == 1 else [])
    if len(found) != 1:
        count = "no column" if not found else "more than one column"
        raise ConfigError(f"the ids have {count} {name}; their columns are {', '.join(columns)}")
    return found[0]


def _from_list(ids: Any) -> pa.ChunkedArray:
    if isinstance(ids, pa.Array):
        return pa.chunked_array([ids])
    if not isinstance(ids, Iterable) or isinstance(ids, str | bytes):
        raise ConfigError(f"ids are a list, a DataFrame or an Arrow table, not {ids!r}")
    try:
        return pa.chunked_array([pa.array(list(ids))])
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise ConfigError(f"ids are strings or integers of 64 bits, one type: {error}") from None


def _table(filters: Any, names: FilterColumns) -> pa.Table:
    """The columns of an Arrow input that the set needs: ids, filters, kept columns."""
    if not (hasattr(filters, "__arrow_c_stream__") or hasattr(filters, "__arrow_c_array__")):
        kind = type(filters).__name__
        raise ConfigError(f"filters are a DataFrame or an Arrow table, not {kind}")
    table = table_of(filters)
    wanted = [names.id, names.filter, *names.keep]
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        there = ", ".join(table.column_names)
        raise ConfigError(f"the filters have no column {', '.join(missing)}, only {there}")
    columns = [_plain(table.column(name)) for name in wanted]
    if not (_is_id(columns[0].type) or pa.types.is_null(columns[0].type)):
        raise ConfigError(f"ids are strings or integers, column {names.id} is {columns[0].type}")
    if not (_is_text(columns[1].type) or pa.types.is_null(columns[1].type)):
        raise ConfigError(f"filters are strings, column {names.filter} is {columns[1].type}")
    return pa.Table.from_arrays(columns, wanted)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column without a dictionary and without string views, which Spark has no type for."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(pa.string()) if pa.types.is_string_view(column.type) else column


def _column(field: pa.Field) -> StructField:
    """The Spark column of an Arrow column."""
    if not pa.types.is_null(field.type):
        if field.type in _SIGNED:
            return _column(pa.field(field.name, _SIGNED[field.type]))
        try:
            column = StructField(field.name, from_arrow_type(field.type))
            return _with_nulls([column], [field.name])[0]
        except PySparkException:
            pass
    raise ConfigError(f"column {field.name} of the filters is {field.type}; cast it")


def _cast(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """The column cast to its type in the set; raises ConfigError between text and numbers."""
    same = _is_text(column.type) == _is_text(field.type) or pa.types.is_null(column.type)
    try:
        if same:
            return column.cast(field.type)
        error: Exception | None = None
    except (pa.ArrowException, ValueError) as raised:
        error = raised
    text = f"column {field.name} of the filters is {column.type}, in the set it is {field.type}"
    raise ConfigError(f"{text}; cast it" if error is None else f"{text}: {error}")


def _is_text(type_: pa.DataType) -> bool:
    is_ = pa.types
    return bool(is_.is_string(type_) or is_.is_large_string(type_) or is_.is_string_view(type_))


def _is_id(type_: pa.DataType) -> bool:
    return _is_text(type_) or bool(pa.types.is_integer(type_))


def _with_nulls(columns: Sequence[StructField], names: Sequence[str]) -> list[StructField]:
    """The columns under these names, nullable, because later filters may contain nulls."""

    def allowed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: True if key in _NULLS else allowed(one) for key, one in value.items()}
        return [allowed(one) for one in value] if isinstance(value, list) else value

    pairs = zip(names, columns, strict=True)
    plain = [StructField(name, column.dataType) for name, column in pairs]
    return StructType.fromJson(allowed(StructType(plain).jsonValue())).fields


def _need_types(columns: Sequence[StructField], known: Sequence[StructField] | None) -> None:
    """Raises ConfigError unless the columns have the types of the set."""
    for old, new in zip(known or (), columns, strict=known is not None):
        if old.dataType != new.dataType:
            types = f"{new.dataType.simpleString()}, in the set it is {old.dataType.simpleString()}"
            raise ConfigError(f"column {new.name} of the filters is {types}; cast it")


def _fit_columns(part: FilterReading, columns: Sequence[StructField]) -> FilterReading:
    """The filters with kept columns in the types of the set.

    The types of timestamps differ between sessions with different time zones.
    """
    target = pa.schema(list(arrow_schema_of(columns))[1:])
    if part.kept.schema == target or not part.kept.num_columns:
        return part
    kept = pa.RecordBatch.from_arrays(part.kept.columns, target.names).cast(target)
    return FilterReading(part.ids, part.texts, kept, part.table, part.rejected)
