"""The stage on Spark: rows of the log source to one row per range with its segment.

A worker keeps the subscriptions in force between tasks and batches, and reads only the changes that
are new to it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import orjson
import pyarrow as pa

from wherecast.pipeline.live.figures import Figures
from wherecast.pipeline.live.in_force import InForce
from wherecast.pipeline.live.keeper import Keeper
from wherecast.pipeline.live.stage import Matched, Range, match_range
from wherecast.store.clock import now_us
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import SEGMENT, DeadLetter, Entry, Segment

RESULT = pa.schema(
    [
        ("partition", pa.int32()),
        ("first", pa.int64()),
        ("end", pa.int64()),
        ("changes", pa.int64()),
        ("segment", pa.binary()),
        ("dead_letters", pa.binary()),
        ("figures", pa.binary()),
    ]
)
RESULT_DDL = (
    "partition int, first long, end long, changes long, "
    "segment binary, dead_letters binary, figures binary"
)
"""What the stage made of a range: its notifications (Arrow), dead letters and figures (JSON)."""


@dataclass(frozen=True, slots=True)
class LiveStage:
    """The function that Spark runs on batches of `log_source.ROWS`; it can be pickled.

    Attributes:
        path: the directory of the store.
        poison: the offsets of publications that are left out.
    """

    path: str
    poison: tuple[int, ...] = ()

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A row of `RESULT` per batch that has rows."""
        for batch in batches:
            if batch.num_rows:
                yield self._result(batch)

    def _result(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        entries = list(_entries(batch))
        start, changes, first, end = (
            batch.column(name)[0].as_py() for name in ("start", "changes", "first", "end")
        )
        last = entries[-1]
        covered = Range(last.partition, max(first, entries[0].first), 0)
        covered = Range(last.partition, covered.first, min(end, last.first + last.count))
        figures = Figures()
        with figures.timed("subscriptions"):
            known = _subscriptions(self.path, Position.from_json(start), changes)
        matched = match_range(covered, entries, known, now_us(), self.poison)
        matched.figures.add(figures)
        return _row(matched, changes)


def _entries(batch: pa.RecordBatch) -> Iterator[Entry]:
    """The entries of a batch of `log_source.ROWS`."""
    names = ("partition", "offset", "count", "stream", "accepted_at", "attributes", "rows")
    columns = [batch.column(name).to_pylist() for name in (*names, "damage")]
    for partition, first, count, stream, at, attributes, rows, damage in zip(*columns, strict=True):
        places = None if rows is None else np.frombuffer(rows, np.int32)
        yield Entry(partition, first, count, stream, at, attributes, places, None, damage)


_keepers: dict[str, Keeper] = {}


def _subscriptions(path: str, start: Position, changes: int) -> InForce:
    """The subscriptions in force of this process, for a batch that begins at a position."""
    if path not in _keepers:
        store = EmbeddedStore(path, "reader")
        _keepers[path] = Keeper(store.log, store.snapshots)
    return _keepers[path].at(start, changes)


def _row(matched: Matched, changes: int) -> pa.RecordBatch:
    """A row of `RESULT`."""
    segment = matched.segment
    values = [
        segment.partition,
        segment.first,
        segment.end,
        changes,
        bytes(segment.notifications.serialize()),
        orjson.dumps(matched.dead_letters),
        orjson.dumps(matched.figures),
    ]
    arrays = [pa.array([value], RESULT[place].type) for place, value in enumerate(values)]
    return pa.RecordBatch.from_arrays(arrays, schema=RESULT)


def segment_of(row: dict[str, object]) -> tuple[Segment, tuple[DeadLetter, ...]]:
    """The segment and the dead letters of a row of `RESULT`."""
    segment, letters = row["segment"], row["dead_letters"]
    assert isinstance(segment, bytes)
    assert isinstance(letters, bytes)
    notifications = pa.ipc.read_record_batch(pa.py_buffer(segment), SEGMENT)
    dead = tuple(DeadLetter(**letter) for letter in orjson.loads(letters))
    partition, first, end = (row[name] for name in ("partition", "first", "end"))
    assert isinstance(partition, int)
    assert isinstance(first, int)
    assert isinstance(end, int)
    return Segment(partition, first, end, notifications), dead
