"""Entries: the conjunctions of filters as boxes of keys, ready to be quantised and grouped.

One conjunction is one entry; a `<>` or a short IN makes it several disjoint ones, so that cells
alone decide and no match is found twice. What a box cannot say is decided later, on exact keys
(`check`) or on what remains after that (`later`).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.language.keys import RANGES
from wherecast.language.table import Kind, PredicateTable
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


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """Boxes of keys.

    Attributes:
        conjunctions: int64 [entries], which conjunction each one is.
        offsets: int64 [entries + 1] into the sides.
        slots: int32 [sides]; lows, highs: int64 [sides], closed; a missing value has no key, and
            is asked for by `missing` uint8 [sides].
        check: bool [entries], whether exact keys must decide even inside the box.
        later: bool [entries], whether something remains to be decided after that.
    """

    conjunctions: Ints
    offsets: Ints
    slots: npt.NDArray[np.int32]
    lows: Ints
    highs: Ints
    missing: npt.NDArray[np.uint8]
    check: npt.NDArray[np.bool_]
    later: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.conjunctions)


def exact_predicates(table: PredicateTable) -> Predicates:
    """The predicates of a table in key space, strings by their rank."""
    text = np.array([a.type == "string" for a in table.attributes], bool)
    on_text = text[table.attribute] if len(table.attribute) else np.zeros(0, bool)
    lows, highs, keys = table.low.copy(), table.high.copy(), table.set_keys.copy()
    ranges = table.kind == Kind.TEXT_RANGE
    lows[ranges] = np.where(lows[ranges] < 0, _STRING_RANGE[0], 2 * lows[ranges] + 1)
    highs[ranges] = np.where(highs[ranges] < 0, _STRING_RANGE[1], 2 * highs[ranges])
    sets = ((table.kind == Kind.SET) | (table.kind == Kind.NOT_SET)) & on_text
    for start, end in _runs(lows[sets], highs[sets]):
        keys[start:end] = 2 * keys[start:end] + 1
    ends = [
        _STRING_RANGE if a.type in ("string", "any") else RANGES[a.type] for a in table.attributes
    ]
    least, most = np.array(ends, np.int64).reshape(-1, 2).T
    return Predicates(
        table.predicate_offsets, table.attribute, _EXACT_OF[table.kind], lows, highs, keys,
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
    """The entries of all conjunctions; only those that are `whole` may be several."""
    offsets, kinds = predicates.offsets, predicates.kinds
    count = len(offsets) - 1
    owner = np.repeat(np.arange(count), np.diff(offsets))
    parts = _parts(predicates)
    split, check_rows = _choose_splits(owner, kinds, np.where(whole[owner], parts, _NEVER), count)
    check = np.zeros(count, bool)
    check[owner[check_rows]] = True
    later = np.zeros(count, bool)
    later[owner[kinds == Exact.LATER]] = True
    copies = np.ones(count, np.int64)
    chosen = split >= 0
    copies[chosen] = parts[split[chosen]]
    conjunctions = np.repeat(np.arange(count), copies)
    part = np.arange(len(conjunctions)) - np.repeat(np.cumsum(copies) - copies, copies)
    sizes = np.diff(offsets)[conjunctions]
    ends = np.cumsum(np.concatenate([[0], sizes]))
    rows = np.repeat(offsets[:-1][conjunctions], sizes) + _counting(sizes)
    lows, highs, missing = _sides(predicates, rows)
    places = np.repeat(part, sizes)
    is_split = split[owner[rows]] == rows
    _split_sides(predicates, rows, places, is_split, lows, highs)
    split_entries = Entries(
        conjunctions, ends, predicates.slots[rows], lows, highs, missing,
        check[conjunctions], later[conjunctions],
    )  # fmt: skip
    return _intersected(split_entries)


def _intersected(entries: Entries) -> Entries:
    """The entries with one side per slot; those that allow nothing are left out."""
    owner = np.repeat(np.arange(len(entries)), np.diff(entries.offsets))
    order = np.lexsort((entries.slots, owner))
    slots, owner = entries.slots[order], owner[order]
    starts = np.flatnonzero(np.diff(owner, prepend=-1) | np.diff(slots, prepend=-1))
    lows, highs, missing = entries.lows[order], entries.highs[order], entries.missing[order]
    if len(starts) < len(order):
        lows = np.maximum.reduceat(lows, starts)
        highs = np.minimum.reduceat(highs, starts)
        missing = np.maximum.reduceat(missing, starts)
        slots, owner = slots[starts], owner[starts]
    possible = np.ones(len(entries), bool)
    possible[owner[lows > highs]] = False
    kept = possible[owner]
    sizes = np.bincount(owner[kept], minlength=len(entries))[possible]
    return Entries(
        entries.conjunctions[possible], np.cumsum(np.concatenate([[0], sizes])), slots[kept],
        lows[kept], highs[kept], missing[kept], entries.check[possible], entries.later[possible],
    )  # fmt: skip


def _counting(sizes: Ints) -> Ints:
    """0, 1, … for each size, one after the other."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _parts(predicates: Predicates) -> Ints:
    """Into how many disjoint boxes each predicate could be split; 1 where it needs none."""
    sizes = predicates.highs - predicates.lows
    parts = np.ones(len(predicates.kinds), np.int64)
    parts[predicates.kinds == Exact.SET] = sizes[predicates.kinds == Exact.SET]
    excluded = predicates.kinds == Exact.NOT_SET
    parts[excluded] = sizes[excluded] + 1
    return parts


def _choose_splits(
    owner: Ints, kinds: npt.NDArray[np.uint8], parts: Ints, count: int
) -> tuple[Ints, Ints]:
    """For each conjunction the predicate to split, or -1, and the rows that are checked instead."""
    sets = np.flatnonzero((kinds == Exact.SET) | (kinds == Exact.NOT_SET))
    split = np.full(count, -1, np.int64)
    small = sets[parts[sets] <= _PARTS_MAX]
    split[owner[small[::-1]]] = small[::-1]
    return split, np.array([row for row in sets if split[owner[row]] != row], np.int64)


def _sides(predicates: Predicates, rows: Ints) -> tuple[Ints, Ints, npt.NDArray[np.uint8]]:
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
    predicates: Predicates,
    rows: Ints,
    places: Ints,
    is_split: npt.NDArray[np.bool_],
    lows: Ints,
    highs: Ints,
) -> None:
    """Gives the copies of a split conjunction their own part of the split predicate."""
    kinds = predicates.kinds[rows]
    sets = is_split & (kinds == Exact.SET)
    keys = predicates.keys[predicates.lows[rows[sets]] + places[sets]]
    lows[sets], highs[sets] = keys, keys
    gaps = np.flatnonzero(is_split & (kinds == Exact.NOT_SET))
    start, end = predicates.lows[rows[gaps]], predicates.highs[rows[gaps]]
    place = places[gaps]
    after = place > 0
    before = place < end - start
    lows[gaps[after]] = predicates.keys[start[after] + place[after] - 1] + 1
    highs[gaps[before]] = predicates.keys[start[before] + place[before]] - 1
