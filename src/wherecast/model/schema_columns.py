"""Schemas from the columns of Arrow and Spark, read without importing either library.

Columns of other types are no attributes: they are kept by name and type, so that a filter that
names one gets an error that says why.
"""

from collections.abc import Iterator
from typing import Any

from wherecast.model.errors import SchemaError
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import Type

_ARROW: dict[str, Type] = {
    **{f"{sign}int{bits}": "int" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("halffloat", "float", "double"), "float"),
    "bool": "bool",
    **dict.fromkeys(("string", "large_string", "string_view"), "string"),
}
_SPARK: dict[str, Type] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), "int"),
    **dict.fromkeys(("float", "double"), "float"),
    "boolean": "bool",
    "string": "string",
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "timestamp"),
}


def from_arrow(schema: Any) -> Schema:
    """The schema of an Arrow schema."""
    return _schema(_arrow_leaves(schema, ""))


def from_spark(schema: Any) -> Schema:
    """The schema of a Spark `StructType`."""
    return _schema(_spark_leaves(schema, ""))


def _schema(leaves: Iterator[tuple[str, Type | None, str]]) -> Schema:
    attributes: dict[str, Attribute] = {}
    unsupported: dict[str, str] = {}
    for name, type_, shown in leaves:
        if name in attributes or name in unsupported:
            raise SchemaError(f"two columns are named {name}")
        if type_ is None:
            unsupported[name] = shown
        else:
            attributes[name] = Attribute(name, type_)
    return Schema(tuple(attributes.values()), unsupported=unsupported)


def _arrow_leaves(fields: Any, prefix: str) -> Iterator[tuple[str, Type | None, str]]:
    """Name, type and shown type of each column, structs by dotted path."""
    for field in fields:
        name, shown = prefix + field.name, str(field.type)
        if shown.startswith("struct<"):
            yield from _arrow_leaves(field.type, f"{name}.")
        elif shown.startswith("dictionary<"):
            yield name, _ARROW.get(str(field.type.value_type)), shown
        elif shown.startswith("timestamp["):
            yield name, "timestamp", shown
        else:
            yield name, _ARROW.get(shown), shown


def _spark_leaves(struct: Any, prefix: str) -> Iterator[tuple[str, Type | None, str]]:
    """Name, type and shown type of each column, structs by dotted path."""
    for field in struct.fields:
        name, kind = prefix + field.name, field.dataType.typeName()
        if kind == "struct":
            yield from _spark_leaves(field.dataType, f"{name}.")
        else:
            shown = field.dataType.simpleString()
            plain = "string" if kind.startswith(("string", "char", "varchar")) else kind
            collated = " collate " in shown.lower()  # compared otherwise than by code point
            yield name, None if collated else _SPARK.get(plain), shown
