"""What of a filter is indexed, and what decides the candidates that the index finds.

A filter of one or two conjunctions, or of a few short ones of plain predicates, is indexed as it
is. Of any other a *cover* is indexed: a few conjunctions of plain predicates, one of which holds
wherever the filter does. A *program* of tests then decides each candidate. NOT stands at the
predicates only, so that unknown may count as not true, and each test has two ways on.

A publication is searched for once with each element of an array, so a conjunction asks for one
element of one array at most. A filter that asks for more is decided by a program.

The plan depends on the shape of the filter, not on its constants.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from wherecast.language.meaning.chances import chance
from wherecast.language.meaning.derived import Derived, derive
from wherecast.language.meaning.element import is_element_test
from wherecast.language.meaning.expression import (
    And,
    Between,
    Comparison,
    Distance,
    Expression,
    Member,
    Missing,
    Not,
    Or,
    Predicate,
    Truth,
    attributes_of,
    predicates,
)
from wherecast.language.meaning.formula import Condition, formula_of
from wherecast.language.meaning.negation import pushed
from wherecast.language.meaning.normal_form import conjunctions_of, count_conjunctions

COVER_MAX = 8
"""Conjunctions of a filter that are indexed."""
MATCHES, FAILS = 0xFFFE, 0xFFFF
"""The ways on of a test that decides."""
_EXACT_MAX = 2  # conjunctions of any form that are indexed as they are
_CHANCE_MAX = 0.5  # of a part of an AND that is worth several conjunctions more

Leaves = tuple[Predicate, ...]
Cover = list[tuple[float, Leaves]]


@dataclass(frozen=True, slots=True)
class ProgramTest:
    """A test of a program: where it goes on if the leaf is true, and if it is not."""

    leaf: Predicate
    on_true: int
    on_false: int


@dataclass(frozen=True, slots=True)
class IndexPlan:
    """The plan of a filter.

    Attributes:
        conjunctions: the predicates of each conjunction that is indexed. One without predicates
            makes every publication a candidate.
        program: the tests that decide a candidate; empty where the conjunctions decide.
    """

    conjunctions: tuple[Leaves, ...]
    program: tuple[ProgramTest, ...] = ()


def plan(expression: Expression) -> IndexPlan:
    """The plan of an expression."""
    node = _simplified(pushed(expression))
    if isinstance(node, Truth):
        return IndexPlan(((node,),))
    indexed = _by_elements(node)
    count = count_conjunctions(indexed, COVER_MAX)
    exact = conjunctions_of(indexed) if count <= COVER_MAX else []
    few = bool(exact) and all(map(_decides, exact))
    has_derived = any(
        isinstance(attribute, Derived)
        for leaf in predicates(node)
        for attribute in attributes_of(leaf)
    )
    if few and not has_derived and (count <= _EXACT_MAX or _is_flat(indexed)):
        return IndexPlan(tuple(exact))
    found = _cover(indexed, with_derived=False)
    if found is None and few:
        return IndexPlan(tuple(exact))
    found = found or _cover(indexed, with_derived=True) or [(1.0, ())]
    return IndexPlan(tuple(leaves for _, leaves in found), _program(node))


def without_program(made: IndexPlan, expression: Expression) -> IndexPlan:
    """The same plan with the whole filter as a predicate of each conjunction.

    That takes the place of a program, and of what asks for the elements of arrays.
    """
    if not made.program and not asks_elements(made):
        return made
    whole = derive(formula_of(Condition(expression)))
    assert whole is not None
    test = Comparison(whole, "=", True)
    return IndexPlan(
        tuple(
            (*(leaf for leaf in leaves if not is_element_test(leaf)), test)
            for leaves in made.conjunctions
        )
    )


def asks_elements(made: IndexPlan) -> bool:
    """Whether a conjunction asks for an element of an array."""
    return any(is_element_test(leaf) for leaves in made.conjunctions for leaf in leaves)


def _by_elements(node: Expression) -> Expression:
    """The same with one element in each predicate that asks for elements of an array."""
    if isinstance(node, And | Or):
        return type(node)(tuple(map(_by_elements, node.parts)))
    if isinstance(node, Member) and is_element_test(node) and not node.negated:
        parts = tuple(replace(node, values=(value,)) for value in node.values)
        return Or(parts) if 1 < len(parts) <= COVER_MAX else node
    return node


def _decides(leaves: Leaves) -> bool:
    """Whether a search with one element of an array at a time finds where a conjunction holds."""
    asked = [leaf for leaf in leaves if is_element_test(leaf)]
    return len(asked) <= 1 and not any(isinstance(one, Member) and one.negated for one in asked)


def _simplified(node: Expression) -> Expression:
    """The same with constants only where nothing else is; what is not true is FALSE."""
    if isinstance(node, Truth):
        return Truth(node.value is True)
    if not isinstance(node, And | Or):
        return node
    neutral = isinstance(node, And)
    parts: list[Expression] = []
    for part in map(_simplified, node.parts):
        if isinstance(part, Truth):
            if part.value is not neutral:
                return part
        elif type(part) is type(node):
            parts += part.parts
        else:
            parts.append(part)
    if not parts:
        return Truth(neutral)
    return parts[0] if len(parts) == 1 else type(node)(tuple(parts))


def _is_flat(node: Expression) -> bool:
    """Whether a node is an AND of ORs or an OR of ANDs of plain predicates.

    Its conjunctions are short, or share their clauses, so they cost less than a program.
    """
    for part in node.parts if isinstance(node, And | Or) else (node,):
        for leaf in part.parts if isinstance(part, And | Or) else (part,):
            if isinstance(leaf, And | Or | Not | Truth) or not _is_plain(leaf, with_derived=False):
                return False
    return True


def _is_plain(leaf: Predicate, with_derived: bool) -> bool:
    """Whether an index finds few publications by a predicate."""
    match leaf:
        case Comparison(attribute, operator):
            is_selective = operator != "<>"
        case Between(attribute):
            is_selective = True
        case Member(attribute, _, is_negated) | Missing(attribute, is_negated):
            is_selective = not is_negated
        case Distance(attribute):
            is_selective = leaf.operator in ("<", "<=")
        case _:
            return False
    return is_selective and (with_derived or not isinstance(attribute, Derived))


def _cover(node: Expression, with_derived: bool) -> Cover | None:
    """Conjunctions of plain predicates of which one holds wherever the node does; None for TRUE."""
    if isinstance(node, Or):
        found: Cover = []
        for part in node.parts:
            cover = _cover(part, with_derived)
            if cover is None or len(found) + len(cover) > COVER_MAX:
                return None
            found += cover
        return found
    if isinstance(node, And):
        covers = [cover for part in node.parts if (cover := _cover(part, with_derived))]
        return _joined(sorted(covers, key=_total)) if covers else None
    assert not isinstance(node, Not)
    return [(chance(node), (node,))] if _is_plain(node, with_derived) else None


def _joined(covers: Sequence[Cover]) -> Cover:
    """The most selective cover, times every single predicate, times others that are worth it."""
    first, *rest = covers
    for other in rest:
        if _asks_elements(first) and _asks_elements(other):
            continue
        is_worth = _total(other) < _CHANCE_MAX and len(first) * len(other) <= COVER_MAX
        if len(other) == 1 or is_worth:
            first = [(a * b, left + right) for a, left in first for b, right in other]
    return first


def _asks_elements(cover: Cover) -> bool:
    return any(is_element_test(leaf) for _, leaves in cover for leaf in leaves)


def _total(cover: Cover) -> float:
    return sum(share for share, _ in cover)


@dataclass(slots=True)
class _Label:
    """A place of the program that is known once its test is written."""

    place: int = -1


def _program(node: Expression) -> tuple[ProgramTest, ...]:
    """The tests of an expression: what decides most often comes first."""
    tests: list[tuple[Predicate, _Label, _Label]] = []
    _emit(node, _Label(MATCHES), _Label(FAILS), tests)
    return tuple(ProgramTest(leaf, yes.place, no.place) for leaf, yes, no in tests)


def _emit(
    node: Expression, yes: _Label, no: _Label, tests: list[tuple[Predicate, _Label, _Label]]
) -> None:
    if not isinstance(node, And | Or):
        tests.append((node, yes, no))  # type: ignore[arg-type]
        return
    is_and = isinstance(node, And)
    *parts, last = sorted(node.parts, key=chance, reverse=not is_and)
    for part in parts:
        after = _Label()
        _emit(part, after if is_and else yes, no if is_and else after, tests)
        after.place = len(tests)
    _emit(last, yes, no, tests)
