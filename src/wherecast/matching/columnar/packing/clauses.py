"""Clauses: a filter that is an AND of ORs of ranges as one entry, not one for each conjunction.

The conjunctions of such a filter are the product of its clauses: each takes one side of every
clause. Filters are compared by their shape, the slots of all their sides. The clauses of a shape
are found on one of its filters, and hold for the others whose sides repeat in the same places.

A filter stays a set of conjunctions where its shape is rare, or where trees over its conjunctions
are expected to cost less: narrow sides are found sooner one by one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import counting, spans
from wherecast.matching.columnar.layout import DIMS_MAX, LANES
from wherecast.matching.columnar.packing.entries import Entries
from wherecast.matching.columnar.packing.planner import are_shared, classes_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Side = tuple[int, int, int]  # slot, low and high key
_SIDES_MAX = 1_024  # of all conjunctions of a filter
_EXAMPLES = 3  # filters of a shape on which clauses are looked for
_BLOCK_NS, _DIM_NS, _MATCH_NS, _STAMPED_NS = 4.0, 3.0, 0.5, 1.1  # only their ratios matter


@dataclass(frozen=True, slots=True)
class ClauseForm:
    """The clauses of entries, those of one side first.

    Attributes:
        slots: of the sides of each clause; a slot may stand twice.
    """

    slots: tuple[tuple[int, ...], ...]

    @property
    def conjunctions(self) -> int:
        """The number of conjunctions that the clauses stand for."""
        return prod(map(len, self.slots))

    @property
    def continues(self) -> Bools:
        """Whether each side is in the clause of the side before it, bool [sides]."""
        return np.array([place > 0 for clause in self.slots for place in range(len(clause))])


@dataclass(frozen=True, slots=True, eq=False)
class FoldedEntries:
    """Entries, of which some stand for all conjunctions of their filter.

    Attributes:
        entries: those of one conjunction, then the others, whose sides are in the order of their
            form; an entry of several conjunctions names the first of them.
        sides: int64 [sides], the side of the given entries that each side is.
        form: int64 [entries], the number of a form, from 1 on; 0 for a conjunction.
        forms: the distinct forms.
    """

    entries: Entries
    sides: Ints
    form: Ints
    forms: tuple[ClauseForm, ...]


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Filters with several conjunctions of as many plain sides each.

    Attributes:
        entries: int64 [filters], the first entry of each.
        first: int64 [filters], the first side.
        sizes, width: int64 [filters], the sides of all conjunctions, and of one.
    """

    entries: Ints
    first: Ints
    sizes: Ints
    width: Ints


def fold_clauses(entries: Entries, filters: Ints, chance: Floats) -> FoldedEntries:
    """The entries, with one for each filter that is better searched by its clauses.

    Args:
        entries: of all conjunctions.
        filters: int64 [conjunctions], the filter of each.
        chance: float64 [sides], how likely a publication satisfies each side.
    """
    given = _candidates(entries, filters)
    places = counting(given.sizes)
    slots = int(entries.slots.max(initial=0)) + 1
    marks = places * slots + entries.slots[spans(given.first, given.sizes)]
    shape, shapes = classes_of(given.sizes, marks, given.width)
    shared, order = are_shared(shape, shapes), np.argsort(shape, kind="stable")
    bounds = np.searchsorted(shape[order], np.arange(shapes + 1))
    forms: dict[ClauseForm, int] = {}
    found: list[tuple[Ints, Ints, int]] = []
    for number in range(shapes):
        members = order[bounds[number] : bounds[number + 1]]
        if not shared[members[0]]:
            continue
        one = int(members[0])
        size = int(given.sizes[one]), int(given.width[one])
        for form, taken, columns in _clauses_of(entries, given.first[members], *size):
            rows = given.first[members[taken], None] + columns
            if _pays(form, chance[rows].mean(axis=0), len(rows)):
                known = forms.setdefault(form, len(forms) + 1)
                found.append((members[taken], rows, known))
    return _folded(entries, given, tuple(forms), found)


def _candidates(entries: Entries, filters: Ints) -> _Candidates:
    """The filters whose entries may be a product of clauses."""
    owner = filters[entries.conjunctions]
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    counts = np.diff(starts, append=len(entries))
    widths = np.diff(entries.offsets)
    odd = entries.check | entries.later | (widths == 0)
    sides = np.flatnonzero(entries.split | (entries.missing > 0))
    odd[np.searchsorted(entries.offsets, sides, side="right") - 1] = True
    same = np.ones(len(entries), bool)  # as many sides as the entry before has, in its filter
    same[1:] = (widths[1:] == widths[:-1]) | (owner[1:] != owner[:-1])
    bad = np.concatenate([[0], np.cumsum(odd | ~same)])
    fits = (bad[starts + counts] == bad[starts]) & (counts > 1)
    fits &= counts == np.bincount(filters, minlength=1)[owner[starts]]  # each of one entry
    fits &= counts * widths[starts] <= _SIDES_MAX
    chosen = starts[fits]
    sizes = counts[fits] * widths[chosen]
    return _Candidates(chosen, entries.offsets[chosen], sizes, widths[chosen])


