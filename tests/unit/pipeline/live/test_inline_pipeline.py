"""A pipeline that takes over from another one."""

from pathlib import Path

import pyarrow as pa
import pytest

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.publisher import Publisher
from wherecast.model import ConflictError
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.store.embedded.batches import segment_rows
from wherecast.store.open_store import open_store
from wherecast.store.position import Position
from wherecast.store.records import Progress


def test_it_begins_after_the_last_commit_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("memory:")
    core = BrokerCore(store, wc.Schema.from_dict({"no2": "float"}), runs_pipeline=False)
    publisher = Publisher("p", core)
    first = InlinePipeline(store, lambda: 0)
    publisher.publish({"no2": 1.0})
    begin = store.batches.begin

    def begin_late() -> int:
        batch = first.next_batch()
        assert batch is not None
        first.commit(batch)
        return begin()

    monkeypatch.setattr(store.batches, "begin", begin_late)
    second = InlinePipeline(store, lambda: 0)
    publisher.publish({"no2": 2.0})
    batch = second.next_batch()
    assert batch is not None
    assert second.commit(batch).count == 2
    with pytest.raises(ConflictError):
        first.commit(batch)
    end = Position({0: batch.end})
    assert store.batches.progress() == Progress(end, batch.changes, 2 * 2**24, 2, batch.at)
    core.close()


def test_a_segment_is_hashed_once_by_the_process_that_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[int] = []
    digest_of = segment_rows.segment_digest

    def noted(first: int, end: int, data: pa.Buffer) -> bytes:
        hashed.append(first)
        return digest_of(first, end, data)

    monkeypatch.setattr(segment_rows, "segment_digest", noted)
    store = open_store(tmp_path / "store")
    core = BrokerCore(store, wc.Schema.from_dict({"no2": "float"}), runs_pipeline=False)
    core.registrar.register("ana", 0)
    core.registrar.subscribe(wc.Subscription("s1", "no2 > 1", "ana"), 0)
    Publisher("p", core).publish({"no2": 2.0})
    pipeline = InlinePipeline(store, lambda: 0)
    batch = pipeline.next_batch()
    assert batch is not None
    pipeline.commit(batch)
    assert store.mailboxes.queued("ana", 0, 10).sequences.tolist() == [2**24 - 1]
    assert hashed == [0]
    core.close()
