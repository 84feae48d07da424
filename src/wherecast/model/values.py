"""The types and their canonical values: int, float, bool, str, and int microseconds.

A canonical value is what filters compare: a 64-bit int, a double, a bool, a string, or the
microseconds since 1970 in UTC of a timestamp. A decimal is an int: so many units of 10**-scale.
`arrays` has the canonical values of array types. `any` is not a type that a schema declares: it
stands for an undeclared attribute of an open schema of which only the presence is asked.
"""

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from math import isfinite, isnan
from operator import index
from typing import TYPE_CHECKING, Literal

from wherecast.model.decimals import (
    EXACT_UNITS_MAX,
    PRECISION_MAX,
    UNITS_MAX,
    decimal_of,
    decimal_text,
    shifted,
)
from wherecast.model.errors import Problem
from wherecast.model.times import DAY_MICROS, parse_time, time_micros

if TYPE_CHECKING:
    from wherecast.model.schema import Attribute
    from wherecast.model.steps import Grid

Type = Literal[
    "int", "float", "bool", "string", "timestamp", "array<string>", "array<int>", "array<float>",
    "any",
]  # fmt: skip
Clock = Literal["utc", "local", "day"]
Value = int | float | bool | str

ELEMENTS: dict[Type, Type] = {
    "array<string>": "string",
    "array<int>": "int",
    "array<float>": "float",
}
"""The types of the elements, by array type."""

TYPES: tuple[Type, ...] = ("int", "float", "bool", "string", "timestamp", *ELEMENTS)
INT_MIN = -(2**63)
INT_MAX = 2**63 - 1
EXACT_FLOAT_MAX = 2**53
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)


class ValueProblem(ValueError):
    """A value that an attribute cannot take.

    Attributes:
        code: a stable word for programs.
        text: a sentence without the name of the attribute.
        element: the place of the element that is wrong, from 0; None if the whole value is.
    """

    def __init__(self, code: str, text: str, element: int | None = None) -> None:
        self.code = code
        self.text = text
        self.element = element
        super().__init__(code, text, element)


def problem_of(name: str, problem: ValueProblem) -> Problem:
    """The problem of a value of the attribute of that name."""
    place = "" if problem.element is None else f"[{problem.element}]"
    text = f"attribute {name}{place}: {problem.text}"
    return Problem(problem.code, text, name, problem.element)


def canonical(attribute: "Attribute", value: object) -> Value:
    """The value as the attribute, which is no array, holds it: typed, in its domain, on its step.

    Raises:
        ValueProblem: the attribute cannot take the value.
    """
    try:
        typed = _read(attribute, value)
    except (TypeError, ArithmeticError):  # an object that only claims to be a number
        raise ValueProblem("wrong_type", f"cannot hold {describe(value)}") from None
    return _inside(attribute, typed) if attribute.has_domain else typed


def _read(attribute: "Attribute", value: object) -> Value:
    """The value as the attribute's type holds it."""
    if attribute.scale:
        return _read_decimal(value, attribute.scale)
    if attribute.clock == "day":
        return _read_day(value)
    return _READERS[attribute.type](value)


def shown(attribute: "Attribute", value: Value) -> str:
    """A canonical number as people write it."""
    if attribute.scale and isinstance(value, int):
        return decimal_text(decimal_of(value, attribute.scale))
    return str(value)


def _inside(attribute: "Attribute", value: Value) -> Value:
    """The value checked against the declared domain first, then rounded to its step."""
    if attribute.values is not None and value not in attribute.values:
        shown = ", ".join(attribute.values[:5]) + (", …" if len(attribute.values) > 5 else "")
        raise ValueProblem("not_listed", f"{value!r} is not one of its listed values ({shown})")
    if isinstance(value, str):
        return value
    if isnan(value):
        raise ValueProblem("out_of_range", "NaN lies outside every declared domain")
    if attribute.min is not None and value < attribute.min:
        raise _beyond(attribute, value, "below its minimum", attribute.min)
    if attribute.max is not None and value > attribute.max:
        raise _beyond(attribute, value, "above its maximum", attribute.max)
    return value if attribute.grid is None else _on_step(attribute.grid, value)


def _beyond(attribute: "Attribute", value: Value, place: str, bound: float) -> ValueProblem:
    text = f"{shown(attribute, value)} is {place} {shown(attribute, bound)}"
    return ValueProblem("out_of_range", text)


def _on_step(grid: "Grid", value: float) -> Value:
    """The whole step nearest to a value, where the type can hold it."""
    if not isfinite(value):
        raise ValueProblem("out_of_range", f"{value} lies on no step")
    try:
        rounded = grid.round(value)
    except OverflowError:
        raise ValueProblem("out_of_range", "its step is too large for a double") from None
    if grid.whole and not INT_MIN <= rounded <= INT_MAX:
        raise ValueProblem("out_of_range", f"its step {rounded} does not fit into 64 bits")
    return rounded


