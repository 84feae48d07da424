"""How often a predicate holds, guessed from its form: what is looked at first, and what is indexed.

The guess depends on the attribute and on the kind of the predicate, never on its constants: filters
of one shape get one plan.
"""

from math import prod

from wherecast.language.meaning.expression import (
    And,
    Between,
    Compared,
    Comparison,
    Distance,
    Expression,
    Member,
    Missing,
    Or,
    Pattern,
    Predicate,
)
from wherecast.model import Attribute

_EQUAL, _BELOW, _BETWEEN, _PATTERN, _MISSING, _COMPARED, _NEAR = (
    0.01,
    0.4,
    0.15,
    0.15,
    0.1,
    0.4,
    0.05,
)
_MEMBERS_MAX = 0.5


def chance(node: Expression) -> float:
    """The share of publications on which an expression with NOT at its leaves holds."""
    if isinstance(node, And):
        return prod(map(chance, node.parts))
    if isinstance(node, Or):
        return 1.0 - prod(1.0 - chance(part) for part in node.parts)
    return _leaf_chance(node)  # type: ignore[arg-type]


def _leaf_chance(leaf: Predicate) -> float:
    match leaf:
        case Comparison(attribute, "="):
            return _equal(attribute)
        case Comparison(attribute, "<>"):
            return 1.0 - _equal(attribute)
        case Comparison():
            return _BELOW
        case Between():
            return _BETWEEN
        case Member(attribute, values, is_negated):
            share = min(_MEMBERS_MAX, _equal(attribute) * len(values))
            return 1.0 - share if is_negated else share
        case Pattern():
            return 1.0 - _PATTERN if leaf.negated else _PATTERN
        case Missing():
            return 1.0 - _MISSING if leaf.negated else _MISSING
        case Compared():
            return _COMPARED
        case Distance():
            return _NEAR if leaf.operator in ("<", "<=") else 1.0 - _NEAR
    return 1.0


def _equal(attribute: Attribute) -> float:
    if attribute.type == "bool":
        return 0.5
    return 1.0 / len(attribute.values) if attribute.values else _EQUAL
