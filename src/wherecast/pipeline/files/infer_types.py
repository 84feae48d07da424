"""Type inference for publications without a schema, from all values of a name.

A name is an int if all its values are whole numbers, a float if all are numbers, a bool if all are
true or false, a timestamp if all are ISO 8601 times with a time of day, and a string if all are
other texts. A name with lists, or with values of several types, is copied to the result as JSON
text; filters cannot use it.
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
    """Whether one type can hold values of all these kinds."""
    return frozenset(kinds) in _TYPES


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
    return "list"


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

    With an open schema, inferred numbers are floats, times are strings, and names with values of
    several kinds stay undeclared.
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
