"""NOT moved to the predicates, by De Morgan's laws, which hold in three-valued logic.

Each predicate then becomes its complement, which is unknown where the predicate was.
"""

from dataclasses import replace

from wherecast.language.meaning.expression import (
    NEGATED,
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
    Predicate,
    Truth,
)


def pushed(part: Expression, negate: bool = False) -> Expression:
    """The same meaning, or its negation, with NOT only inside predicates."""
    match part:
        case Not(inner):
            return pushed(inner, not negate)
        case And(parts) | Or(parts):
            inside = tuple(pushed(inner, negate) for inner in parts)
            return And(inside) if isinstance(part, And) != negate else Or(inside)
    return _complement(part) if negate else part


def _complement(leaf: Predicate) -> Expression:
    """The predicate that is true where `leaf` is false, and unknown where it is unknown."""
    match leaf:
        case Comparison() | Compared() | Distance():
            return replace(leaf, operator=NEGATED[leaf.operator])
        case Member() | Pattern() | Missing():
            return replace(leaf, negated=not leaf.negated)
        case Between(attribute, low, high):
            return Or((Comparison(attribute, "<", low), Comparison(attribute, ">", high)))
        case Truth(value):
            return Truth(None if value is None else not value)
