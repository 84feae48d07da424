"""A delivering side hears of what a pipeline elsewhere commits."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from tests.unit.broker.feeding import ack_through, match, moment, opened, publish
from wherecast import StoreError, Subscription, WherecastError
from wherecast.broker.commit_source import CommitSource
from wherecast.broker.core_limits import Retention
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.runner import Runner
from wherecast.broker.tending import Tending
from wherecast.store.clock import now_us
from wherecast.store.contracts import Store
from wherecast.store.open_store import open_store
from wherecast.store.records import Progress

LIMIT_S = 60.0


@contextmanager
def following(path: Path) -> Iterator[tuple[Store, Courier, Runner]]:
    """An owner without a pipeline, whose runner is not started yet."""
    store = open_store(path)
    registrar = opened(store)
    registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 0", "ana"), 0)
    courier = Courier(store, lambda first, end: None)
    courier.open("ana")
    tending = Tending(store, courier, Retention(), lambda: None, now_us)
    runner = Runner(CommitSource(store.batches, courier), tending, courier.close)
    try:
        yield store, courier, runner
    finally:
        runner.stop()
        store.close()


def test_a_commit_elsewhere_wakes_a_waiting_take(tmp_path: Path) -> None:
    with following(tmp_path / "store") as (store, courier, runner):
        publish(store, [1])
        pipeline = open_store(tmp_path / "store", "pipeline")
        match(pipeline)  # before it follows
        runner.start()
        assert [one.sequence for one in courier.take("ana", 5, LIMIT_S)] == [moment(0)]
        ack_through(courier, "ana", moment(0))
        for sequence in map(moment, range(1, 4)):
            publish(store, [1])
            match(pipeline)
            found = courier.take("ana", 5, LIMIT_S)
            assert [one.sequence for one in found] == [sequence]
            ack_through(courier, "ana", sequence)
        pipeline.close()
        runner.check()
        assert runner.problem is None


def test_what_cannot_be_read_is_tried_again(tmp_path: Path) -> None:
    with following(tmp_path / "store") as (store, courier, runner):
        wait, failed = store.batches.wait, Event()

        def broken(is_enough: object, timeout_s: float) -> bool:
            store.batches.wait = wait  # type: ignore[method-assign]
            failed.set()
            raise StoreError("the disk is gone")

        store.batches.wait = broken  # type: ignore[method-assign]
        runner.start()
        assert failed.wait(LIMIT_S)
        publish(store, [1])
        pipeline = open_store(tmp_path / "store", "pipeline")
        match(pipeline)
        pipeline.close()
        assert len(courier.take("ana", 5, LIMIT_S)) == 1
        runner.check()


def test_what_ends_it_is_told(tmp_path: Path) -> None:
    with following(tmp_path / "store") as (store, courier, runner):

        def broken() -> Progress:
            raise RuntimeError("a mistake")

        store.batches.progress = broken  # type: ignore[method-assign]
        runner.start()
        assert courier.take("ana", 1, LIMIT_S) == ()  # it is let go
        with pytest.raises(WherecastError, match="delivery failed: a mistake"):
            runner.check()
