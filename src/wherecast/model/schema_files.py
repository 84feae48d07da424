"""Schemas from mappings, TOML and the `.attributes` format of the elastic BE-Tree."""

import tomllib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from math import isfinite
from pathlib import Path
from typing import Any

from wherecast.model.errors import Problem, SchemaError
from wherecast.model.limits import DEFAULT_LIMITS
from wherecast.model.names import did_you_mean
from wherecast.model.schema import Attribute, Schema
from wherecast.model.values import INT_MAX, INT_MIN, TYPES, describe

_KEYS = ("type", "min", "max", "step", "values")


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
        raise SchemaError(f"{path}: {(error.strerror or str(error)).lower()}") from None
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
        attribute = _attribute(name, spec, problems)
        if attribute is not None:
            found[name] = attribute
    if len(found) > DEFAULT_LIMITS.schema_attributes_max:
        limit = DEFAULT_LIMITS.schema_attributes_max
        problems.append(Problem("too_many", f"{len(found)} attributes, the limit is {limit}"))
    if not found and not problems and not is_open:
        problems.append(Problem("empty", "a schema that is not open needs at least one attribute"))
    if problems:
        raise SchemaError(problems)
    return Schema(tuple(found.values()), is_open)


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


def _attribute(name: str, spec: Any, problems: list[Problem]) -> Attribute | None:
    """The attribute of a declaration; what is wrong with it goes to the list."""
    before = len(problems)

    def wrong(code: str, text: str) -> None:
        problems.append(Problem(code, f"attribute {name}: {text}", name))

    if not isinstance(name, str):
        wrong("bad_name", "a name is a string")
        return None
    if isinstance(spec, str):
        spec = {"type": spec}
    if not name or name != name.strip() or any(not part for part in name.split(".")):
        wrong("bad_name", f"{name!r} is not a name")
    if not isinstance(spec, Mapping):
        wrong("wrong_type", f"needs a type or a table, not {describe(spec)}")
        return None
    for key in spec:
        if key not in _KEYS:
            hint = did_you_mean(str(key), _KEYS) or f'a nested field is written "{name}.{key}"'
            wrong("unknown_key", f"unknown key {key}; {hint}")
    type_ = spec.get("type")
    if type_ not in TYPES:
        hint = did_you_mean(str(type_), TYPES) or f"types are {', '.join(TYPES)}"
        wrong(
            "unknown_type",
            f"unknown type {type_}; {hint}" if "type" in spec else f"no type; {hint}",
        )
        return None
    if type_ not in ("int", "float"):
        for key in ("min", "max", "step"):
            if key in spec:
                wrong("bad_domain", f"{key} is for int and float attributes, not for {type_}")
    if "values" in spec and type_ != "string":
        wrong("bad_domain", f"values are for string attributes, not for {type_}")
    if len(problems) > before:
        return None
    attribute = Attribute(
        name, type_, _bound(spec, "min", wrong), _bound(spec, "max", wrong),
        _step(spec, wrong), _values(spec, wrong),
    )  # fmt: skip
    if attribute.min is not None and attribute.max is not None and attribute.min > attribute.max:
        wrong("bad_domain", f"min {attribute.min} is above max {attribute.max}")
    return attribute if len(problems) == before else None


def _bound(spec: Mapping[str, Any], key: str, wrong: Any) -> int | float | None:
    """A declared bound as its type holds it."""
    value = spec.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_double(value):
        wrong("bad_domain", f"{key} is a finite number, not {describe(value)}")
        return None
    if spec["type"] == "float":
        return float(value)
    if value != int(value) or not INT_MIN <= value <= INT_MAX:
        wrong("bad_domain", f"{key} of an int attribute is a 64-bit int, not {value}")
        return None
    return int(value)


def _is_double(value: float) -> bool:
    """Whether a double can hold a number, be it rounded."""
    try:
        return isfinite(value)
    except OverflowError:
        return False


def _step(spec: Mapping[str, Any], wrong: Any) -> Decimal | None:
    """A declared step, exact as written."""
    value = spec.get("step")
    if value is None:
        return None
    try:
        step = Decimal(repr(value)) if not isinstance(value, bool | str) else Decimal("NaN")
    except (InvalidOperation, ValueError):  # no number, or an int of thousands of digits
        step = Decimal("NaN")
    if not step.is_finite() or step <= 0:
        wrong("bad_domain", f"step is a number above 0, not {describe(value)}")
        return None
    if spec["type"] == "int" and step != int(step):
        wrong("bad_domain", f"step of an int attribute is whole, not {value}")
        return None
    return step


def _values(spec: Mapping[str, Any], wrong: Any) -> tuple[str, ...] | None:
    """The listed values of a string attribute."""
    values = spec.get("values")
    if values is None:
        return None
    if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
        wrong("bad_domain", "values is a list of strings")
    elif not values:
        wrong("bad_domain", "values is empty, so no publication could carry it")
    elif len(set(values)) < len(values):
        wrong("bad_domain", "values lists a value twice")
    else:
        return tuple(values)
    return None
