"""Schemas from the columns of Arrow and Spark, read without importing either library.

Columns of other types are no attributes: they are kept by name and type, so that a filter that
names one gets an error that says why.
"""

import re
from collections.abc import Iterator
from typing import Any

from wherecast.model.decimals import PRECISION_MAX, SCALE_MAX
from wherecast.model.errors import SchemaError
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import ELEMENTS, Clock, Type

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
    "timestamp": "timestamp",
}
_ARRAYS: dict[Type, Type] = {element: array for array, element in ELEMENTS.items()}
_CLOCKS: dict[str, Clock] = {"timestamp_ntz": "local", "date": "day"}
_CHAR_MARK = "__CHAR_VARCHAR_TYPE_STRING"  # where Spark notes what a string column is declared as
_CHAR = re.compile(r"\bchar\(")
_ARROW_LIST = re.compile(r"(large_list|fixed_size_list|list)<")
_Leaf = tuple[str, Attribute | None, str]
"""The dotted name of a column, its attribute if it can be one, and its type as it is shown."""


def from_arrow(schema: Any) -> Schema:
    """The schema of an Arrow schema."""
    return _schema(_arrow_leaves(schema, ""))


def from_spark(schema: Any) -> Schema:
    """The schema of a Spark `StructType`."""
    return _schema(_spark_leaves(schema, ""))


def _schema(leaves: Iterator[_Leaf]) -> Schema:
    attributes: dict[str, Attribute] = {}
    unsupported: dict[str, str] = {}
    for name, attribute, shown in leaves:
        if name in attributes or name in unsupported:
            raise SchemaError(f"two columns are named {name}")
        if attribute is None:
            unsupported[name] = shown
        else:
            attributes[name] = attribute
    return Schema(tuple(attributes.values()), unsupported=unsupported)


def _arrow_leaves(fields: Any, prefix: str) -> Iterator[_Leaf]:
    """The columns, structs by dotted path."""
    for field in fields:
        name, shown = prefix + field.name, str(field.type)
        if shown.startswith("struct<"):
            yield from _arrow_leaves(field.type, f"{name}.")
        else:
            yield name, _arrow_attribute(name, field.type), shown


def _without_dictionary(type_: Any) -> Any:
    """The type of the values of a dictionary; any other type as it is."""
    return type_.value_type if str(type_).startswith("dictionary<") else type_


def _arrow_attribute(name: str, type_: Any) -> Attribute | None:
    if _ARROW_LIST.match(str(type_)):
        return _array(name, _ARROW.get(str(_without_dictionary(type_.value_type))))
    type_ = _without_dictionary(type_)
    shown = str(type_)
    if shown.startswith("decimal"):
        return _decimal(name, type_.precision, type_.scale)
    if shown.startswith(("date32[", "date64[")):
        return Attribute(name, "timestamp", clock="day")
    if shown.startswith("timestamp["):
        return Attribute(name, "timestamp")
    return _attribute(name, _ARROW.get(shown))


def _spark_leaves(struct: Any, prefix: str) -> Iterator[_Leaf]:
    """The columns, structs by dotted path."""
    for field in struct.fields:
        name, type_ = prefix + field.name, field.dataType
        if type_.typeName() == "struct":
            yield from _spark_leaves(type_, f"{name}.")
            continue
        declared = str((field.metadata or {}).get(_CHAR_MARK, ""))
        if _CHAR.search(declared):  # Spark pads the constants beside it, not those of LIKE
            yield name, None, declared
        else:
            yield name, _spark_attribute(name, type_), type_.simpleString()


def _spark_attribute(name: str, type_: Any) -> Attribute | None:
    kind = type_.typeName()
    if kind == "decimal":
        return _decimal(name, type_.precision, type_.scale)
    if " collate " in type_.simpleString().lower():  # compared otherwise than by code point
        return None
    if kind in _CLOCKS:
        return Attribute(name, "timestamp", clock=_CLOCKS[kind])
    if kind == "array":
        return _array(name, _spark_type(type_.elementType))
    return _attribute(name, _spark_type(type_))


def _spark_type(type_: Any) -> Type | None:
    """The type of a column or an element that is no decimal and no time without a zone."""
    kind = type_.typeName()
    return _SPARK.get("string" if kind.startswith(("string", "varchar")) else kind)


def _attribute(name: str, type_: Type | None) -> Attribute | None:
    return None if type_ is None else Attribute(name, type_)


def _array(name: str, element: Type | None) -> Attribute | None:
    """An array of elements of a type, if elements can be of this type."""
    return None if element is None else _attribute(name, _ARRAYS.get(element))


def _decimal(name: str, precision: int, scale: int) -> Attribute | None:
    """A decimal whose units fit into 64 bits; one without a fraction is an int."""
    digits = precision - min(scale, 0)  # a scale below 0 stands for zeros before the point
    if digits > PRECISION_MAX or scale > SCALE_MAX:
        return None
    return Attribute(name, "int", scale=max(scale, 0))
