"""The normal form of a filter: a disjunction of conjunctions, one constraint per attribute.

    expression → NOT at the leaves → conjunctions of predicates → one constraint per attribute

A conjunction that can never be true is left out, with the reason. What no constraint can say stays
as the residual.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from wherecast.language.meaning.constraint import Conflict, Constraint, constrain
from wherecast.language.meaning.element import Element, is_element_test
from wherecast.language.meaning.expression import (
    And,
    Compared,
    Distance,
    Expression,
    Member,
    Not,
    Or,
    Predicate,
    Truth,
)
from wherecast.language.meaning.negation import pushed
from wherecast.language.text.write import write
from wherecast.model import Attribute, Limits

Residual = Compared | Distance | Member
"""A `Member` asks for an element of an array."""


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
        is_exact: whether the filter matches wherever a conjunction holds; otherwise it only matches
            nowhere else.
    """

    conjunctions: tuple[Conjunction, ...]
    impossible: tuple[str, ...] = ()
    is_exact: bool = True


def normalise(expression: Expression, limits: Limits) -> NormalForm:
    """The normal form of an expression; beyond the limit of conjunctions it is only a cover."""
    node = pushed(expression)
    if count_conjunctions(node, limits.conjunctions_max) <= limits.conjunctions_max:
        return form_of(conjunctions_of(node))
    from wherecast.language.meaning.index_plan import plan

    return replace(form_of(plan(expression).conjunctions), is_exact=False)


def form_of(conjunctions: Iterable[Sequence[Predicate]]) -> NormalForm:
    """The normal form of conjunctions of predicates."""
    possible: list[Conjunction] = []
    impossible: list[str] = []
    for leaves in conjunctions:
        try:
            possible.append(_conjunction(leaves))
        except Conflict as conflict:
            impossible.append(str(conflict))
    return NormalForm(tuple(possible), tuple(impossible))


def conjunctions_of(node: Expression) -> list[tuple[Predicate, ...]]:
    """The predicates of each conjunction of an expression with NOT at its leaves."""
    return list(_expand(node))


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
            if leaf.value is False:
                raise Conflict("FALSE is never true")
            raise Conflict("a comparison with NULL is never true; write IS NULL or IS NOT NULL")
    groups = by_attribute(leaves)
    constraints = tuple(
        constrain(attribute, on)
        for attribute, on in groups.items()
        if not isinstance(attribute, Element)
    )
    residual = {
        leaf for leaf in leaves if isinstance(leaf, Compared | Distance) or is_element_test(leaf)
    }
    for leaf in residual:
        if isinstance(leaf, Member):
            constrain(leaf.attribute, [leaf])  # which tells whether an element can satisfy it
    return Conjunction(constraints, tuple(sorted(residual, key=write)))  # type: ignore[arg-type]


def count_conjunctions(node: Expression, most: int) -> int:
    """How many conjunctions an expression expands to; more than `most` is any number above it."""
    if not isinstance(node, And | Or):
        return 1
    counts = (count_conjunctions(part, most) for part in node.parts)
    total = sum(counts) if isinstance(node, Or) else _product(counts, most)
    return min(total, most + 1)


def _product(counts: Iterable[int], most: int) -> int:
    total = 1
    for count in counts:
        total = min(total * count, most + 1)
    return total


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
