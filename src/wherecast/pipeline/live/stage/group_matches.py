"""group: all matches of a range → its notifications, a row per subscriber."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, values_of
from wherecast.pipeline.live.stage.join_shares import JoinedMatches
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.store.records import SEGMENT

Ints = npt.NDArray[np.int64]

_FEW = 64  # matches
# Not from a list: for that pyarrow imports pandas, where it is installed.
NOTHING = pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in SEGMENT.types], schema=SEGMENT)


def group_matches(matches: JoinedMatches, roster: Roster) -> pa.RecordBatch:
    """The notifications of matches: a batch of `SEGMENT`.

    Args:
        matches: in any order.
        roster: has the names behind the numbers.
    """
    offsets, numbers = matches.offsets, matches.numbers
    if len(offsets) <= _FEW:
        return _few(offsets, numbers, roster) if len(offsets) else NOTHING
    versions, places = np.unique(numbers, return_inverse=True)
    named = _named(versions.tolist(), roster)
    order = np.lexsort((named.locals[places], offsets, named.owners[places]))
    owners, where = named.owners[places][order], offsets[order]
    starts = np.flatnonzero(_changes(owners) | _changes(where))
    bounds = np.searchsorted(owners[starts], np.arange(len(named.subscribers) + 1))
    places_of_each = pa.ListArray.from_arrays(
        _ints32(np.append(starts, len(order))), _ints32(named.locals[places][order])
    )
    columns = [
        named.subscribers,
        pa.ListArray.from_arrays(_ints32(named.bounds), named.ids),
        pa.ListArray.from_arrays(_ints32(bounds), array_of(where[starts])),
        pa.ListArray.from_arrays(_ints32(bounds), places_of_each),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SEGMENT)


def _few(offsets: Ints, numbers: Ints, roster: Roster) -> pa.RecordBatch:
    """The same one by one, which is sooner for a few matches: numpy and Arrow cost by the call."""
    by_name: dict[str, dict[int, set[str]]] = {}
    for offset, number in zip(offsets.tolist(), numbers.tolist(), strict=True):
        found = by_name.setdefault(roster.subscribers[number], {})
        found.setdefault(offset, set()).add(roster.ids[number])
    columns: tuple[list[Any], ...] = ([], [], [], [])
    for name, found in sorted(by_name.items()):
        ids = sorted(set().union(*found.values()))
        where = sorted(found)
        matched = [[place for place, id in enumerate(ids) if id in found[at]] for at in where]
        for column, value in zip(columns, (name, ids, where, matched), strict=True):
            column.append(value)
    arrays = [pa.array(column, kind) for column, kind in zip(columns, SEGMENT.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SEGMENT)


@dataclass(frozen=True, slots=True, eq=False)
class _Named:
    """Subscriptions by subscriber.

    Attributes:
        subscribers: distinct names, sorted.
        ids: the distinct ids of each subscriber, sorted, one subscriber after the other.
        bounds: where the ids of each subscriber begin and end.
        owners: of each version the place of its subscriber.
        locals: of each version the place of its id among those of its subscriber.
    """

    subscribers: pa.Array
    ids: pa.Array
    bounds: Ints
    owners: Ints
    locals: Ints


def _named(versions: list[int], roster: Roster) -> _Named:
    """The names of versions. Two versions of one subscription have the same name."""
    names = pa.array([roster.subscribers[number] for number in versions], pa.string())
    ids = pa.array([roster.ids[number] for number in versions], pa.string())
    table = pa.Table.from_arrays([names, ids], ["name", "id"])  # `pa.table` imports pandas
    order = pc.sort_indices(table, [("name", "ascending"), ("id", "ascending")])
    names, ids = names.take(order), ids.take(order)
    new_name = _new(names)
    new_pair = new_name | _new(ids)
    owners, pairs = np.cumsum(new_name) - 1, np.cumsum(new_pair) - 1
    firsts = np.append(np.flatnonzero(new_name[new_pair]), pairs[-1] + 1)
    back = np.empty(len(versions), np.int64)
    back[values_of(order)] = np.arange(len(versions))
    locals_ = pairs - firsts[owners]
    return _Named(
        names.filter(array_of(new_name)),
        ids.filter(array_of(new_pair)),
        firsts,
        owners[back],
        locals_[back],
    )


def _new(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Whether each value differs from the one before it."""
    differs = values_of(pc.not_equal(values[1:], values[:-1]))
    return np.append(True, differs)


def _changes(values: Ints) -> npt.NDArray[np.bool_]:
    return np.append(True, np.diff(values) != 0)


def _ints32(values: Ints) -> pa.Array:
    return array_of(values.astype(np.int32))
