"""Checks before a query is built, so that errors are raised at once and name the argument."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, get_args

import pyarrow as pa

from wherecast.columns import arrow_schema
from wherecast.model import Attribute, ConfigError, Problem, Schema, SchemaError
from wherecast.model.names import did_you_mean
from wherecast.pipeline.filters.filter_loading import Open, one_naming
from wherecast.pipeline.filters.loaded_filters import reading_schema
from wherecast.pipeline.filters.stored_filters import StoredFilters
from wherecast.pipeline.stages.batch_stages import validate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType


def need_frame(value: object, what: str) -> None:
    """Raises ConfigError unless the value is a DataFrame of a classic or a Connect session."""
    if not _is_frame(value):
        raise ConfigError(f"{what} is a Spark DataFrame, not {type(value).__name__}")


def _is_frame(value: object) -> bool:
    return hasattr(value, "mapInArrow") and hasattr(value, "isStreaming")


def need_kind(option: str, value: object, kind: type, optional: bool = False) -> None:
    """Raises ConfigError unless the value is an instance of a class, or an optional None."""
    if isinstance(value, kind) or (optional and value is None):
        return
    wanted = "a wherecast Schema" if kind is Schema else "a string"
    raise ConfigError(f"{option} is {wanted}, not {type(value).__name__}")


def need_schema(value: object) -> None:
    """Raises ConfigError unless the value is the schema of a DataFrame or a Wherecast Schema."""
    if not (isinstance(value, Schema) or hasattr(value, "fields")):
        kind = type(value).__name__
        raise ConfigError(f"schema is that of a DataFrame, or a wherecast Schema, not {kind}")


def need_condition(value: object) -> None:
    """Raises ConfigError unless the value is a condition for `DataFrame.where`, or None."""
    if value is None or isinstance(value, str) or type(value).__name__ == "Column":
        return
    kind = type(value).__name__
    raise ConfigError(f"where is a Column of booleans or SQL text, not {kind}")


def need_names(option: str, value: object) -> None:
    """Raises ConfigError unless the value is a list or tuple of column names."""
    if isinstance(value, str):
        raise ConfigError(f"{option} is a list of columns: [{value!r}]")
    if not isinstance(value, Sequence):
        raise ConfigError(f"{option} is a list of columns, not {value!r}")
    for name in value:
        if not isinstance(name, str):
            raise ConfigError(f"{option} is a list of columns, and {name!r} names none")


def need_filters(value: object) -> None:
    """Raises ConfigError unless the value is a DataFrame; the error names all accepted types."""
    if not _is_frame(value):
        raise ConfigError(
            "filters are a DataFrame with the columns id and filter, Filters that compile_filters"
            f" or load_filters returned, or a FilterSet, not {type(value).__name__}"
        )


def need_one_of(option: str, value: object, choices: Any) -> None:
    """Raises ConfigError unless the value is one of the values of a `Literal`."""
    known = get_args(choices)
    if value not in known:
        raise ConfigError(f"{option} is one of {', '.join(known)}, not {value!r}")


def find_column(frame: "DataFrame", name: str) -> "StructField":
    """The column of a frame of filters: by exact case, else by any case if only one fits."""
    fields = frame.schema.fields
    found = [f for f in fields if f.name == name]
    found = found or [f for f in fields if f.name.casefold() == name.casefold()]
    if len(found) != 1:
        there = ", ".join(frame.columns)
        count = "no column" if not found else "more than one column"
        raise ConfigError(f"the filters have {count} {name}; their columns are {there}")
    return found[0]


def needed_by(filters: StoredFilters) -> tuple[Attribute, ...]:
    """The attributes that matching reads: those that filters name and, if enforced, all."""
    reading = reading_schema(filters.schema, filters.enforced, filters.named)
    return tuple(dict.fromkeys((*filters.named, *reading)))


def needed_ever(filters: StoredFilters, columns: "StructType") -> tuple[Attribute, ...]:
    """The attributes that matching may read, whatever filters are added later."""
    own = tuple(filters.schema)
    if not filters.schema.open:
        return own
    found = Schema.from_spark(columns)
    return (*own, *(column for column in found if filters.schema.find(column.name) is None))


def need_columns(
    columns: "StructType",
    filters: StoredFilters,
    needed: Sequence[Attribute],
    open_blob: Open | None = None,
) -> None:
    """Raises an error unless the publications have the columns that the filters need.

    Args:
        columns: the columns of the publications.
        filters: the filters to match.
        needed: the attributes that matching reads.
        open_blob: opens a blob of the filters, so that an error can name a filter.

    Raises:
        SchemaError: the type of a column does not fit the attribute of its name.
        ConfigError: a column is missing, or has another type than the filters expect.
    """
    found = Schema.from_spark(columns)
    for attribute in needed:
        _need_attribute(attribute, found)
    if filters.enforced:  # without rows, to raise here what a worker would raise later
        validate(pa.RecordBatch.from_pylist([], schema=arrow_schema(found)), filters.schema)
    for attribute in filters.named if filters.enforced else needed:
        name, column = attribute.name, found.find(attribute.name)
        if column is None:
            one = None if open_blob is None else one_naming(filters, name, open_blob)
            raise ConfigError(_absent(name, one, found))
        if filters.enforced:  # the schema may read a column as another type
            continue
        if _type_text(column) != _type_text(attribute):
            types = f"as {_type_text(attribute)}, the column is {_type_text(column)}"
            raise ConfigError(f"the filters were read for {name} {types}")


def _absent(name: str, filter_id: object, found: Schema) -> str:
    """The message about an attribute without a column."""
    text = f"the filters need {name}"
    if filter_id is not None:
        text = f"the filters name {name} (filter {filter_id!r} for one)"
    hint = did_you_mean(name, found.names)
    message = f"{text}, which is no column of the publications"
    return f"{message}; {hint}" if hint else message


def _type_text(attribute: Attribute) -> str:
    """The type of an attribute as far as comparisons depend on it."""
    scale = f" with {attribute.scale} digits after the point" if attribute.scale else ""
    return attribute.kind + scale


def _need_attribute(attribute: Attribute, found: Schema) -> None:
    """Raises SchemaError if the column of an attribute has a type that it cannot have."""
    there = found.find(attribute.name)
    if there is not None:
        if there.element is not None and attribute.element is None:
            _refuse(there.name, there.kind, attribute)
        return
    name = attribute.name.casefold()
    for column, shown in found.unsupported.items():
        if column.casefold() == name:
            _refuse(column, shown, attribute)
    for column in (*found.names, *found.unsupported):
        if column.casefold().startswith(f"{name}."):
            _refuse(column[: len(name)], "a struct", attribute)


def _refuse(column: str, shown: str, attribute: Attribute) -> None:
    text = f"column {column} is {shown}, which cannot be the {attribute.kind} attribute"
    raise SchemaError([Problem("wrong_type", f"{text} {attribute.name}", attribute.name)])


def need_no_clash(columns: "StructType", added: Sequence["StructField"]) -> None:
    """Raises ConfigError if two columns of the result have the same name, ignoring case."""
    there = {name.casefold() for name in columns.names}
    for column in added:
        if column.name.casefold() in there:
            raise ConfigError(
                f"the result would have two columns named {column.name}; give a prefix for the"
                ' added ones, such as prefix="matched_"'
            )
        there.add(column.name.casefold())
