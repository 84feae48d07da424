"""The shapes of rules: random trees of AND, OR and NOT over predicates."""

from collections.abc import Callable
from random import Random

from wherecast.workloads.mixed_leaves import PredicateForm
from wherecast.workloads.mixed_shapes import MixedShape, all_of, any_of, negation_of
from wherecast.workloads.rule_predicates import (
    COMPARISONS,
    FLOATS,
    PATTERNS,
    SUMS,
    TEXTS,
    comparison,
    equality,
    inequality,
    membership,
    narrow_range_of,
    pattern_match,
    presence,
    range_of,
    sum_comparison,
)

DEPTH_MAX, PREDICATES_MAX = 8, 60  # of a deep rule


class _Exhausted(Exception):
    """A tree needs more attributes than there are."""


class _Names:
    """Attributes in random order, each once or, for deep trees, any number of times."""

    def __init__(self, rnd: Random, again: bool) -> None:
        self._rnd, self._again = rnd, again
        self._left = {kind: rnd.sample(kind, len(kind)) for kind in (FLOATS, TEXTS)}

    def take(self, kind: tuple[str, ...]) -> str:
        """A random attribute of a kind."""
        if self._again:
            return self._rnd.choice(kind)
        if not self._left[kind]:
            raise _Exhausted
        return self._left[kind].pop()


class TreeDrawer:
    """Draws the trees of a workload, one after the other."""

    def __init__(self, rnd: Random, deep: bool) -> None:
        self._rnd, self._deep = rnd, deep
        self._names = _Names(rnd, deep)

    def draw(self) -> MixedShape:
        """A rule, or a deep rule."""
        while True:
            self._names = _Names(self._rnd, self._deep)
            try:
                return self._deep_tree(DEPTH_MAX, PREDICATES_MAX) if self._deep else self._rule()
            except _Exhausted:
                continue

    def _rule(self) -> MixedShape:
        """A selective predicate beside a tree; or of several such, one; or a tree alone."""
        chance = self._rnd.random()
        if chance < 0.7:
            return all_of(self._selective(), self._tree(3))
        if chance < 0.9:
            ways = range(self._rnd.randint(2, 3))
            return any_of(*(all_of(self._selective(), self._tree(2)) for _ in ways))
        range_ = _shape(range_of(self._names.take(FLOATS)))
        return all_of(range_, *(self._tree(2) for _ in range(3)))

    def _selective(self) -> MixedShape:
        chance = self._rnd.random()
        if chance < 0.6:
            return _shape(equality(self._names.take(TEXTS)))
        if chance < 0.8:
            return _shape(membership(self._names.take(TEXTS)))
        return _shape(narrow_range_of(self._names.take(FLOATS)))

    def _tree(self, depth: int) -> MixedShape:
        rnd = self._rnd
        if depth == 0 or rnd.random() < 0.25:
            return self._leaf()
        chance = rnd.random()
        if chance < 0.15:
            return negation_of(self._tree(depth - 1))
        parts = [self._tree(depth - 1) for _ in range(rnd.randint(2, 3))]
        return all_of(*parts) if chance < 0.55 else any_of(*parts)

    def _deep_tree(self, depth: int, room: int) -> MixedShape:
        """A tree with at most `room` predicates."""
        rnd = self._rnd
        if depth == 0 or room == 1 or rnd.random() < 0.06:
            return self._leaf()
        if rnd.random() < 0.15:
            return negation_of(self._deep_tree(depth - 1, room))
        count = min(room, rnd.randint(2, 3))
        join = rnd.choice((all_of, any_of))
        return join(*(self._deep_tree(depth - 1, max(1, room // count)) for _ in range(count)))

    def _leaf(self) -> MixedShape:
        [make] = self._rnd.choices(_LEAVES, _CHANCES)
        return _shape(make(self._rnd, self._names.take))


_Take = Callable[[tuple[str, ...]], str]


def _comparison(rnd: Random, take: _Take) -> PredicateForm:
    return comparison(take(FLOATS), rnd.choice(COMPARISONS))


def _range(rnd: Random, take: _Take) -> PredicateForm:
    return range_of(take(FLOATS))


def _equality(rnd: Random, take: _Take) -> PredicateForm:
    return equality(take(TEXTS))


def _membership(rnd: Random, take: _Take) -> PredicateForm:
    return membership(take(TEXTS))


def _inequality(rnd: Random, take: _Take) -> PredicateForm:
    return inequality(take(TEXTS))


def _pattern(rnd: Random, take: _Take) -> PredicateForm:
    return pattern_match(take(TEXTS), rnd.choice(list(PATTERNS)))


def _sum(rnd: Random, take: _Take) -> PredicateForm:
    first = take(FLOATS)
    while (second := take(FLOATS)) == first:
        pass
    return sum_comparison((first, second), rnd.choice(list(SUMS)), rnd.choice("<>"))


def _presence(rnd: Random, take: _Take) -> PredicateForm:
    return presence(take(FLOATS), rnd.random() < 0.5)


_LEAVES = (
    _comparison, _range, _equality, _membership, _inequality, _pattern, _sum, _presence,
)  # fmt: skip
_CHANCES = (0.35, 0.15, 0.15, 0.08, 0.05, 0.08, 0.11, 0.03)


def _shape(leaf: PredicateForm) -> MixedShape:
    return MixedShape(leaf.text, leaf.true, leaf.false, (leaf,))
