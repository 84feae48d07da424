"""One attribute as a schema declares it: its type and domain, with what is wrong with them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any

from wherecast.model.decimals import SCALE_MAX
from wherecast.model.errors import Problem
from wherecast.model.names import did_you_mean
from wherecast.model.schema import Attribute
from wherecast.model.values import (
    ELEMENTS,
    INT_MAX,
    INT_MIN,
    TYPES,
    Clock,
    ValueProblem,
    canonical,
    describe,
    shown,
)

Wrong = Callable[[str, str], None]
_KEYS = ("type", "scale", "min", "max", "step", "values")
_DECLARED = (*TYPES, "decimal", "date", "timestamp_ntz")
_CLOCKS: dict[str, Clock] = {"date": "day", "timestamp_ntz": "local"}
_NUMBERS = ("int", "float", "decimal")


def declared_attribute(name: str, spec: Any, problems: list[Problem]) -> Attribute | None:
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
    if type_ not in _DECLARED:
        hint = did_you_mean(str(type_), _DECLARED) or f"types are {', '.join(_DECLARED)}"
        wrong(
            "unknown_type",
            f"unknown type {type_}; {hint}" if "type" in spec else f"no type; {hint}",
        )
        return None
    _check_keys(spec, wrong)
    if len(problems) > before:
        return None
    if type_ == "decimal":
        attribute = _decimal(name, spec, wrong)
    elif type_ in _CLOCKS:
        attribute = Attribute(name, "timestamp", clock=_CLOCKS[type_])
    else:
        attribute = Attribute(
            name, type_, _bound(spec, "min", wrong), _bound(spec, "max", wrong),
            _step(spec, wrong), _values(spec, wrong),
        )  # fmt: skip
    if attribute.min is not None and attribute.max is not None and attribute.min > attribute.max:
        low, high = shown(attribute, attribute.min), shown(attribute, attribute.max)
        wrong("bad_domain", f"min {low} is above max {high}")
    return attribute if len(problems) == before else None


def _check_keys(spec: Mapping[str, Any], wrong: Wrong) -> None:
    """Refuses the keys of other types."""
    type_ = spec["type"]
    if type_ in ELEMENTS:
        for key in ("min", "max", "step", "values"):
            if key in spec:
                wrong("bad_domain", f"{key} is not supported for arrays; leave it out")
    for key in ("min", "max", "step"):
        if key in spec and type_ not in (*_NUMBERS, *ELEMENTS):
            wrong("bad_domain", f"{key} is for int, float and decimal attributes, not for {type_}")
    if "values" in spec and type_ not in ("string", *ELEMENTS):
        wrong("bad_domain", f"values are for string attributes, not for {type_}")
    if "scale" in spec and type_ != "decimal":
        wrong("bad_domain", f"scale is for decimal attributes, not for {type_}")
    if type_ == "decimal":
        scale = spec.get("scale")
        if isinstance(scale, bool) or not isinstance(scale, int) or not 0 <= scale <= SCALE_MAX:
            text = f"a decimal needs a scale of 0 to {SCALE_MAX}, the digits after its point"
            wrong("bad_domain", text if scale is None else f"{text}, not {describe(scale)}")


def _decimal(name: str, spec: Mapping[str, Any], wrong: Wrong) -> Attribute:
    """A decimal, with its bounds and its step in units; without a fraction it is an int."""
    plain = Attribute(name, "int", scale=spec["scale"])
    units: dict[str, Any] = {}
    for key in ("min", "max", "step"):
        if spec.get(key) is not None:
            try:
                units[key] = canonical(plain, spec[key])
            except ValueProblem as problem:
                wrong("bad_domain", f"{key}: {problem.text}")
    step = units.pop("step", None)
    if step is not None and step <= 0:
        wrong("bad_domain", f"step is a number above 0, not {describe(spec['step'])}")
    return replace(plain, **units, step=None if step is None else Decimal(step))


def _bound(spec: Mapping[str, Any], key: str, wrong: Wrong) -> int | float | None:
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


def _step(spec: Mapping[str, Any], wrong: Wrong) -> Decimal | None:
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


def _values(spec: Mapping[str, Any], wrong: Wrong) -> tuple[str, ...] | None:
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
