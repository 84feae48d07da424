"""Entries: the conjunctions of filters as boxes of keys, ready to be quantised and grouped.

One conjunction is one entry; a `<>` or a short IN makes it several disjoint ones, so that cells
alone decide and no match is found twice. What a box cannot say is decided later, on exact keys
(`check`) or on what remains after that (`later`).
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import counting, spans
from wherecast.language.meaning.keys import RANGES
from wherecast.language.table.predicate_table import Kind, PredicateTable
from wherecast.matching.columnar.layout import Exact
from wherecast.matching.columnar.predicates import Predicates

Ints = npt.NDArray[np.int64]
_NEVER = 1 << 40
_PARTS_MAX = 4  # disjoint entries that one IN or <> may make
_EXACT_OF = np.array(
    [Exact.RANGE, Exact.RANGE, Exact.SET, Exact.NOT_SET, Exact.LATER, Exact.PRESENT,
     Exact.MISSING, Exact.LATER, Exact.LATER],
    np.uint8,
)  # fmt: skip
_STRING_RANGE = (0, 2**62)
_KEY_MIN, _KEY_MAX = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Boxes of keys.

    Attributes:
        conjunctions: int64 [entries], which conjunction each one is.
        offsets: int64 [entries + 1] into the sides.
        slots: int32 [sides]; lows, highs: int64 [sides], closed; a missing value has no key, and
            is asked for by `missing` uint8 [sides].
        split: bool [sides], whether other entries of the conjunction have other parts of it.
        check: bool [entries], whether exact keys must decide even inside the box.
        later: bool [entries], whether something remains to be decided after that.
    """

    conjunctions: Ints
    offsets: Ints
    slots: npt.NDArray[np.int32]
    lows: Ints
    highs: Ints
    missing: npt.NDArray[np.uint8]
    split: npt.NDArray[np.bool_]
    check: npt.NDArray[np.bool_]
    later: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.conjunctions)


def exact_predicates(table: PredicateTable) -> Predicates:
    """The predicates of a table in key space, strings by their rank."""
    text = np.array([a.type == "string" for a in table.attributes], bool)
    on_text = text[table.attribute] if len(table.attribute) else np.zeros(0, bool)
    kinds, lows, highs = _EXACT_OF[table.kind], table.low.copy(), table.high.copy()
    keys = table.set_keys.copy()
    ranges = table.kind == Kind.TEXT_RANGE
    lows[ranges] = np.where(lows[ranges] < 0, _STRING_RANGE[0], 2 * lows[ranges] + 1)
    highs[ranges] = np.where(highs[ranges] < 0, _STRING_RANGE[1], 2 * highs[ranges])
    sets = ((kinds == Exact.SET) | (kinds == Exact.NOT_SET)) & on_text
    for start, end in _runs(lows[sets], highs[sets]):
        keys[start:end] = 2 * keys[start:end] + 1
    points = np.flatnonzero((kinds == Exact.SET) & (highs - lows == 1))
    kinds[points] = Exact.RANGE
    lows[points] = highs[points] = keys[lows[points]]
    ends = [
        _STRING_RANGE if a.type in ("string", "any") else RANGES[a.type] for a in table.attributes
    ]
    least, most = np.array(ends, np.int64).reshape(-1, 2).T
    return Predicates(
        table.predicate_offsets, table.attribute, kinds, lows, highs, keys,
        np.ascontiguousarray(least), np.ascontiguousarray(most),
    )  # fmt: skip


def _runs(starts: Ints, ends: Ints) -> list[tuple[int, int]]:
    """Neighbouring stretches joined into as few as possible."""
    if not len(starts):
        return []
    breaks = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    firsts = np.concatenate([[0], breaks])
    lasts = np.concatenate([breaks - 1, [len(starts) - 1]])
    return list(zip(starts[firsts].tolist(), ends[lasts].tolist(), strict=True))


def entries_of(predicates: Predicates, whole: npt.NDArray[np.bool_]) -> Entries:
    """The entries of all conjunctions.

    Only a `whole` conjunction may become several, or one that a set of values alone may find.
    """
    offsets, kinds = predicates.offsets, predicates.kinds
    count = len(offsets) - 1
    owner = np.repeat(np.arange(count), np.diff(offsets))
    parts = _parts(predicates)
    split = np.where(whole[owner] | _are_keys(predicates, owner, count), parts, _NEVER)
    copies, divisor = _splits(owner, split, parts > 1, count)
    check, later = np.zeros(count, bool), np.zeros(count, bool)
    check[owner[(parts > 1) & (divisor == 0)]] = True
    later[owner[kinds == Exact.LATER]] = True
    if (copies == 1).all():
        conjunctions, rows = np.arange(count), np.arange(len(kinds))
        ends, part = offsets, np.zeros(1, np.int64)
    else:
        conjunctions = np.repeat(np.arange(count), copies)
        sizes = np.diff(offsets)[conjunctions]
        ends = np.cumsum(np.concatenate([[0], sizes]))
        rows = spans(offsets[:-1][conjunctions], sizes)
        part = np.repeat(counting(copies), sizes)
    lows, highs, missing = sides_of(predicates, rows)
    split = np.flatnonzero(divisor[rows])
    if len(split):
        place = part[split] // divisor[rows[split]] % parts[rows[split]]
        _split_sides(predicates, rows, split, place, lows, highs)
    split_entries = Entries(
        conjunctions, ends, predicates.slots[rows], lows, highs, missing, divisor[rows] > 0,
        check[conjunctions], later[conjunctions],
    )  # fmt: skip
    return _intersected(split_entries)


