"""What the driver makes of the rows that tasks give back; the query itself is tested on Spark."""

import pytest

pytest.importorskip("pyspark")

from typing import Any

import pyarrow as pa

from wherecast.pipeline.live.figures import Figures
from wherecast.pipeline.live.log_source import _cut
from wherecast.pipeline.live.notify import NOTHING
from wherecast.pipeline.live.results import row_of, segment_of
from wherecast.pipeline.live.spark import batch_of
from wherecast.pipeline.live.stage import Matched, Range
from wherecast.store.position import Position
from wherecast.store.records import DeadLetter, Segment


def row(partition: int, first: int, end: int, *letters: DeadLetter) -> dict[str, Any]:
    matched = Matched(Segment(partition, first, end, NOTHING), letters, Figures())
    (made,) = pa.Table.from_batches([row_of(matched, changes=end)]).to_pylist()
    assert isinstance(made, dict)
    return made


def test_a_batch_covers_what_its_rows_cover() -> None:
    letter = DeadLetter("air", 1, 6, "damaged", 9)
    rows = [row(0, 10, 12), row(1, 5, 7, letter), row(0, 7, 10)]
    batch = batch_of(rows, Position({0: 7, 1: 5, 2: 3}), 99)
    assert batch.start == Position({0: 7, 1: 5, 2: 3})
    assert batch.end == Position({0: 12, 1: 7, 2: 3})
    assert batch.changes == 12
    assert batch.dead_letters == (letter,)
    assert batch.at == 99
    assert [(one.partition, one.first, one.end) for one in batch.segments] == [
        (0, 10, 12),
        (1, 5, 7),
        (0, 7, 10),
    ]


def test_a_segment_comes_back_as_it_was_made() -> None:
    segment, letters = segment_of(row(3, 1, 2))
    assert (segment.partition, segment.first, segment.end) == (3, 1, 2)
    assert segment.notifications.equals(NOTHING)
    assert letters == ()


@pytest.mark.parametrize(
    ("count", "tasks", "parts"), [(1, 4, 1), (999, 4, 1), (100_000, 4, 4), (100_001, 3, 3)]
)
def test_a_large_range_is_shared_by_tasks(count: int, tasks: int, parts: int) -> None:
    cut = list(_cut(Range(2, 7, 7 + count), tasks))
    assert len(cut) == parts
    assert [one.first for one in cut] == [7, *(one.end for one in cut[:-1])]
    assert cut[-1].end == 7 + count
    assert {one.partition for one in cut} == {2}
