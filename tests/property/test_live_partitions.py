"""A change acts on a publication where the batch knows it and its position is reached, no sooner.

A log of three partitions is cut into batches of one partition each, which may know fewer changes
than act on their publications. The oracle replays, for each publication alone, the changes that act
on it by the rule. Each batch is then made again, from the newest snapshot that may be used for it.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract.stores import changes, headers_of
from tests.live_log import told
from wherecast import Filter, Schema
from wherecast.columns import decode_rows
from wherecast.columns.log_encoding import encode_batch
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.stage.read_range import read_range
from wherecast.pipeline.live.subscriptions import held_versions, live_snapshots, roster
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.subscriptions.subscription_cache import (
    SubscriptionCache,
    subscriptions_at,
)
from wherecast.store.blobs.posix_blobs import PosixBlobs
from wherecast.store.memory.log import MemoryLog
from wherecast.store.position import Position
from wherecast.store.records import Publications

AIR = Schema.from_dict({"no2": "int"})
PARTITIONS = 3
names = st.sampled_from(["ana", "bob", "čiro"])
ids = st.sampled_from(["s1", "s2"])
filters = st.sampled_from(["no2 > 3", "no2 < 3", "no2 = 5", "no2 <> 5"])
change = st.one_of(
    st.tuples(st.just("subscribe"), st.just("air"), names, ids, filters),
    st.tuples(st.just("unsubscribe"), st.just("air"), names, ids, st.just("")),
    st.tuples(st.just("forget"), st.just(""), names, st.just(""), st.just("")),
)
records = st.one_of(
    st.tuples(st.just("change"), st.lists(change, min_size=1, max_size=4)),
    st.tuples(st.just("publish"), st.lists(st.integers(0, 6), min_size=1, max_size=3)),
)
Found = dict[tuple[str, int], list[str]]


@dataclass(frozen=True)
class Made:
    """A batch: what it covers, what it knows, where all partitions stood before it."""

    range: Range
    changes: int
    start: Position


def log_of(given: list[tuple[str, Any]]) -> tuple[MemoryLog, dict[tuple[int, int], int]]:
    """A log of the records, and the value at each partition and offset."""
    log, values = MemoryLog(PARTITIONS), {}
    log.change(changes(("stream", "air", "", "", AIR.to_json())), at=0)
    for kind, content in given:
        if kind == "change":
            log.change(changes(*content), at=0)
            continue
        batch = decode_rows([{"no2": value} for value in content], AIR).batch
        nulls, count = pa.nulls(len(content), pa.binary()), len(content)
        given_rows = Publications(
            "air",
            encode_batch(batch, AIR),
            headers_of(id=[None] * count),
            nulls,
            np.zeros(count, np.uint64),
        )
        receipt = log.append(given_rows, at=0)
        places = zip(receipt.partitions.tolist(), receipt.offsets.tolist(), strict=True)
        values |= dict(zip(places, content, strict=True))
    return log, values


def expected(log: MemoryLog, values: dict[tuple[int, int], int], made: Made) -> Found:
    """The subscriptions that match in a batch, by subscriber and offset."""
    found: Found = {}
    for offset in range(made.range.first, made.range.end):
        standing: dict[tuple[str, str], Filter] = {}
        for entry in log.changes(0, log.changes_end()):
            if entry.end > made.changes or entry.acts_from[made.range.partition] > offset:
                continue
            for row in entry.changes.to_pylist():
                name, id = row["subscriber"], row["id"]
                if row["kind"] == "forget":
                    standing = {key: one for key, one in standing.items() if key[0] != name}
                else:
                    standing.pop((name, id), None)
                if row["kind"] == "subscribe":
                    standing[name, id] = Filter(row["text"], AIR)
        for (name, id), one in standing.items():
            if one.matches({"no2": values[made.range.partition, offset]}):
                found.setdefault((name, offset), []).append(id)
    return {key: sorted(own) for key, own in found.items()}


def matched(log: MemoryLog, known: LiveSubscriptions, made: Made) -> Found:
    return told(match_range(made.range, read_range(log, made.range), known, at=0).notifications)


@given(st.lists(records, min_size=4, max_size=24), st.data())
@settings(max_examples=25)
def test_a_batch_has_the_changes_that_act_by_the_rule(log: list[Any], data: st.DataObject) -> None:
    store, values = log_of(log)
    versions = [entry.end for entry in store.changes(0, store.changes_end())]
    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr(roster, "_SLACK", 2)
        patch.setattr(held_versions, "_ADDITIONS_MIN", 3)
        blobs, batches = PosixBlobs(Path(scratch)), []
        known, start, place = LiveSubscriptions(), Position(), 0
        while not start.reaches(store.ends()):
            open_ones = [p for p in store.ends() if start[p] < store.ends()[p]]
            partition = data.draw(st.sampled_from(open_ones))
            end = data.draw(st.integers(start[partition] + 1, store.ends()[partition]))
            place = data.draw(st.integers(place, len(versions) - 1))
            made = Made(Range(partition, start[partition], end), versions[place], start)
            batches.append(made)
            known.advance(store.changes(known.roster.version, made.changes), made.changes, start)
            if data.draw(st.integers(0, 3)) == 0:
                known.collect(start)
                live_snapshots.save(known, blobs)
            assert matched(store, known, made) == expected(store, values, made)
            start = Position({**start, partition: end})
        for made in batches:
            again = subscriptions_at(store, blobs, made.start, made.changes)
            assert again.roster.version == made.changes
            assert matched(store, again, made) == expected(store, values, made)


def test_a_state_is_not_used_for_an_earlier_batch() -> None:
    given = [
        ("change", [("subscribe", "air", "ana", "s1", "no2 > 3")]),
        ("publish", [5]),
        ("change", [("subscribe", "air", "ana", "s1", "no2 < 3")]),
        ("publish", [5]),
    ]
    store, values = log_of(given)
    cache = SubscriptionCache(store, None)
    later = cache.at(Position({0: 1}), 3)
    assert (later.roster.version, cache.loads) == (3, 1)
    assert cache.at(Position({0: 1}), 3) is later
    assert cache.loads == 1
    earlier = Made(Range(0, 0, 1), 2, Position())
    again = cache.at(earlier.start, earlier.changes)
    assert (again.roster.version, cache.loads) == (2, 2)
    assert matched(store, again, earlier) == expected(store, values, earlier) != {}
    fewer = Made(Range(1, 0, 1), 2, Position({0: 1}))
    assert cache.at(Position({0: 1}), 3).roster.version == 3
    again = cache.at(fewer.start, fewer.changes)  # no later change acts, though it would at 0
    assert again.roster.version == 2
    assert matched(store, again, fewer) == expected(store, values, fewer) != {}
