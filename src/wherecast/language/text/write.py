"""An expression as the text of a WHERE clause that means the same."""

from decimal import Decimal

from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.element import Element
from wherecast.language.meaning.expression import (
    And,
    Between,
    Compared,
    Comparison,
    Constant,
    Distance,
    Expression,
    Member,
    Missing,
    Not,
    Or,
    Pattern,
    Truth,
)
from wherecast.language.meaning.formula import NOW
from wherecast.language.meaning.value_types import INTERVAL
from wherecast.language.text.names import name, quoted
from wherecast.language.text.steps import Interval
from wherecast.language.text.write_formula import constant_text, elapsed_side
from wherecast.model import Attribute, format_time
from wherecast.model.decimals import decimal_of, decimal_text

_MIDNIGHT = "T00:00:00Z"
_FUNCTIONS = {"prefix": "startswith", "suffix": "endswith", "contains": "contains"}


def write(expression: Expression) -> str:
    """The WHERE text of an expression."""
    return _write(expression, 0)


def _write(part: Expression, strength: int) -> str:
    """The text of a part inside something that binds with a strength: OR 1, AND 2, NOT 3."""
    if isinstance(part, Or):
        return _joined(part.parts, " OR ", 1, strength)
    if isinstance(part, And):
        return _joined(part.parts, " AND ", 2, strength)
    if isinstance(part, Not):
        text = f"NOT {_write(part.part, 3)}"
        return f"({text})" if strength > 3 else text
    return _predicate(part) if strength < 3 else f"({_predicate(part)})"


def _joined(parts: tuple[Expression, ...], word: str, own: int, strength: int) -> str:
    if not parts:
        return "TRUE" if own == 2 else "FALSE"
    text = word.join(_write(part, own if len(parts) > 1 else strength) for part in parts)
    return f"({text})" if own < strength and len(parts) > 1 else text


def _predicate(part: Expression) -> str:
    match part:
        case Truth(value):
            return {True: "TRUE", False: "FALSE", None: "NULL"}[value]
        case Comparison(Derived() as since, operator, int() as micros) if time := elapsed_side(
            since.formula
        ):
            return f"{time} {operator} {_from_now(micros)}"
        case Comparison(Derived(type="bool") as test, "=", True):
            return test.name
        case Comparison(Derived(type="bool") as test, "<>", True):
            return f"NOT ({test.name})"
        case Comparison(attribute, operator, value):
            return f"{operand(attribute)} {operator} {literal(attribute, value)}"
        case Between(attribute, low, high):
            bounds = f"{literal(attribute, low)} AND {literal(attribute, high)}"
            return f"{operand(attribute)} BETWEEN {bounds}"
        case Member(Element() as element, values, negated):
            return f"{'NOT ' * negated}{_element_test(element, values)}"
        case Member(attribute, values, negated, has_null):
            shown = [literal(attribute, value) for value in values] + ["NULL"] * has_null
            return f"{operand(attribute)} {'NOT ' * negated}IN ({', '.join(shown)})"
        case Pattern():
            return _pattern(part)
        case Missing(attribute, negated):
            return f"{operand(attribute)} IS {'NOT ' * negated}NULL"
        case Compared(left, operator, right):
            return f"{name(left.name)} {operator} {name(right.name)}"
        case Distance(latitude, longitude, point, operator, metres):
            place = f"{name(latitude.name)}, {name(longitude.name)}, {point[0]!r}, {point[1]!r}"
            return f"geo_distance({place}) {operator} {metres!r}"
    raise AssertionError(f"unknown predicate {part!r}")


def _element_test(element: Element, values: tuple[Constant, ...]) -> str:
    """That some element of an array is one of the values."""
    shown = [literal(element, value) for value in values]
    if len(shown) == 1:
        return f"array_contains({name(element.name)}, {shown[0]})"
    return f"arrays_overlap({name(element.name)}, array({', '.join(shown)}))"


def _from_now(micros: int) -> str:
    """A time so many microseconds from now."""
    sign = "-" if micros < 0 else "+"
    return (
        f"now() {sign} {constant_text(Interval(0, abs(micros)), INTERVAL)}" if micros else "now()"
    )


def _pattern(part: Pattern) -> str:
    subject = operand(part.attribute)
    if part.kind in _FUNCTIONS:
        return f"{'NOT ' * part.negated}{_FUNCTIONS[part.kind]}({subject}, {quoted(part.text)})"
    escape = "" if part.escape == "\\" or part.kind == "rlike" else f" ESCAPE {quoted(part.escape)}"
    word = part.kind.upper()
    return f"{subject} {'NOT ' * part.negated}{word} {quoted(part.text)}{escape}"


def operand(attribute: Attribute) -> str:
    """An attribute as a predicate writes it; a derived one by its formula."""
    if not isinstance(attribute, Derived):
        return name(attribute.name)
    return f"({attribute.name})" if attribute.type == "bool" else attribute.name


def shown_name(attribute: Attribute) -> str:
    """The name of an attribute as people read it."""
    return "now()" if attribute == NOW else attribute.name


def literal(attribute: Attribute, value: Constant) -> str:
    """A constant as a filter writes it."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return quoted(value)
    if attribute.type == "timestamp":
        assert isinstance(value, int)
        text = format_time(value)
        if attribute.clock == "day" and text.endswith(_MIDNIGHT):
            return f"DATE '{text.removesuffix(_MIDNIGHT)}'"
        return f"TIMESTAMP '{text}'"
    if attribute.scale and isinstance(value, int | Decimal):
        return decimal_text(decimal_of(value, attribute.scale))
    return format(value, "f") if isinstance(value, Decimal) else repr(value)