def _clauses_of(
    entries: Entries, first: Ints, size: int, width: int
) -> Iterator[tuple[ClauseForm, Ints, Ints]]:
    """The forms of filters of one shape: the form, the filters, and the places of their sides.

    Shapes: first int64 [filters], the first side of each; size, width: the number of sides of a
    filter, and of one conjunction.
    """
    left = np.arange(len(first))
    for _ in range(_EXAMPLES):
        if not len(left):
            return
        start = int(first[left[0]])
        ends = (each[start : start + size].tolist() for each in _ends(entries))
        sides: list[Side] = list(zip(*ends, strict=True))
        clauses = _factors([sides[place : place + width] for place in range(0, size, width)])
        if clauses is None:
            left = left[1:]
            continue
        models = np.array([sides.index(side) for side in sides])
        same = np.ones(len(left), bool)
        for keys in (entries.lows, entries.highs):
            for place in np.flatnonzero(models != np.arange(size)).tolist():
                same &= keys[first[left] + place] == keys[first[left] + models[place]]
        form = ClauseForm(tuple(tuple(slot for slot, _, _ in clause) for clause in clauses))
        columns = np.array([sides.index(side) for clause in clauses for side in clause])
        yield form, left[same], columns
        left = left[~same]


def _ends(entries: Entries) -> tuple[npt.NDArray[np.int32], Ints, Ints]:
    return entries.slots, entries.lows, entries.highs


def _factors(conjunctions: Sequence[Sequence[Side]]) -> list[list[Side]] | None:
    """The clauses whose product the conjunctions are, or None.

    Sides of one clause never meet in a conjunction, sides of two clauses do.
    """
    sides = sorted({side for sides in conjunctions for side in sides})
    if len(sides) > DIMS_MAX or len(set(map(tuple, conjunctions))) < len(conjunctions):
        return None
    met = {side: {side} for side in sides}
    for each in conjunctions:
        for side in each:
            met[side] |= set(each) - {side}
    clauses = {
        tuple(other for other in sides if other == side or other not in met[side]) for side in sides
    }
    if sum(map(len, clauses)) != len(sides) or prod(map(len, clauses)) != len(conjunctions):
        return None
    if any(len(set(each) & set(clause)) != 1 for each in conjunctions for clause in clauses):
        return None
    return [list(clause) for clause in sorted(clauses, key=lambda c: (len(c) > 1, c))]


def _pays(form: ClauseForm, chances: Floats, filters: int) -> bool:
    """Whether clauses are expected to cost no more than conjunctions with stamps.

    Args:
        form: the clauses.
        chances: float64 [sides], how likely a publication satisfies each side of a filter.
        filters: the number of filters of the form.
    """
    parts = np.split(chances, np.flatnonzero(~form.continues)[1:])
    single = [part for part in parts if len(part) == 1]
    several = [part for part in parts if len(part) > 1]
    leaves = max(1.0, filters * float(np.prod(single)) / LANES)
    spread = leaves ** (-1.0 / sum(map(len, several)))  # of the ends within one leaf, on each side
    entered = leaves * prod(1.0 - float(np.prod(1.0 - np.minimum(p + spread, 1))) for p in several)
    matched = leaves * LANES * prod(1.0 - float(np.prod(1.0 - p)) for p in several)
    reported = leaves * LANES * prod(float(p.sum()) for p in several)
    alone = reported / LANES + form.conjunctions
    together = entered * (_BLOCK_NS + _DIM_NS * len(chances)) + matched * _MATCH_NS
    return together <= alone * (_BLOCK_NS + _DIM_NS * len(parts)) + reported * _STAMPED_NS


def _folded(
    entries: Entries,
    given: _Candidates,
    forms: tuple[ClauseForm, ...],
    found: list[tuple[Ints, Ints, int]],
) -> FoldedEntries:
    """The entries with those of some filters made one; each filter with its sides and form."""
    if not found:
        sides = np.arange(len(entries.slots))
        return FoldedEntries(entries, sides, np.zeros(len(entries), np.int64), ())
    filters = np.concatenate([taken for taken, _, _ in found])
    counts = given.sizes[filters] // given.width[filters]
    stays = np.ones(len(entries), bool)
    stays[spans(given.entries[filters], counts)] = False
    widths = np.diff(entries.offsets)[stays]
    own = spans(entries.offsets[:-1][stays], widths)
    sides = np.concatenate([own, *(rows.ravel() for _, rows, _ in found)])
    sizes = np.concatenate([widths, *(np.full(len(rows), rows.shape[1]) for _, rows, _ in found)])
    form = np.concatenate([np.zeros(len(widths), np.int64),
                           *(np.full(len(rows), known) for _, rows, known in found)])  # fmt: skip
    kept = np.concatenate([np.flatnonzero(stays), given.entries[filters]])
    folded = Entries(
        entries.conjunctions[kept], np.cumsum(np.concatenate([[0], sizes])), entries.slots[sides],
        entries.lows[sides], entries.highs[sides], entries.missing[sides], entries.split[sides],
        entries.check[kept], entries.later[kept],
    )  # fmt: skip
    return FoldedEntries(folded, sides, form, forms)