def _read_int(value: object) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        if isinstance(value, float | Decimal):
            return _whole(value)
        raise ValueProblem("wrong_type", f"needs an int, not {describe(value)}")
    number = int(index(value))  # exactly an int, where the value is of a subclass
    if not INT_MIN <= number <= INT_MAX:
        raise ValueProblem("out_of_range", f"{_short(number)} does not fit into 64 bits")
    return number


def _whole(value: float | Decimal) -> int:
    """A number with a fraction part as an int, where that is exact."""
    if value != value or not isfinite(value):
        raise ValueProblem("not_finite", f"needs an int, not {value}")
    if value != int(value):
        raise ValueProblem("wrong_type", f"needs an int, not {value}")
    if isinstance(value, float) and abs(value) >= EXACT_FLOAT_MAX:
        raise ValueProblem("out_of_range", f"{value} is not exact as an int")
    return _read_int(int(value))


def _read_decimal(value: object, scale: int) -> int:
    """The units of a number, where it is a whole number of them; text is read as a number."""
    number = _number(value)
    if not number.is_finite():
        raise ValueProblem("not_finite", f"needs a decimal, not {value}")
    units = shifted(number, scale)
    if units.copy_abs() > UNITS_MAX:
        text = f"{describe(value)} needs more than {PRECISION_MAX} digits"
        raise ValueProblem("out_of_range", f"{text}, {scale} of them after the point")
    if units != units.to_integral_value():
        text = f"{describe(value)} has more than {scale} digits after the point"
        raise ValueProblem("wrong_type", text)
    if isinstance(value, float) and abs(units) >= EXACT_UNITS_MAX:
        text = f"{value} is not exact as a decimal; send it as a string"
        raise ValueProblem("out_of_range", text)
    return int(units)


def _number(value: object) -> Decimal:
    """The exact number that a value is or spells; a double stands for its shortest form."""
    if isinstance(value, Decimal):
        return value
    if isinstance(value, float):
        return Decimal(repr(float(value)))
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        return Decimal(value.strip())
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueProblem("wrong_type", f"needs a number, not {describe(value)}")
    return Decimal(index(value))


def _read_float(value: object) -> float:
    if isinstance(value, bool | datetime) or not hasattr(value, "__float__"):
        raise ValueProblem("wrong_type", f"needs a number, not {describe(value)}")
    try:
        number = float(value)
    except ValueError:  # a signalling NaN, or a string that hides in a number's clothes
        raise ValueProblem("wrong_type", f"needs a number, not {describe(value)}") from None
    except OverflowError:
        raise ValueProblem("out_of_range", "is too large for a double") from None
    if not isfinite(number) and isinstance(value, int | Decimal):
        raise ValueProblem("out_of_range", "is too large for a double")
    return number


def _read_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if type(value).__name__ in ("bool_", "bool"):  # numpy's, without importing numpy
        return bool(value)
    raise ValueProblem("wrong_type", f"needs true or false, not {describe(value)}")


def _read_string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueProblem("wrong_type", f"needs a string, not {describe(value)}")
    if not is_text(value):
        raise ValueProblem("malformed", "has a lone surrogate, which is no character")
    return str.__str__(value)  # exactly a string, where the value is of a subclass


def is_text(text: str) -> bool:
    """Whether every part of a string is a character: half of a surrogate pair is none."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _read_time(value: object) -> int:
    if isinstance(value, datetime):
        if value != value:  # pandas' NaT is a datetime that is no time
            raise ValueProblem("wrong_type", "needs a time, not NaT")
        return time_micros(value)
    if not isinstance(value, str):
        raise ValueProblem("wrong_type", f"needs an ISO 8601 time, not {describe(value)}")
    try:
        return parse_time(value)
    except ValueError as error:
        raise ValueProblem("bad_time", str(error)) from None


def _read_day(value: object) -> int:
    """The first moment of a day."""
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    micros = _read_time(value)
    if micros % DAY_MICROS:
        raise ValueProblem("bad_time", f"needs a date without a time of day, not {value}")
    return micros


_READERS: dict[str, Callable[[object], Value]] = {
    "int": _read_int,
    "float": _read_float,
    "bool": _read_bool,
    "string": _read_string,
    "timestamp": _read_time,
}


def describe(value: object) -> str:
    """A value as an error message shows it: short, with its kind."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float | Decimal):
        return f"the number {_short(value)}"
    if isinstance(value, str):
        return f"the string {value[:40]!r}" + ("…" if len(value) > 40 else "")
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "an array"
    return type(value).__name__


def _short(number: float | Decimal) -> str:
    """A number in at most some forty characters."""
    if isinstance(number, int) and number.bit_length() > 130:
        return f"an integer of {number.bit_length()} bits"
    text = str(number)
    return text if len(text) <= 40 else f"{text[:40]}…"
