"""Schemas from mappings, TOML and the `.attributes` format of the elastic BE-Tree."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

from wherecast.model.declared import declared_attribute
from wherecast.model.errors import Problem, SchemaError, reason_of
from wherecast.model.limits import DEFAULT_LIMITS
from wherecast.model.names import did_you_mean
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import describe, is_text


def load(path: Path) -> Schema:
    """The schema in a file, by its suffix."""
    readers = {".toml": from_toml, ".attributes": from_attributes}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise SchemaError(f"{path}: a schema file ends with .toml or .attributes")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise SchemaError(f"{path}: is not UTF-8 text") from None
    except OSError as error:
        raise SchemaError(f"{path}: {reason_of(error).lower()}") from None
    try:
        return reader(text)
    except SchemaError as error:
        named = [Problem(p.code, f"{path}: {p.message}", p.attribute) for p in error.problems]
        raise SchemaError(named) from None


def from_toml(text: str) -> Schema:
    """The schema in the text of a TOML file."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"malformed TOML: {error}") from None
    problems = [
        _unknown_key(key, ("open", "attributes"), "in the file")
        for key in document
        if key not in ("open", "attributes")
    ]
    is_open = document.get("open", False)
    if not isinstance(is_open, bool):
        problems.append(Problem("wrong_type", f"open is true or false, not {describe(is_open)}"))
    attributes = document.get("attributes", {})
    if not isinstance(attributes, dict):
        problems.append(Problem("wrong_type", "attributes is a table of names and types"))
    if problems:
        raise SchemaError(problems)
    return from_dict(attributes, is_open)


def from_dict(attributes: Mapping[str, Any], is_open: bool = False) -> Schema:
    """The schema of a mapping; every problem is reported at once."""
    problems: list[Problem] = []
    found: dict[str, Attribute] = {}
    for name, spec in attributes.items():
        attribute = declared_attribute(name, spec, problems)
        if attribute is not None:
            found[name] = attribute
            if not all(map(is_text, (name, *(attribute.values or ())))):
                text = f"attribute {name!a} has a lone surrogate, which is no character"
                problems.append(Problem("malformed", text, ascii(name)))
    if len(found) > DEFAULT_LIMITS.schema_attributes_max:
        limit = DEFAULT_LIMITS.schema_attributes_max
        problems.append(Problem("too_many", f"{len(found)} attributes, the limit is {limit}"))
    if not found and not problems and not is_open:
        problems.append(Problem("empty", "a schema that is not open needs at least one attribute"))
    if problems:
        raise SchemaError(problems)
    return Schema(tuple(found.values()), is_open)


def read_back(
    attributes: Mapping[str, Any], is_open: bool, unsupported: Mapping[str, str]
) -> Schema:
    """The schema whose `to_dict` gave the attributes.

    Columns may have names that nobody could declare, and there may be any number of them.
    """
    problems: list[Problem] = []
    found = []
    for name, spec in attributes.items():
        attribute = declared_attribute("stored", spec, problems)
        if attribute is not None:
            found.append(replace(attribute, name=name))
    if problems:
        raise SchemaError(problems)
    return Schema(tuple(found), is_open, unsupported)


def from_attributes(text: str) -> Schema:
    """The schema in an `.attributes` text: `name#low:high:step` or `name$value:value`.

    Source: elastic BE-Tree, appendix A. It has no escapes, so separators cannot be part of names
    or values.
    """
    problems: list[Problem] = []
    attributes: dict[str, Any] = {}
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        sign = "#" if "#" in line.split("$")[0] else "$"
        name, separator, domain = (part.strip() for part in line.partition(sign))
        parts = [part.strip() for part in domain.split(":")]
        place = f"line {number}"
        if not separator or not name:
            text = f"{place}: expected name#low:high:step or name$value:value"
            problems.append(Problem("malformed", text))
        elif name in attributes:
            problems.append(
                Problem("duplicate", f"{place}: attribute {name} is declared twice", name)
            )
        elif sign == "$":
            attributes[name] = _listed(name, parts, place, problems)
        else:
            attributes[name] = _bounded(name, parts, place, problems)
    if problems:
        raise SchemaError(problems)
    return from_dict(attributes)


def _listed(name: str, parts: list[str], place: str, problems: list[Problem]) -> dict[str, Any]:
    """A string attribute of an `.attributes` line."""
    if any(sign in part for part in parts for sign in "#${}") or not all(parts):
        text = f"{place}: attribute {name}: values are separated by : and hold none of # $ {{ }}"
        problems.append(Problem("malformed", text, name))
    return {"type": "string", "values": parts}


def _bounded(name: str, parts: list[str], place: str, problems: list[Problem]) -> dict[str, Any]:
    """A numeric attribute of an `.attributes` line; floats, so that any value is rounded."""
    numbers = [_number(part) for part in parts]
    if len(numbers) != 3 or None in numbers:
        text = f"{place}: attribute {name}: expected three numbers low:high:step"
        problems.append(Problem("malformed", text, name))
        return {"type": "float"}
    low, high, step = numbers
    return {"type": "float", "min": low, "max": high, "step": step}


def _number(text: str) -> float | None:
    """A finite number, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _unknown_key(key: str, known: tuple[str, ...], place: str) -> Problem:
    hint = did_you_mean(key, known) or f"known keys are {', '.join(known)}"
    return Problem("unknown_key", f"unknown key {key} {place}; {hint}")
