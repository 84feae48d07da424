"""Segments as columns: finding a subscriber, counting, joining, checking. Pure functions.

A segment is a batch of `SEGMENT`. It may be memory-mapped: `find` touches the names on the way of a
binary search and the lists of one row, nothing else. Stores number what they keep by sequence, so
`offsets` are sequences there.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of
from wherecast.store.records import SEGMENT

Ints = npt.NDArray[np.int64]
Notified = dict[str, list[tuple[int, tuple[str, ...]]]]
"""By subscriber each publication with the subscriptions that matched it, in order."""

_FEW_BYTES = 1_024  # of a segment that is checked row by row
_NAMES_PER_SEARCH = 16  # read in a row, they cost what one search among them costs


@dataclass(frozen=True, slots=True, eq=False)
class SubscriberRows:
    """Notifications of one subscriber in one segment.

    Attributes:
        offsets: which publications; int64, ascending, shape (n,).
        subscription_ids: of each, the subscriptions that matched, sorted.
    """

    offsets: Ints
    subscription_ids: list[list[str]]


def find(segment: pa.RecordBatch, subscriber: str, start: int, limit: int) -> SubscriberRows | None:
    """The first notifications of a subscriber from an offset on; None if it has none.

    Cost: O(log rows) names, and the notifications that are returned.
    """
    row = _row_of(segment.column("subscriber"), subscriber)
    if row is None:
        return None
    offsets = _list_at(segment.column("offsets"), row).to_numpy()
    begin = int(np.searchsorted(offsets, start))
    offsets = offsets[begin : begin + limit]
    if not len(offsets):
        return None
    matched = segment.column("matched")
    places = matched.values.slice(matched.offsets[row].as_py() + begin, len(offsets))
    ids = _list_at(segment.column("subscription_ids"), row)
    matched_ids = pa.ListArray.from_arrays(_bounds(places), ids.take(places.flatten()))
    return SubscriberRows(offsets, matched_ids.to_pylist())


def found_by_name(segment: pa.RecordBatch, names: Container[str], start: int) -> Notified:
    """The notifications of some subscribers at an offset and beyond.

    Cost: O(rows) names; O(log) of what lies before the start, and the notifications after it.
    """
    own = segment.column("subscriber").to_pylist()
    rows = [row for row, name in enumerate(own) if name in names]
    if len(rows) < len(own):
        own = [own[row] for row in rows]
        segment = segment.take(pa.array(rows, pa.int32()))
    where = _flat(segment.column("offsets"))
    if len(where) and where.min() < start:  # merged with others before it
        each = {name: find(segment, name, start, len(where)) for name in own}
        return {name: _pairs(found) for name, found in each.items() if found is not None}
    return dict(zip(own, _all_pairs(segment), strict=True))


def items_of(segment: pa.RecordBatch) -> Notified:
    """All notifications, by subscriber."""
    return dict(zip(segment.column("subscriber").to_pylist(), _all_pairs(segment), strict=True))


def _pairs(found: SubscriberRows) -> list[tuple[int, tuple[str, ...]]]:
    return list(zip(found.offsets.tolist(), map(tuple, found.subscription_ids), strict=True))


def _all_pairs(segment: pa.RecordBatch) -> Iterator[list[tuple[int, tuple[str, ...]]]]:
    """The notifications of each row; Arrow and numpy cost by the call, so there are few."""
    _, ids, offsets, matched = segment.columns
    inner = matched.flatten()
    words, places, where = ids.flatten().to_pylist(), _flat(inner).tolist(), _flat(offsets).tolist()
    id_bounds, bounds = _bounds(ids).tolist(), _bounds(offsets).tolist()
    ends = _bounds(inner).tolist()
    for row in range(segment.num_rows):
        known = words[id_bounds[row] : id_bounds[row + 1]]
        yield [
            (where[at], tuple([known[place] for place in places[ends[at] : ends[at + 1]]]))
            for at in range(bounds[row], bounds[row + 1])
        ]


def counts(segment: pa.RecordBatch, starts: Mapping[str, int], end: int) -> dict[str, int]:
    """Number of notifications of each subscriber, from its own offset to a common end.

    Subscribers without a row in the segment are left out.

    Cost: O(log rows) names for each of a few, else O(rows) names; of each O(log) of its offsets.
    """
    names, lists = segment.column("subscriber"), segment.column("offsets")
    if len(starts) * _NAMES_PER_SEARCH < len(names):
        found = {name: _row_of(names, name) for name in starts}
        rows = {name: row for name, row in found.items() if row is not None}
    else:
        rows = {name: row for row, name in enumerate(names.to_pylist()) if name in starts}
    values, bounds = lists.values.to_numpy(), lists.offsets.to_numpy()
    counted = {}
    for name, row in rows.items():
        own = values[bounds[row] : bounds[row + 1]]
        first, last = own.searchsorted((starts[name], end)).tolist()
        counted[name] = max(0, last - first)
    return counted


def renumbered(segment: pa.RecordBatch, numbers_of: Callable[[Ints], Ints]) -> pa.RecordBatch:
    """The same notifications, each at a number that follows from its offset, in the same order."""
    if not segment.num_rows:
        return segment
    lists = segment.column("offsets")
    moved = pa.ListArray.from_arrays(_bounds(lists), array_of(numbers_of(_flat(lists))))
    place = segment.schema.get_field_index("offsets")
    return segment.set_column(place, SEGMENT.field("offsets"), moved)


def join(segments: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """One segment of segments that cover successive ranges, in their order.

    Lists are gathered row by row, so nothing is sorted but the names and the ids of subscriptions.

    Cost: O(notifications) copied; O(rows log rows) compared.
    """
    names, ids, offsets, matched = (
        pa.concat_arrays([segment.column(name) for segment in segments]) for name in SEGMENT.names
    )
    names, codes = _coded(names)
    order = np.argsort(codes, kind="stable")
    groups = codes[order]
    starts = np.searchsorted(groups, np.arange(len(names) + 1))
    bounds, picked = _gathered(_bounds(offsets), order)
    inner = matched.flatten()
    inner_bounds, inner_picked = _gathered(_bounds(inner), picked)
    joined_ids, places = _renumbered(
        ids.take(pa.array(order)), groups, inner_bounds[bounds], _flat(inner)[inner_picked]
    )
    publications = pa.array(_flat(offsets)[picked])
    matches = pa.ListArray.from_arrays(_int32(inner_bounds), _int32(places))
    joined_bounds = _int32(bounds[starts])
    lists = (pa.ListArray.from_arrays(joined_bounds, one) for one in (publications, matches))
    return pa.RecordBatch.from_arrays([names, joined_ids, *lists], schema=SEGMENT)


def problem_of(segment: pa.RecordBatch, first: int, end: int) -> str | None:
    """What is wrong with a segment of a range of offsets, if something is."""
    if not segment.schema.equals(SEGMENT):
        return "its columns are not those of a segment"
    if segment.nbytes <= _FEW_BYTES:
        return _problem_of_few(segment.to_pylist(), first, end)
    names, ids, offsets, matched = segment.columns
    inner = matched.flatten()
    parts = (*segment.columns, ids.flatten(), offsets.flatten(), inner, inner.flatten())
    if any(part.null_count for part in parts):
        return "it has nulls"
    if not _all(pc.less(names[:-1], names[1:])):
        return "its subscribers are not sorted, or not distinct"
    values, bounds = _flat(offsets), _bounds(offsets)
    rows = np.repeat(np.arange(len(names)), np.diff(bounds))
    if not np.array_equal(bounds, _bounds(matched)):
        return "the lists of a row differ in length"
    if len(values) and (values.min() < first or values.max() >= end):
        return "a publication is out of its range"
    if np.any((np.diff(values) <= 0) & (np.diff(rows) == 0)):
        return "the publications of a subscriber are not sorted, or not distinct"
    places = _flat(inner)
    match_rows = np.repeat(rows, np.diff(_bounds(inner)))
    if np.any(places < 0) or np.any(places >= np.diff(_bounds(ids))[match_rows]):
        return "it names a subscription that it does not have"
    return None


def _problem_of_few(rows: list[dict[str, Any]], first: int, end: int) -> str | None:
    """The same row by row, which is sooner for a few: numpy and Arrow cost by the call."""
    before = ""
    for place, row in enumerate(rows):
        name, ids, offsets, matched = row.values()
        if None in (name, ids, offsets, matched) or None in (*ids, *offsets, *matched):
            return "it has nulls"
        if place and name <= before:
            return "its subscribers are not sorted, or not distinct"
        if len(offsets) != len(matched):
            return "the lists of a row differ in length"
        if offsets and not first <= min(offsets) <= max(offsets) < end:
            return "a publication is out of its range"
        if any(later <= earlier for earlier, later in pairwise(offsets)):
            return "the publications of a subscriber are not sorted, or not distinct"
        places = [place for one in matched for place in one]
        if None in places:
            return "it has nulls"
        if places and not 0 <= min(places) <= max(places) < len(ids):
            return "it names a subscription that it does not have"
        before = name
    return None


def _gathered(bounds: Ints, order: Ints) -> tuple[Ints, Ints]:
    """Lists put in an order: their bounds then, and which of their values goes where.

    Shapes: bounds (lists + 1,), order (n,) → (n + 1,), (values,).
    """
    lengths = np.diff(bounds)[order]
    if (lengths == 1).all():  # as where no publication matches two subscriptions of anybody
        return np.arange(len(order) + 1), bounds[:-1][order]
    ends = np.zeros(len(order) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    return ends, np.repeat(bounds[:-1][order] - ends[:-1], lengths) + np.arange(ends[-1])


def _renumbered(
    ids: pa.ListArray, groups: Ints, match_bounds: Ints, places: Ints
) -> tuple[pa.ListArray, Ints]:
    """The sorted, distinct ids of each group of rows, and the places of all matches in them.

    Shapes: ids (R,), groups (R,) ascending from 0 without a gap, match_bounds (R + 1,),
        places (matches,) → (groups,), (matches,).
    """
    id_bounds = _bounds(ids)
    id_groups = np.repeat(groups, np.diff(id_bounds))
    words, codes = _coded(ids.flatten())
    word_count = max(len(words), 1)
    keys, merged = np.unique(id_groups * word_count + codes, return_inverse=True)
    group_count = int(groups[-1]) + 1 if len(groups) else 0
    starts = np.searchsorted(keys, np.arange(group_count + 1) * word_count)
    joined = pa.ListArray.from_arrays(_int32(starts), words.take(pa.array(keys % word_count)))
    moved = (
        merged
        - starts[id_groups]
        - (np.arange(len(merged)) - np.repeat(id_bounds[:-1], np.diff(id_bounds)))
    )
    if not moved.any():  # as where the subscriptions of nobody changed
        return joined, places
    rows = np.repeat(np.arange(len(groups)), np.diff(match_bounds))
    return joined, places + moved[id_bounds[rows] + places]


def _coded(texts: pa.StringArray) -> tuple[pa.StringArray, Ints]:
    """The distinct texts, sorted, and the place of each text in them."""
    coded = texts.dictionary_encode()
    order = pc.sort_indices(coded.dictionary)
    ranks = np.empty(len(order), np.int64)
    ranks[order.to_numpy()] = np.arange(len(order))
    return coded.dictionary.take(order), ranks[coded.indices.to_numpy()]


def _row_of(names: pa.StringArray, name: str) -> int | None:
    low, high = 0, len(names)
    while low < high:
        middle = (low + high) // 2
        if names[middle].as_py() < name:
            low = middle + 1
        else:
            high = middle
    return low if low < len(names) and names[low].as_py() == name else None


def _list_at(lists: pa.ListArray, row: int) -> pa.Array:
    """The values of one list, not copied."""
    first, end = lists.offsets[row].as_py(), lists.offsets[row + 1].as_py()
    return lists.values.slice(first, end - first)


def _bounds(lists: pa.ListArray) -> Any:
    """Where lists begin and end in their flattened values; int32, shape (n + 1,)."""
    if not len(lists):
        return np.zeros(1, np.int32)
    bounds = lists.offsets.to_numpy()
    return bounds - bounds[0]


def _flat(lists: pa.ListArray) -> Any:
    return lists.flatten().to_numpy()


def _int32(values: Any) -> pa.Int32Array:
    return pa.array(values, pa.int32())


def _all(verdicts: pa.BooleanArray) -> bool:
    return bool(pc.all(verdicts, min_count=0).as_py())
