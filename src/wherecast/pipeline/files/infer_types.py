"""Type inference for publications without a schema, from all values of a name.

A name is an int if all its values are whole numbers, a float if all are numbers, a bool if all are
true or false, a timestamp if all are ISO 8601 times with a time of day, and a string if all are
other texts. A name is an array of ints, floats or strings if all its values are arrays of them; an
empty array fits each. A name with other lists, or with values of several types, is copied to the
result as JSON text; filters cannot use it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from wherecast.model import DEFAULT_LIMITS, Attribute, Schema, Type
from wherecast.model.values import ELEMENTS, INT_MAX, INT_MIN

Kind = Literal[
    "int", "float", "bool", "string", "timestamp",
    "array<string>", "array<int>", "array<float>", "empty array", "list",
]  # fmt: skip
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?\s?(Z|UTC|[+-]\d\d(:?\d\d)?)?")
_TYPES: dict[frozenset[Kind], Type] = {
    frozenset({"int"}): "int",
    frozenset({"float"}): "float",
    frozenset({"int", "float"}): "float",
    frozenset({"bool"}): "bool",
    frozenset({"string"}): "string",
    frozenset({"timestamp"}): "timestamp",
    frozenset({"string", "timestamp"}): "string",
    frozenset({"array<string>"}): "array<string>",
    frozenset({"array<int>"}): "array<int>",
    frozenset({"array<float>"}): "array<float>",
    frozenset({"array<int>", "array<float>"}): "array<float>",
    frozenset({"empty array"}): "array<string>",
}
_ARRAYS: dict[Type, Kind] = {
    "string": "array<string>",
    "int": "array<int>",
    "float": "array<float>",
}
_OPEN_TYPES: dict[Type, Type] = {"int": "float", "timestamp": "string"}


def leaves(record: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a nested record with their dotted names."""
    for key, value in record.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def is_one_type(kinds: set[Kind]) -> bool:
    """Whether one type can hold values of all these kinds."""
    return _type_of(kinds) is not None


def _type_of(kinds: set[Kind]) -> Type | None:
    """The type that can hold values of all these kinds."""
    others = kinds - {"empty array"}
    is_array = all(kind in ELEMENTS for kind in others)
    return _TYPES.get(frozenset(others if others and is_array else kinds))


def kind_of(value: object) -> Kind:
    """The kind of a value other than None."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if INT_MIN <= value <= INT_MAX else "float"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "timestamp" if _TIME.fullmatch(value) else "string"
    return _array_kind(value) if isinstance(value, list) else "list"


def _array_kind(elements: list[Any]) -> Kind:
    """The kind of an array; `list` if no array attribute can hold it."""
    if len(elements) > DEFAULT_LIMITS.array_elements_max:
        return "list"
    kinds = {kind_of(element) for element in elements if element is not None}
    if not kinds:
        return "empty array"
    type_ = "string" if kinds == {"timestamp"} else _type_of(kinds)
    return "list" if type_ is None else _ARRAYS.get(type_, "list")


def infer(records: Iterable[Mapping[str, Any]]) -> dict[str, set[Kind]]:
    """The kinds of the values of each dotted name, in the order in which names appear."""
    found: dict[str, set[Kind]] = {}
    for record in records:
        for name, value in leaves(record):
            kinds = found.setdefault(name, set())
            if value is not None:
                kinds.add(kind_of(value))
    return found


def inferred_schema(found: Mapping[str, set[Kind]], schema: Schema | None) -> Schema:
    """The attributes of `schema`, if given, followed by those of the inferred names.

    With an open schema, inferred numbers are floats, times are strings, and names with arrays or
    with values of several kinds stay undeclared.
    """
    attributes: list[Attribute] = [] if schema is None else list(schema)
    unsupported: dict[str, str] = {}
    for name, kinds in found.items():
        if schema is not None and schema.find(name) is not None:
            continue
        type_ = _type_of(kinds)
        if schema is not None and type_ is not None:
            type_ = None if type_ in ELEMENTS else _OPEN_TYPES.get(type_, type_)
        if type_ is not None:
            attributes.append(Attribute(name, type_))
        elif schema is None:
            shown = " or ".join(sorted(kinds)) if kinds else "null"
            unsupported[name] = shown
    return Schema(tuple(attributes), schema is not None, unsupported)
