"""The cost of grouping matches by subscriber, compared with sorting names in every batch.

`group_by_names` is a simple twin that does not use the order of the roster: it sorts the names of
the matches themselves. Both must return the same batch.
"""

from collections.abc import Callable, Iterator
from time import thread_time
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, values_of
from wherecast.bench.measured import WrongResult
from wherecast.bench.progress import Row
from wherecast.pipeline.live.stage.group_matches import group_matches
from wherecast.pipeline.live.stage.join_shares import JoinedMatches
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.store.records import SEGMENT

Ints = npt.NDArray[np.int64]
MATCHES = (1, 10, 100, 1_000)  # per publication
_SUBSCRIPTIONS = 200_000
_PER_SUBSCRIBER = 4
_PUBLICATIONS = 1_000
_ROUNDS = 5


def measure(size: int | None, seed: int) -> Iterator[Row]:
    """A row for each number of matches per publication."""
    count = min(size or _SUBSCRIPTIONS, _SUBSCRIPTIONS)
    names = [(f"subscriber-{n // _PER_SUBSCRIBER:06}", f"s{n % 4}") for n in range(count)]
    draw = np.random.default_rng(seed)
    order = draw.permutation(count)  # the order of versions is not the order of names
    roster = Roster()
    by_version = [names[place] for place in map(int, order)]
    for version, (subscriber, id) in enumerate(by_version):
        roster.held.enter(version, subscriber, id, "stream")
    roster.held.merge()
    publications = min(size or _PUBLICATIONS, _PUBLICATIONS)
    for matches in MATCHES:
        if matches <= count:
            yield _row(_drawn(draw, count, matches, publications), matches, roster, by_version)


def _drawn(draw: np.random.Generator, count: int, matches: int, publications: int) -> JoinedMatches:
    """Matches of publications, each with `matches` different versions."""
    firsts, step = draw.integers(count, size=(publications, 1)), max(1, count // matches)
    versions = (firsts + np.arange(matches) * step) % count
    offsets = np.repeat(np.arange(publications, dtype=np.int64), matches)
    return JoinedMatches(offsets, versions.reshape(-1).astype(np.int64))


def _row(found: JoinedMatches, matches: int, roster: Roster, names: list[tuple[str, str]]) -> Row:
    """The cost of both ways, measured in turns; raises WrongResult if their results differ."""
    ways: dict[str, Callable[[], pa.RecordBatch]] = {
        "twin": lambda: group_by_names(found, names),
        "own": lambda: group_matches(found, roster),
    }
    results = {way: call() for way, call in ways.items()}
    if not results["own"].equals(results["twin"]):
        raise WrongResult(f"grouping × {matches}: the two ways give different notifications")
    costs = dict.fromkeys(ways, float("inf"))
    for _ in range(_ROUNDS):
        for way, call in ways.items():
            begun = thread_time()
            call()
            costs[way] = min(costs[way], thread_time() - begun)
    publications = int(found.offsets[-1]) + 1
    return {
        "what": f"grouping, × {matches}",
        "publications": publications,
        "matches": len(found.offsets),
        "twin µs/publication": costs["twin"] / publications * 1e6,
        "grouping µs/publication": costs["own"] / publications * 1e6,
        "grouping ratio": costs["twin"] / max(costs["own"], 1e-9),
    }


def group_by_names(found: JoinedMatches, names: list[tuple[str, str]]) -> pa.RecordBatch:
    """The notifications of matches, grouped by sorting the names of this batch."""
    versions, places = np.unique(found.versions, return_inverse=True)
    pairs = [names[version] for version in versions.tolist()]
    subscribers = pa.array([subscriber for subscriber, _ in pairs], pa.string())
    ids = pa.array([id for _, id in pairs], pa.string())
    table = pa.Table.from_arrays([subscribers, ids], ["name", "id"])
    order = pc.sort_indices(table, [("name", "ascending"), ("id", "ascending")])
    subscribers, ids = subscribers.take(order), ids.take(order)
    new_name = np.append(True, values_of(pc.not_equal(subscribers[1:], subscribers[:-1])))
    firsts = np.append(np.flatnonzero(new_name), len(ids))
    back = np.empty(len(versions), np.int64)
    back[values_of(order)] = np.arange(len(versions))
    owners = (np.cumsum(new_name) - 1)[back][places]
    locals_ = (np.arange(len(ids)) - firsts[np.cumsum(new_name) - 1])[back][places]
    by_owner = np.lexsort((locals_, found.offsets, owners))
    owners, where = owners[by_owner], found.offsets[by_owner]
    is_new = np.append(True, (np.diff(owners) != 0) | (np.diff(where) != 0))
    starts = np.flatnonzero(is_new)
    bounds = np.searchsorted(owners[starts], np.arange(len(firsts)))
    matched = pa.ListArray.from_arrays(
        _ints32(np.append(starts, len(owners))), _ints32(locals_[by_owner])
    )
    columns = [
        subscribers.filter(array_of(new_name)),
        pa.ListArray.from_arrays(_ints32(firsts), ids),
        pa.ListArray.from_arrays(_ints32(bounds), array_of(where[starts])),
        pa.ListArray.from_arrays(_ints32(bounds), matched),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SEGMENT)


def _ints32(values: npt.NDArray[Any]) -> pa.Array:
    return array_of(values.astype(np.int32))
