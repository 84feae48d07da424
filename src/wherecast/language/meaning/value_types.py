"""The types of formulas: those of attributes, and those that only appear on the way.

They are Spark's. An int is 64 bits wide; a decimal attribute has 18 digits; a number without a
point is an int, one with a point a decimal, one with an exponent a double.
"""

from dataclasses import dataclass
from typing import Literal

from wherecast.model import Attribute
from wherecast.model.decimals import PRECISION_MAX

ValueKind = Literal[
    "null", "bool", "int", "decimal", "float", "string", "timestamp", "timestamp_ntz", "date",
    "interval", "array",
]  # fmt: skip
DIGITS_MAX = 38
INT_DIGITS = 20  # of a decimal that holds any 64-bit int
_SCALE_MIN = 6  # digits after the point that a result keeps where it has too many
_TIMES = ("date", "timestamp_ntz", "timestamp")


class TypeProblem(ValueError):
    """Operands whose types do not go together; the text says which."""


class ArgumentProblem(TypeProblem):
    """An argument of a function that has the wrong type, counted from 0."""

    def __init__(self, place: int, wanted: str, given: "ValueType") -> None:
        super().__init__(f"needs {wanted} here, not {given}")
        self.place = place


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a formula's value.

    Attributes:
        kind: what it is.
        digits: of a decimal, how many it has at most.
        scale: of a decimal, how many of these stand after the point.
        element: of an array, the kind of its elements.
    """

    kind: ValueKind
    digits: int = 0
    scale: int = 0
    element: ValueKind = "null"

    def __str__(self) -> str:
        if self.kind == "decimal":
            return f"decimal({self.digits},{self.scale})"
        return f"array<{self.element}>" if self.kind == "array" else self.kind

    @property
    def is_number(self) -> bool:
        """Whether values are numbers."""
        return self.kind in ("int", "decimal", "float")

    @property
    def is_time(self) -> bool:
        """Whether values are times or dates."""
        return self.kind in _TIMES


NULL = ValueType("null")
BOOL = ValueType("bool")
INT = ValueType("int")
FLOAT = ValueType("float")
STRING = ValueType("string")
TIMESTAMP = ValueType("timestamp")
TIMESTAMP_NTZ = ValueType("timestamp_ntz")
DATE = ValueType("date")
INTERVAL = ValueType("interval")


def decimal(digits: int, scale: int) -> ValueType:
    """A decimal type; beyond 38 digits it gives up digits after the point, as Spark does."""
    if digits > DIGITS_MAX:
        whole = digits - scale
        scale = max(DIGITS_MAX - whole, min(scale, _SCALE_MIN))
        digits = DIGITS_MAX
    return ValueType("decimal", digits, scale)


def type_of(attribute: Attribute) -> ValueType:
    """The type of an attribute's values."""
    if attribute.scale:
        return ValueType("decimal", PRECISION_MAX, attribute.scale)
    if attribute.type == "timestamp":
        return {"utc": TIMESTAMP, "local": TIMESTAMP_NTZ, "day": DATE}[attribute.clock]
    if attribute.type == "any":
        raise TypeProblem(f"{attribute.name} has no type")
    if attribute.element is not None:
        return ValueType("array", element=attribute.element)  # type: ignore[arg-type]
    return ValueType(attribute.type)  # type: ignore[arg-type]


def as_decimal(one: ValueType) -> ValueType:
    """The decimal type that holds every value of an int or decimal type."""
    return one if one.kind == "decimal" else ValueType("decimal", INT_DIGITS, 0)


def common(types: list[ValueType]) -> ValueType:
    """The narrowest type that holds the values of all, as Spark widens them.

    Raises:
        TypeProblem: there is none.
    """
    result = NULL
    for one in types:
        result = _wider(result, one)
    return result


def _wider(left: ValueType, right: ValueType) -> ValueType:
    if left == right or right.kind == "null":
        return left
    if left.kind == "null":
        return right
    if left.is_number and right.is_number:
        if "float" in (left.kind, right.kind):
            return FLOAT
        left, right = as_decimal(left), as_decimal(right)
        scale = max(left.scale, right.scale)
        whole = max(left.digits - left.scale, right.digits - right.scale)
        scale = min(scale, DIGITS_MAX - whole)  # digits before the point come first
        return ValueType("decimal", whole + scale, scale)
    if left.is_time and right.is_time:
        return max(left, right, key=lambda one: _TIMES.index(one.kind))
    raise TypeProblem(f"{left} and {right} do not go together")
