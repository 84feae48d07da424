"""The expression of a filter: predicates joined by AND, OR and NOT.

A predicate speaks of one attribute and constants, except `Compared` (two attributes) and
`Distance` (a position). The attribute may be derived: computed from others by a formula. Constants
are canonical values; the constant of an int attribute may also be a number that no int equals, such
as the 2.5 of `count > 2.5`.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from wherecast.model import Attribute, Value

Operator = Literal["=", "<>", "<", "<=", ">", ">="]
PatternKind = Literal["like", "ilike", "rlike", "prefix", "suffix", "contains"]
Constant = Value | Decimal

NEGATED: dict[Operator, Operator] = {
    "=": "<>",
    "<>": "=",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}
FLIPPED: dict[Operator, Operator] = {
    "=": "=",
    "<>": "<>",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """`attribute op value`."""

    attribute: Attribute
    operator: Operator
    value: Constant


@dataclass(frozen=True, slots=True)
class Between:
    """`attribute BETWEEN low AND high`, both included."""

    attribute: Attribute
    low: Constant
    high: Constant


@dataclass(frozen=True, slots=True)
class Member:
    """`attribute [NOT] IN (values)`; with NULL in the list it is never false, only unknown."""

    attribute: Attribute
    values: tuple[Constant, ...]
    negated: bool = False
    has_null: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A string attribute against a pattern, a prefix, a suffix, a part or an expression."""

    attribute: Attribute
    kind: PatternKind
    text: str
    escape: str = "\\"
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Missing:
    """`attribute IS [NOT] NULL`, which is never unknown."""

    attribute: Attribute
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """Two attributes compared."""

    left: Attribute
    operator: Operator
    right: Attribute


@dataclass(frozen=True, slots=True)
class Distance:
    """The metres between a position and a fixed point, compared with a constant."""

    latitude: Attribute
    longitude: Attribute
    point: tuple[float, float]
    operator: Operator
    metres: float


@dataclass(frozen=True, slots=True)
class Truth:
    """A constant: true, false, or unknown (a comparison with NULL)."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class And:
    """True where all parts are."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True where some part is."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """True where the part is false."""

    part: "Expression"


Predicate = Comparison | Between | Member | Pattern | Missing | Compared | Distance | Truth
Expression = Predicate | And | Or | Not


def predicates(expression: Expression) -> list[Predicate]:
    """The predicates of an expression, in the order of the text."""
    found: list[Predicate] = []
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, And | Or):
            waiting.extend(reversed(part.parts))
        elif isinstance(part, Not):
            waiting.append(part.part)
        else:
            found.append(part)
    return found


def attributes_of(predicate: Predicate) -> tuple[Attribute, ...]:
    """The attributes that a predicate looks at."""
    if isinstance(predicate, Compared):
        return (predicate.left, predicate.right)
    if isinstance(predicate, Distance):
        return (predicate.latitude, predicate.longitude)
    return () if isinstance(predicate, Truth) else (predicate.attribute,)
