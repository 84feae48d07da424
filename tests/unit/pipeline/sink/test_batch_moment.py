"""The moment of a batch of a stream: fixed once, remembered for a while."""

from pathlib import Path

import pytest

from wherecast.model import ConfigError
from wherecast.model.times import current_micros
from wherecast.pipeline.sink.batch_moment import batch_moment, shared_moments
from wherecast.pipeline.sink.sink_commit import StreamBatch, exists
from wherecast.pipeline.sink.sink_location import SinkLocation


def test_a_batch_keeps_its_moment(tmp_path: Path) -> None:
    location = SinkLocation(str(tmp_path / "sink"))
    before = current_micros()
    first = batch_moment(shared_moments(location), StreamBatch("q", 7))
    assert before <= first <= current_micros()
    assert batch_moment(location.blobs, StreamBatch("q", 7)) == first
    assert batch_moment(location.blobs, StreamBatch("q", 8)) > first
    assert batch_moment(location.blobs, StreamBatch("other", 7)) > first
    assert not exists(location)


def test_a_hundred_batches_are_remembered(tmp_path: Path) -> None:
    location = SinkLocation(str(tmp_path / "sink"))
    for number in range(103):
        batch_moment(location.blobs, StreamBatch("q", number))
    names = sorted(path.name for path in (tmp_path / "sink/_wherecast/moments/q").iterdir())
    assert [int(name) for name in names] == list(range(3, 103))


def test_tasks_need_a_store_with_conditional_writes() -> None:
    with pytest.raises(ConfigError, match="two writers are not safe on hdfs"):
        shared_moments(SinkLocation("hdfs://host/sink"))
