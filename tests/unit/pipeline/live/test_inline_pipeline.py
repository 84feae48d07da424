"""A pipeline that takes over from another one."""

import pytest

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.publisher import Publisher
from wherecast.model import ConflictError
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.store.open_store import open_store
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
    assert second.commit(batch).sequence == 2
    with pytest.raises(ConflictError):
        first.commit(batch)
    assert store.batches.progress() == Progress(batch.end, batch.changes, 2)
    core.close()
