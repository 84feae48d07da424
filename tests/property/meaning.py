"""What a normal form says of a row: a second, plain reading of its records, for the tests."""

from fractions import Fraction
from typing import Any

from wherecast.language.meaning.constraint import Constraint
from wherecast.language.meaning.expression import Distance, Pattern
from wherecast.language.meaning.geo import haversine_metres
from wherecast.language.meaning.keys import value_of
from wherecast.language.meaning.normal_form import Conjunction, NormalForm
from wherecast.model import Attribute


def holds(form: NormalForm, row: dict[str, Any]) -> bool:
    """Whether some conjunction of a normal form holds on a canonical row."""
    return any(conjunction_holds(conjunction, row) for conjunction in form.conjunctions)


def value_in(attribute: Attribute, row: dict[str, Any]) -> Any:
    """The value of an attribute in a row; of derived ones, lower and upper are known here."""
    for function in (str.lower, str.upper):
        name = function.__name__
        if attribute.name.startswith(f"{name}(") and attribute.name.endswith(")"):
            value = row.get(attribute.name[len(name) + 1 : -1].strip("`"))
            return function(value) if isinstance(value, str) else None
    return row.get(attribute.name)


def conjunction_holds(conjunction: Conjunction, row: dict[str, Any]) -> bool:
    return all(constraint_holds(c, row) for c in conjunction.constraints) and all(
        residual_holds(leaf, row) for leaf in conjunction.residual
    )


def constraint_holds(constraint: Constraint, row: dict[str, Any]) -> bool:
    attribute = constraint.attribute
    value = value_in(attribute, row)
    if constraint.presence == "missing":
        return value is None
    if value is None:
        return False
    if attribute.type == "string":
        return _text_holds(constraint, value)

    def number(key: Any) -> Any:
        return value_of(attribute.type, key)

    if constraint.values is not None:
        return any(_equal(value, number(key)) for key in constraint.values)
    if constraint.low is not None and _less(value, number(constraint.low)):
        return False
    if constraint.high is not None and _less(number(constraint.high), value):
        return False
    return not any(_equal(value, number(key)) for key in constraint.excluded)


def _text_holds(constraint: Constraint, value: str) -> bool:
    if constraint.values is not None:
        return value in constraint.values
    text = value.encode()
    low, high = constraint.low, constraint.high
    if low is not None and text < str(low).encode():
        return False
    if high is not None and text >= str(high).encode():
        return False
    return value not in constraint.excluded and all(
        pattern_holds(pattern, value) for pattern in constraint.patterns
    )


def pattern_holds(leaf: Any, value: str) -> bool:
    """A predicate on a string that is no plain comparison."""
    assert isinstance(leaf, Pattern)
    found = {
        "prefix": lambda: value[: len(leaf.text)] == leaf.text,
        "suffix": lambda: not leaf.text or value[-len(leaf.text) :] == leaf.text,
        "contains": lambda: value.find(leaf.text) >= 0,
        "like": lambda: like(value, leaf.text, leaf.escape),
        "ilike": lambda: like(value.lower(), leaf.text.lower(), leaf.escape),
    }[leaf.kind]()
    return found != leaf.negated


def like(value: str, pattern: str, escape: str) -> bool:
    """LIKE by its definition, one character at a time."""
    if not pattern:
        return not value
    if pattern[0] == escape:
        return value[:1] == pattern[1] and like(value[1:], pattern[2:], escape)
    if pattern[0] == "%":
        return any(like(value[start:], pattern[1:], escape) for start in range(len(value) + 1))
    return bool(value) and pattern[0] in ("_", value[0]) and like(value[1:], pattern[1:], escape)


def residual_holds(leaf: Any, row: dict[str, Any]) -> bool:
    """Two attributes compared, or a distance."""
    if isinstance(leaf, Distance):
        latitude, longitude = row.get(leaf.latitude.name), row.get(leaf.longitude.name)
        if latitude is None or longitude is None:
            return False
        metres = haversine_metres(latitude, longitude, leaf.point)
        return _operator(leaf.operator, metres, leaf.metres)
    left, right = row.get(leaf.left.name), row.get(leaf.right.name)
    if left is None or right is None:
        return False
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    left = Fraction(left, 10**leaf.left.scale) if leaf.left.scale else left
    right = Fraction(right, 10**leaf.right.scale) if leaf.right.scale else right
    if float in (type(left), type(right)):
        left, right = float(left), float(right)
    return _operator(leaf.operator, left, right)


def _operator(operator: str, left: Any, right: Any) -> bool:
    return {
        "=": _equal(left, right),
        "<>": not _equal(left, right),
        "<": _less(left, right),
        "<=": not _less(right, left),
        ">": _less(right, left),
        ">=": not _less(left, right),
    }[operator]


def _less(left: Any, right: Any) -> bool:
    """Order with NaN above everything."""
    if left != left or right != right:
        return left == left
    return bool(left < right)


def _equal(left: Any, right: Any) -> bool:
    return bool(left == right) or (left != left and right != right)
