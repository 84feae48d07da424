"""The normal form of a filter: a disjunction of conjunctions, one constraint per attribute.

    expression → NOT at the leaves → conjunctions of predicates → one constraint per attribute

NOT moves inwards by De Morgan's laws, which hold in three-valued logic; each predicate then
becomes its complement, which is unknown where the predicate was. A conjunction that can never be
true is left out, with the reason. What no constraint can say stays as the residual.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from wherecast.language.meaning.constraint import Conflict, Constraint, constrain
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
from wherecast.language.text.write import write
from wherecast.model import Attribute, FilterError, Limits

Residual = Compared | Distance


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Constraints that must all hold, by attribute name, and the residual, by its text."""

    constraints: tuple[Constraint, ...]
    residual: tuple[Residual, ...] = ()


@dataclass(frozen=True, slots=True)
class NormalForm:
    """The conjunctions of which one must hold; none where the filter can never match.

    Attributes:
        conjunctions: those that can hold.
        impossible: for each one that cannot, the reason.
    """

    conjunctions: tuple[Conjunction, ...]
    impossible: tuple[str, ...] = ()


def normalise(expression: Expression, limits: Limits) -> NormalForm:
    """The normal form of an expression.

    Raises:
        FilterError: it has more conjunctions than the limit; nothing was expanded.
    """
    conjunctions: list[Conjunction] = []
    impossible: list[str] = []
    for leaves in conjunctions_of(expression, limits):
        try:
            conjunctions.append(_conjunction(leaves))
        except Conflict as conflict:
            impossible.append(str(conflict))
    return NormalForm(tuple(conjunctions), tuple(impossible))


def conjunctions_of(expression: Expression, limits: Limits) -> list[tuple[Predicate, ...]]:
    """The predicates of each conjunction, before constants are looked at."""
    pushed = _push(expression, negate=False)
    count = _count(pushed)
    if count > limits.conjunctions_max:
        message = (
            f"the filter has {count} conjunctions in its normal form,"
            f" the limit is {limits.conjunctions_max}"
        )
        raise FilterError(message, hint="use IN, or several subscriptions", code="limit")
    return list(_expand(pushed))


def by_attribute(leaves: Sequence[Predicate]) -> dict[Attribute, list[Predicate]]:
    """The predicates on one attribute each, grouped by it, in the order of names."""
    groups: dict[Attribute, list[Predicate]] = {}
    for leaf in leaves:
        if not isinstance(leaf, Compared | Distance | Truth):
            groups.setdefault(leaf.attribute, []).append(leaf)
    return dict(sorted(groups.items(), key=lambda item: (item[0].name, item[0].type)))


def _conjunction(leaves: Sequence[Predicate]) -> Conjunction:
    for leaf in leaves:
        if isinstance(leaf, Truth) and leaf.value is not True:
            raise Conflict("a comparison with NULL is never true" if leaf.value is None
                           else "FALSE is never true")  # fmt: skip
    constraints = tuple(constrain(attribute, on) for attribute, on in by_attribute(leaves).items())
    residual = {leaf for leaf in leaves if isinstance(leaf, Compared | Distance)}
    return Conjunction(constraints, tuple(sorted(residual, key=write)))


def _push(part: Expression, negate: bool) -> Expression:
    """The same meaning with NOT only inside predicates."""
    match part:
        case Not(inner):
            return _push(inner, not negate)
        case And(parts) | Or(parts):
            pushed = tuple(_push(inner, negate) for inner in parts)
            return And(pushed) if isinstance(part, And) != negate else Or(pushed)
    return _complement(part) if negate else part


def _complement(leaf: Predicate) -> Expression:
    """The predicate that is true where `leaf` is false, and unknown where it is unknown."""
    match leaf:
        case Comparison() | Compared() | Distance():
            return replace(leaf, operator=NEGATED[leaf.operator])
        case Member() | Pattern() | Missing():
            return replace(leaf, negated=not leaf.negated)
        case Between(attribute, low, high, fold):
            outside = (
                Comparison(attribute, "<", low, fold),
                Comparison(attribute, ">", high, fold),
            )
            return Or(outside)
        case Truth(value):
            return Truth(None if value is None else not value)


def _count(part: Expression) -> int:
    """How many conjunctions a pushed expression expands to."""
    if isinstance(part, Or):
        return sum(_count(inner) for inner in part.parts)
    if isinstance(part, And):
        total = 1
        for inner in part.parts:
            total *= _count(inner)
        return total
    return 1


def _expand(part: Expression) -> Iterator[tuple[Predicate, ...]]:
    """The conjunctions of a pushed expression."""
    if isinstance(part, Or):
        for inner in part.parts:
            yield from _expand(inner)
    elif isinstance(part, And):
        for combination in product(*(list(_expand(inner)) for inner in part.parts)):
            yield tuple(leaf for leaves in combination for leaf in leaves)
    else:
        assert not isinstance(part, Not)
        yield (part,)
