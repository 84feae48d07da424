"""The columns of a Spark DataFrame: safe names, widths, and Arrow types."""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyspark.sql.functions as fn
from pyspark.sql.types import DataType, StructField, StructType

from wherecast.model import Attribute, Schema

if TYPE_CHECKING:
    from pyspark.sql import Column

_BYTES = {
    "boolean": 1, "void": 1, "byte": 1, "short": 2, "integer": 4, "float": 4, "date": 4,
    "string": 32, "binary": 64, "array": 128, "map": 128,
}  # fmt: skip
_BYTES_OTHER = 8


def numbered(columns: Iterable[StructField]) -> list[StructField]:
    """The same columns under the names c0, c1, …, which are distinct and need no quoting."""
    return [
        StructField(f"c{place}", column.dataType, column.nullable, column.metadata)
        for place, column in enumerate(columns)
    ]


def leaf_columns(columns: StructType, needed: Iterable[Attribute]) -> "dict[str, Column]":
    """The columns and fields of structs that attributes need, by dotted path.

    The expressions refer to the columns by their `numbered` names.
    """
    wanted = Schema(tuple(needed))
    return {
        path: leaf
        for place, column in enumerate(columns.fields)
        for path, leaf in _leaves(column.name, column.dataType, fn.col(f"c{place}"))
        if wanted.find(path) is not None
    }


def _leaves(path: str, type_: DataType, column: "Column") -> "Iterator[tuple[str, Column]]":
    if not isinstance(type_, StructType):
        yield path, column
        return
    names = [part.name for part in type_.fields]
    if len({name.casefold() for name in names}) < len(
        names
    ):  # Spark finds fields by case-insensitive names
        column = column.cast(StructType(numbered(type_.fields)))
        names = [f"c{place}" for place in range(len(names))]
    for part, name in zip(type_.fields, names, strict=True):
        yield from _leaves(f"{path}.{part.name}", part.dataType, column.getField(name))


def unread_bytes(columns: StructType, needed: Iterable[Attribute]) -> int:
    """Estimated bytes of a row that no filter reads."""
    wanted = Schema(tuple(needed))
    return sum(_unread_bytes(column.name, column.dataType, wanted) for column in columns.fields)


def _unread_bytes(path: str, type_: DataType, wanted: Schema) -> int:
    if isinstance(type_, StructType):
        parts = type_.fields
        return sum(_unread_bytes(f"{path}.{p.name}", p.dataType, wanted) for p in parts)
    if wanted.find(path) is not None:
        return 0
    return _BYTES.get(type_.typeName().partition("(")[0], _BYTES_OTHER)


def columns_without_arrow_type(columns: StructType) -> list[str]:
    """The names of the columns that Spark cannot send to Python as Arrow."""
    found = []
    for column in columns.fields:
        try:
            arrow_schema_of([column])
        except Exception:  # noqa: BLE001  # its class differs between versions of Spark
            found.append(column.name)
    return found


def arrow_schema_of(columns: Sequence[StructField]) -> pa.Schema:
    """The Arrow types of columns; times are in UTC."""
    from pyspark.sql.pandas.types import to_arrow_schema

    known = inspect.signature(to_arrow_schema).parameters
    # Versions of Spark without the parameter use UTC.
    options: dict[str, Any] = {"timezone": "UTC"} if "timezone" in known else {}
    return to_arrow_schema(StructType(list(columns)), **options)
