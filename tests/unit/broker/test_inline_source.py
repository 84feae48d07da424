"""The source that matches in this process: batches, retries, and when it gives up."""

from threading import Event

import pytest

from tests.unit.broker.feeding import GAP, SCHEMA, opened, publish
from wherecast import Publication, StoreError, Subscription
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.door.door import Door
from wherecast.broker.door.door_calls import PendingRow
from wherecast.broker.door.door_group import WrittenGroup
from wherecast.broker.inline_source import InlineSource
from wherecast.broker.intake.single_publication import SingleIntake
from wherecast.store.contracts import Store
from wherecast.store.open_store import open_store
from wherecast.store.records import Batch, Progress

LIMIT_S = 20


def served() -> tuple[Store, Courier, InlineSource]:
    """A store with a subscriber that gets everything, and the source that matches it."""
    store = open_store("memory:")
    registrar = opened(store)
    registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 0", "ana"), 0)
    courier = Courier(store, lambda first, end: None)
    courier.open("ana")
    return store, courier, InlineSource(store, courier, lambda: 0)


def offsets(courier: Courier) -> list[int]:
    return [one.sequence // GAP for one in courier.take("ana", 100, 0)]


def test_a_step_matches_and_commits_all_that_is_new() -> None:
    store, courier, source = served()
    publish(store, [1, 2])
    source.step(Event())
    assert offsets(courier) == [0, 1]
    assert store.batches.progress().count == 2
    assert source.commits.is_set()
    assert source.problem is None
    assert source.figures.batches == 1


def test_once_stopped_nothing_is_matched() -> None:
    store, courier, source = served()
    publish(store, [1])
    stopped = Event()
    stopped.set()
    source.step(stopped)
    assert store.batches.progress().count == 0
    source.wake()
    source.step(stopped)  # returns, as it was woken
    assert offsets(courier) == []


def test_a_commit_that_fails_is_tried_again_at_the_next_step() -> None:
    store, courier, source = served()
    publish(store, [1, 2])
    commit = store.batches.commit

    def full(batch: Batch, epoch: int) -> Progress:
        raise StoreError("the disk is full")

    store.batches.commit = full  # type: ignore[method-assign]
    for _ in range(20):  # far more often than a read is tried
        source.step(Event())
        assert str(source.problem) == "the disk is full"
    assert not source.commits.is_set()
    store.batches.commit = commit  # type: ignore[method-assign]
    source.step(Event())
    assert source.problem is None
    assert offsets(courier) == [0, 1]


def test_a_log_that_cannot_be_read_ends_matching_after_several_attempts() -> None:
    store, _, source = served()

    def broken(*_: object, **__: object) -> None:
        raise StoreError("the log is gone")

    publish(store, [1])
    store.log.read = broken  # type: ignore[method-assign,assignment]
    for _ in range(9):
        source.step(Event())
        assert str(source.problem) == "the log is gone"
    with pytest.raises(StoreError, match="the log is gone"):
        source.step(Event())


def test_what_was_matched_while_a_commit_failed_gets_a_record_too() -> None:
    store, courier, source = served()
    door, intake = Door(store, courier.cursors, source.follow), SingleIntake("default", SCHEMA)
    commit = store.batches.commit

    def full(batch: Batch, epoch: int) -> Progress:
        raise StoreError("the disk is full")

    def publish_one(value: float) -> None:
        single = intake.read(Publication({"no2": value}), "")
        assert single is not None
        door.write(PendingRow(single, 0))

    store.batches.commit = full  # type: ignore[method-assign]
    publish_one(1.0)
    source.step(Event())
    publish_one(2.0)
    store.batches.commit = commit  # type: ignore[method-assign]
    source.step(Event())
    assert store.batches.progress().count == 2
    assert offsets(courier) == [0, 1]


def test_where_nobody_knows_what_was_added_the_source_looks() -> None:
    store, courier, source = served()
    source.step(Event())
    publish(store, [1])
    source.follow(WrittenGroup())
    source.step(Event())  # returns, as it was woken
    assert offsets(courier) == [0]
