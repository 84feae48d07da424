"""What an expression says of one canonical row: True, False, or None for unknown.

This is the definition that everything faster is compared with: one function per kind of predicate,
and Kleene's three-valued AND, OR and NOT.
"""

from collections.abc import Callable, Mapping
from typing import Any

from wherecast.language.meaning.comparing import COMPARISONS, order
from wherecast.language.meaning.derived import Derived
from wherecast.language.meaning.element import Element
from wherecast.language.meaning.evaluate_formula import formula_value
from wherecast.language.meaning.expression import (
    And,
    Between,
    Compared,
    Comparison,
    Distance,
    Expression,
    Member,
    Missing,
    Not,
    Or,
    Pattern,
    Truth,
)
from wherecast.language.meaning.geo import haversine_metres
from wherecast.language.meaning.patterns import pattern_verdict
from wherecast.model import Attribute, Value

Row = Mapping[str, Value]
Verdict = bool | None


_PYTHON: dict[str, type] = {
    "int": int,
    "float": float,
    "bool": bool,
    "string": str,
    "timestamp": int,
}


def row_value(attribute: Attribute, row: Row) -> Any:
    """The value that a row has for an attribute, or None.

    In an open schema an attribute may arrive with another type than a filter expects; to that
    filter it is missing.
    """
    if isinstance(attribute, Derived):
        value = formula_value(
            attribute.formula, lambda one: row_value(one, row), lambda part: evaluate(part, row)
        )
        return attribute.held(value)
    value = row.get(attribute.name)
    wanted = tuple if attribute.element else _PYTHON.get(attribute.type)
    return value if type(value) is wanted else None


def _comparison(leaf: Comparison, row: Row) -> Verdict:
    value = row_value(leaf.attribute, row)
    return None if value is None else COMPARISONS[leaf.operator](value, leaf.value)


def _between(leaf: Between, row: Row) -> Verdict:
    value = row_value(leaf.attribute, row)
    return None if value is None else order(leaf.low, value) <= 0 <= order(leaf.high, value)


def _member(leaf: Member, row: Row) -> Verdict:
    if isinstance(leaf.attribute, Element) and leaf.attribute.array is not None:
        return _element(leaf, row_value(leaf.attribute.array, row))
    value = row_value(leaf.attribute, row)
    if value is None:
        return None
    if value in leaf.values:
        return not leaf.negated
    return None if leaf.has_null else leaf.negated


def _element(leaf: Member, array: tuple[Any, ...] | None) -> Verdict:
    """Whether some element of an array is one of the values."""
    if array is None:
        return None
    if any(one is not None and order(one, value) == 0 for one in array for value in leaf.values):
        return not leaf.negated
    return None if None in array else leaf.negated


def _pattern(leaf: Pattern, row: Row) -> Verdict:
    value = row_value(leaf.attribute, row)
    if value is None:
        return None
    return pattern_verdict(leaf, value)


def _missing(leaf: Missing, row: Row) -> Verdict:
    if isinstance(leaf.attribute, Derived):
        return (row_value(leaf.attribute, row) is None) != leaf.negated
    return (row.get(leaf.attribute.name) is None) != leaf.negated


def _compared(leaf: Compared, row: Row) -> Verdict:
    left, right = row_value(leaf.left, row), row_value(leaf.right, row)
    if left is None or right is None:
        return None
    if {leaf.left.type, leaf.right.type} == {"int", "float"}:  # as Spark widens them
        left, right = left / 10**leaf.left.scale, right / 10**leaf.right.scale
    elif leaf.left.scale != leaf.right.scale:
        left, right = left * 10**leaf.right.scale, right * 10**leaf.left.scale
    return COMPARISONS[leaf.operator](left, right)


def _distance(leaf: Distance, row: Row) -> Verdict:
    latitude, longitude = row_value(leaf.latitude, row), row_value(leaf.longitude, row)
    if latitude is None or longitude is None:
        return None
    metres = haversine_metres(latitude, longitude, leaf.point)
    return COMPARISONS[leaf.operator](metres, leaf.metres)


def _truth(leaf: Truth, row: Row) -> Verdict:
    return leaf.value


def _not(part: Not, row: Row) -> Verdict:
    verdict = evaluate(part.part, row)
    return None if verdict is None else not verdict


def _and(part: And, row: Row) -> Verdict:
    result: Verdict = True
    for inner in part.parts:
        verdict = evaluate(inner, row)
        if verdict is False:
            return False
        if verdict is None:
            result = None
    return result


def _or(part: Or, row: Row) -> Verdict:
    result: Verdict = False
    for inner in part.parts:
        verdict = evaluate(inner, row)
        if verdict is True:
            return True
        if verdict is None:
            result = None
    return result


LEAVES: dict[type, Callable[[Any, Row], Verdict]] = {
    Comparison: _comparison,
    Between: _between,
    Member: _member,
    Pattern: _pattern,
    Missing: _missing,
    Compared: _compared,
    Distance: _distance,
    Truth: _truth,
    And: _and,
    Or: _or,
    Not: _not,
}


def evaluate(expression: Expression, row: Row) -> Verdict:
    """The verdict of an expression on a row; only True is a match."""
    return LEAVES[type(expression)](expression, row)
