"""What a task of the live pipeline gives back: one row per range, with its segment."""

import orjson
import pyarrow as pa

from wherecast.pipeline.live.stage import Matched
from wherecast.store.records import SEGMENT, DeadLetter, Segment

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


def row_of(matched: Matched, changes: int) -> pa.RecordBatch:
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
