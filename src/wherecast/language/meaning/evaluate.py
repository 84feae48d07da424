"""What an expression says of one canonical row: True, False, or None for unknown.

This is the definition that everything faster is compared with: one table of comparisons, one of
patterns, one function per kind of predicate, and Kleene's three-valued AND, OR and NOT.
"""

from collections.abc import Callable, Mapping
from operator import contains as _contains
from typing import Any

from wherecast.language.meaning.expression import (
    And,
    Between,
    Compared,
    Comparison,
    Distance,
    Expression,
    Fold,
    Member,
    Missing,
    Not,
    Or,
    Pattern,
    Truth,
)
from wherecast.language.meaning.geo import haversine_metres
from wherecast.language.meaning.patterns import ilike, like
from wherecast.language.meaning.regex import rlike
from wherecast.model import Attribute, Value

Row = Mapping[str, Value]
Verdict = bool | None


def order(left: Any, right: Any) -> int:
    """-1, 0 or 1; NaN equals itself and is greater than every number, as in Spark."""
    if left == right:
        return 0
    if left < right:
        return -1
    if left > right:
        return 1
    return int(left != left) - int(right != right)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: order(left, right) == 0,
    "<>": lambda left, right: order(left, right) != 0,
    "<": lambda left, right: order(left, right) < 0,
    "<=": lambda left, right: order(left, right) <= 0,
    ">": lambda left, right: order(left, right) > 0,
    ">=": lambda left, right: order(left, right) >= 0,
}

PATTERNS: dict[str, Callable[[str, str, str], bool]] = {
    "like": like,
    "ilike": ilike,
    "prefix": lambda value, text, _: value.startswith(text),
    "suffix": lambda value, text, _: value.endswith(text),
    "contains": lambda value, text, _: _contains(value, text),
}

_FOLDS: dict[Fold, Callable[[Any], Any]] = {
    "": lambda value: value,
    "lower": str.lower,
    "upper": str.upper,
}
_PYTHON: dict[str, type] = {
    "int": int,
    "float": float,
    "bool": bool,
    "string": str,
    "timestamp": int,
}


def row_value(attribute: Attribute, row: Row, fold: Fold = "") -> Any:
    """The value that a row has for an attribute, or None.

    In an open schema an attribute may arrive with another type than a filter expects; to that
    filter it is missing.
    """
    value = row.get(attribute.name)
    if value is None or type(value) is not _PYTHON[attribute.type]:
        return None
    return _FOLDS[fold](value) if fold else value


def _comparison(leaf: Comparison, row: Row) -> Verdict:
    value = row_value(leaf.attribute, row, leaf.fold)
    return None if value is None else COMPARISONS[leaf.operator](value, leaf.value)


def _between(leaf: Between, row: Row) -> Verdict:
    value = row_value(leaf.attribute, row, leaf.fold)
    return None if value is None else order(leaf.low, value) <= 0 <= order(leaf.high, value)


def _member(leaf: Member, row: Row) -> Verdict:
    value = row_value(leaf.attribute, row, leaf.fold)
    if value is None:
        return None
    if value in leaf.values:
        return not leaf.negated
    return None if leaf.has_null else leaf.negated


def _pattern(leaf: Pattern, row: Row) -> Verdict:
    value = row_value(leaf.attribute, row, leaf.fold)
    if value is None:
        return None
    if leaf.kind == "rlike":
        found = rlike(value, leaf.text)
        return None if found is None else found != leaf.negated
    return PATTERNS[leaf.kind](value, leaf.text, leaf.escape) != leaf.negated


def _missing(leaf: Missing, row: Row) -> Verdict:
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