def _intersected(entries: Entries) -> Entries:
    """The entries with one side per slot; entries that no value satisfies are left out."""
    owner = np.repeat(np.arange(len(entries)), np.diff(entries.offsets))
    slots, lows, highs = entries.slots, entries.lows, entries.highs
    missing, split = entries.missing, entries.split
    place = owner * (int(slots.max(initial=0)) + 1) + slots
    if (place[1:] < place[:-1]).any():
        order = np.argsort(place, kind="stable")
        owner, slots, place = owner[order], slots[order], place[order]
        lows, highs = lows[order], highs[order]
        missing, split = missing[order], split[order]
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    if len(starts) < len(place):
        lows = np.maximum.reduceat(lows, starts)
        highs = np.minimum.reduceat(highs, starts)
        missing = np.maximum.reduceat(missing, starts)
        split = np.logical_or.reduceat(split, starts)
        slots, owner = slots[starts], owner[starts]
    elif (lows <= highs).all():
        return replace(entries, slots=slots, lows=lows, highs=highs, missing=missing, split=split)
    possible = np.ones(len(entries), bool)
    possible[owner[lows > highs]] = False
    kept = possible[owner]
    sizes = np.bincount(owner[kept], minlength=len(entries))[possible]
    return Entries(
        entries.conjunctions[possible], np.cumsum(np.concatenate([[0], sizes])), slots[kept],
        lows[kept], highs[kept], missing[kept], split[kept], entries.check[possible],
        entries.later[possible],
    )  # fmt: skip


def _are_keys(predicates: Predicates, owner: Ints, count: int) -> npt.NDArray[np.bool_]:
    """The sets of values that may be what finds their conjunction: no side of it is a point."""
    kinds, points = predicates.kinds, np.zeros(count, bool)
    is_point = (kinds == Exact.RANGE) & (predicates.lows == predicates.highs)
    points[owner[is_point]] = True
    found: npt.NDArray[np.bool_] = (kinds == Exact.SET) & ~points[owner]
    return found


def _parts(predicates: Predicates) -> Ints:
    """The number of disjoint boxes that each predicate could be split into; 1 for none."""
    sizes = predicates.highs - predicates.lows
    parts = np.ones(len(predicates.kinds), np.int64)
    parts[predicates.kinds == Exact.SET] = sizes[predicates.kinds == Exact.SET]
    excluded = predicates.kinds == Exact.NOT_SET
    parts[excluded] = sizes[excluded] + 1
    return parts


def _splits(owner: Ints, parts: Ints, sets: npt.NDArray[np.bool_], count: int) -> tuple[Ints, Ints]:
    """Which sets are split: the entries of each conjunction, and for each row its divisor.

    Entry e of a conjunction has part `e // divisor % parts` of a split row; other rows have the
    divisor 0. The first sets that fit are taken.
    """
    copies, divisor = np.ones(count, np.int64), np.zeros(len(owner), np.int64)
    waiting = np.flatnonzero(sets)
    while True:
        fitting = waiting[copies[owner[waiting]] * parts[waiting] <= _PARTS_MAX]
        first = fitting[np.diff(owner[fitting], prepend=-1) != 0]
        if not len(first):
            return copies, divisor
        divisor[first] = copies[owner[first]]
        copies[owner[first]] *= parts[first]
        waiting = np.setdiff1d(fitting, first, assume_unique=True)


def sides_of(predicates: Predicates, rows: Ints) -> tuple[Ints, Ints, npt.NDArray[np.uint8]]:
    """The box sides of predicate rows, sets as their hull."""
    slots, kinds = predicates.slots[rows], predicates.kinds[rows]
    lows, highs = predicates.least[slots].copy(), predicates.most[slots].copy()
    ranges = kinds == Exact.RANGE
    lows[ranges], highs[ranges] = predicates.lows[rows[ranges]], predicates.highs[rows[ranges]]
    sets = kinds == Exact.SET
    lows[sets] = predicates.keys[predicates.lows[rows[sets]]]
    highs[sets] = predicates.keys[predicates.highs[rows[sets]] - 1]
    return lows, highs, (kinds == Exact.MISSING).astype(np.uint8)


def _split_sides(
    predicates: Predicates, rows: Ints, split: Ints, place: Ints, lows: Ints, highs: Ints
) -> None:
    """Gives each split side its own part of the predicate, by its place."""
    starts, ends = predicates.lows[rows[split]], predicates.highs[rows[split]]
    sets = predicates.kinds[rows[split]] == Exact.SET
    keys = predicates.keys[starts[sets] + place[sets]]
    lows[split[sets]], highs[split[sets]] = keys, keys
    gaps, place = split[~sets], place[~sets]
    starts, ends = starts[~sets], ends[~sets]
    after, before = place > 0, place < ends - starts
    below, above = predicates.keys[starts[after] + place[after] - 1], gaps[after]
    lows[above] = below + 1
    lows[above[below == _KEY_MAX]], highs[above[below == _KEY_MAX]] = 1, 0  # nothing is above
    key, under = predicates.keys[starts[before] + place[before]], gaps[before]
    highs[under] = key - 1
    lows[under[key == _KEY_MIN]], highs[under[key == _KEY_MIN]] = 1, 0
