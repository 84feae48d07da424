"""group: all matches of a range → its notifications, a row per subscriber.

    few matches     one by one: numpy and Arrow cost by the call
    more            compiled: a stable scatter by subscriber (`matching.scatter_kernels`)
    without numba   numpy: two sorts of packed numbers

All three give the same. The roster knows the order of all names, so that no name is compared here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of
from wherecast.matching.columnar.snapshot import compiles
from wherecast.pipeline.live.stage.join_shares import JoinedMatches
from wherecast.pipeline.live.subscriptions.names import Names
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.store.records import SEGMENT

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]

_FEW = 64  # matches
_COMPILED_MIN = 1_024  # matches
_KEY_BITS = 63
_UNKNOWN = "the roster does not know a version that matched"
# Not from a list: for that pyarrow imports pandas, where it is installed.
NOTHING = pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in SEGMENT.types], schema=SEGMENT)


def group_matches(matches: JoinedMatches, roster: Roster) -> pa.RecordBatch:
    """The notifications of matches: a batch of `SEGMENT`.

    Args:
        matches: in any order.
        roster: has the names behind the versions.
    """
    offsets, known = matches.offsets, roster.held.names
    if len(offsets) <= _FEW:
        return _few(matches, roster) if len(offsets) else NOTHING
    names = roster.held.names_of(matches.versions)
    assert names.min() >= 0, _UNKNOWN
    if (offsets[1:] < offsets[:-1]).any():  # several streams or shares, one after the other
        order = np.argsort(offsets, kind="stable")
        offsets, names = offsets[order], names[order]
    if len(offsets) >= _COMPILED_MIN and compiles():
        return _scattered(offsets, names, known)
    return _sorted(offsets, names, known)


def _few(matches: JoinedMatches, roster: Roster) -> pa.RecordBatch:
    """The same one by one."""
    by_name: dict[str, dict[int, set[str]]] = {}
    pairs = zip(matches.offsets.tolist(), matches.versions.tolist(), strict=True)
    for offset, version in pairs:
        found = roster.held.name(version)
        assert found is not None, _UNKNOWN
        subscriber, id = found
        by_name.setdefault(subscriber, {}).setdefault(offset, set()).add(id)
    columns: tuple[list[Any], ...] = ([], [], [], [])
    for name, own in sorted(by_name.items()):
        ids = sorted(set().union(*own.values()))
        where = sorted(own)
        matched = [[place for place, id in enumerate(ids) if id in own[at]] for at in where]
        for column, value in zip(columns, (name, ids, where, matched), strict=True):
            column.append(value)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SEGMENT.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SEGMENT)


@dataclass(frozen=True, slots=True, eq=False)
class _Used:
    """The names that matched, in their order.

    Attributes:
        numbers: of the names; shape (u,).
        owners: place of the subscriber of each name, among the subscribers that matched; (u,).
        ids: place of each name, among those of its subscriber that matched; (u,).
        bounds: where the names of each subscriber begin and end.
    """

    numbers: Int32s
    owners: Int32s
    ids: Int32s
    bounds: Int32s

    @staticmethod
    def of(numbers: Int32s, names: Names) -> "_Used":
        is_new = _changes(names.owners(numbers))
        firsts = np.flatnonzero(is_new)
        owners = (np.cumsum(is_new) - 1).astype(np.int32)
        ids = (np.arange(len(numbers)) - firsts[owners]).astype(np.int32)
        return _Used(numbers, owners, ids, np.append(firsts, len(numbers)).astype(np.int32))


def _scattered(offsets: Ints, names: Int32s, known: Names) -> pa.RecordBatch:
    """The notifications of matches in the order of their offsets, by compiled code."""
    from wherecast.matching import scatter_kernels

    found, counts, places = (np.empty(len(names), np.int32) for _ in range(3))
    used_count = scatter_kernels.distinct(names, known.marks(), found, counts, places)
    packed = np.sort(known.ranks(found[:used_count]) << 32 | np.arange(used_count))
    order = packed & 0xFFFFFFFF
    used = _Used.of(found[order], known)
    keys = np.empty(used_count, np.int64)
    keys[order] = used.owners.astype(np.int64) << 32 | used.ids
    ends = np.append(0, np.cumsum(np.add.reduceat(counts[order], used.bounds[:-1], dtype=np.int64)))
    where, note_ends, starts, ids = scatter_kernels.scatter(offsets, places, keys, ends)
    return _segment(used, known, note_ends, where, starts, ids)


def _sorted(offsets: Ints, names: Int32s, known: Names) -> pa.RecordBatch:
    """The notifications of matches in the order of their offsets, by sorts."""
    count = len(names)
    by_name = np.sort(known.ranks(names) << 32 | np.arange(count))
    ranks, matches = by_name >> 32, by_name & 0xFFFFFFFF
    is_new = _changes(ranks)
    used = _Used.of(names[matches[is_new]], known)
    places = np.cumsum(is_new) - 1
    # The publications in their order, and the subscribers, are numbered: so three numbers fit one.
    rows = np.cumsum(_changes(offsets)) - 1
    keys = (used.owners[places].astype(np.int64), rows[matches], used.ids[places])
    widths = [int(key.max()).bit_length() for key in keys]
    if sum(widths) <= _KEY_BITS:
        owners, rows, ids = keys
        packed = np.sort(((owners << widths[1] | rows) << widths[2]) | ids)
        notes, own_ids = packed >> widths[2], packed & ((1 << widths[2]) - 1)
        is_note = _changes(notes)
        owners, rows = notes[is_note] >> widths[1], notes[is_note] & ((1 << widths[1]) - 1)
    else:
        order = np.lexsort(keys[::-1])
        owners, rows, own_ids = (key[order] for key in keys)
        is_note = _changes(owners) | _changes(rows)
        owners, rows = owners[is_note], rows[is_note]
    starts = np.append(np.flatnonzero(is_note), count).astype(np.int32)
    note_ends = np.searchsorted(owners, np.arange(len(used.bounds))).astype(np.int32)
    where = offsets[np.flatnonzero(_changes(offsets))[rows]]
    return _segment(used, known, note_ends, where, starts, own_ids.astype(np.int32))


def _segment(
    used: _Used, known: Names, note_ends: Int32s, offsets: Ints, starts: Int32s, ids: Int32s
) -> pa.RecordBatch:
    """The batch of notifications, subscriber by subscriber.

    Args:
        used: the names that matched.
        known: all names.
        note_ends: where the notifications of each subscriber begin and end.
        offsets: of the publication of each notification.
        starts: where the ids of each notification begin and end.
        ids: of the notifications, as places among those of their subscriber.
    """
    matched = pa.ListArray.from_arrays(array_of(starts), array_of(ids))
    subscribers = known.subscribers_of(used.numbers[used.bounds[:-1]]).cast(pa.string())
    subscription_ids = known.ids_of(used.numbers).cast(pa.string())
    columns = [
        subscribers,
        pa.ListArray.from_arrays(array_of(used.bounds), subscription_ids),
        pa.ListArray.from_arrays(array_of(note_ends), array_of(offsets)),
        pa.ListArray.from_arrays(array_of(note_ends), matched),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SEGMENT)


def _changes(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return np.append(True, values[1:] != values[:-1])
