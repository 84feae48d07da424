"""The types of publications that no schema declares, from all their values.

A name whose values are all whole numbers is an int, of numbers a float, of true and false a bool,
of ISO 8601 times with a time of day a timestamp, of other texts a string. A name with lists, or
with values of several kinds, is carried along as JSON text, and filters cannot name it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from wherecast.model import Attribute, Schema, Type
from wherecast.model.values import INT_MAX, INT_MIN

Kind = Literal["int", "float", "bool", "string", "timestamp", "list"]
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?\s?(Z|UTC|[+-]\d\d(:?\d\d)?)?")
_TYPES: dict[frozenset[Kind], Type] = {
    frozenset({"int"}): "int",
    frozenset({"float"}): "float",
    frozenset({"int", "float"}): "float",
    frozenset({"bool"}): "bool",
    frozenset({"string"}): "string",
    frozenset({"timestamp"}): "timestamp",
    frozenset({"string", "timestamp"}): "string",
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
    """Whether values of these kinds have one type together."""
    return frozenset(kinds) in _TYPES


def kind_of(value: object) -> Kind:
    """The kind of a value that is there."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if INT_MIN <= value <= INT_MAX else "float"
    if isinstance(value, float):
        return "float"
    if isinstance(value, str):
        return "timestamp" if _TIME.fullmatch(value) else "string"
    return "list"


def infer(records: Iterable[Mapping[str, Any]]) -> dict[str, set[Kind]]:
    """The kinds of values that each dotted name has, in the order in which names appear."""
    found: dict[str, set[Kind]] = {}
    for record in records:
        for name, value in leaves(record):
            kinds = found.setdefault(name, set())
            if value is not None:
                kinds.add(kind_of(value))
    return found


def inferred_schema(found: Mapping[str, set[Kind]], schema: Schema | None) -> Schema:
    """The schema of inferred names, after those that an open schema declares.

    In an open schema undeclared numbers are floats, times strings, and names of several kinds
    stay undeclared.
    """
    attributes: list[Attribute] = [] if schema is None else list(schema)
    unsupported: dict[str, str] = {}
    for name, kinds in found.items():
        if schema is not None and schema.find(name) is not None:
            continue
        type_: Type | None = _TYPES.get(frozenset(kinds))
        if schema is not None and type_ is not None:
            type_ = _OPEN_TYPES.get(type_, type_)
        if type_ is not None:
            attributes.append(Attribute(name, type_))
        elif schema is None:
            shown = " or ".join(sorted(kinds)) if kinds else "null"
            unsupported[name] = shown
    return Schema(tuple(attributes), schema is not None, unsupported)
