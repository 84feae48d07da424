"""What a slice does until it ends, and what ends it."""

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.intake.intake import prepare
from wherecast.pipeline.live.log_matching import LogMatching
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.slice import NotStoredError, SliceOptions, run_slice
from wherecast.pipeline.live.subscriptions.subscription_cache import SubscriptionCache
from wherecast.store.open_store import open_store

GAP = 2**24  # sequences between two offsets
SCHEMA = wc.Schema.from_dict({"no2": "int"})
LONG_S = 600.0


class Slices:
    """A store with a subscriber of everything, and slices that match it.

    Attributes:
        told: the figures that slices have told.
    """

    def __init__(self, path: Path) -> None:
        self.stop_file = path / "stop"
        self.store = open_store(path / "store")
        self.told: list[PipelineFigures] = []
        self.epoch = self.store.batches.begin()
        core = BrokerCore(self.store, SCHEMA, runs_pipeline=False)
        core.registrar.register("ana", 0)
        core.registrar.subscribe(wc.Subscription("s1", "no2 >= 0", "ana"), 0)

    def publish(self, count: int) -> None:
        given = [wc.Publication({"no2": number}) for number in range(count)]
        self.store.log.append(prepare(given, "default", SCHEMA).good, 0)

    def matching(self, publications_max: int = 1_000) -> LogMatching:
        cache = SubscriptionCache(self.store.log, self.store.snapshots)
        return LogMatching(self.store, self.epoch, lambda: 0, cache, publications_max)

    def run(
        self, length_s: float = LONG_S, backlog: int | None = None, poison: tuple[int, ...] = ()
    ) -> None:
        options = SliceOptions(length_s, backlog, self.stop_file, poison)
        run_slice(self.matching(), self.store.log, options, self.told.append)

    def start(self, run: Callable[[], None] | None = None) -> threading.Thread:
        """A slice beside the test."""
        thread = threading.Thread(target=run or self.run, daemon=True)
        thread.start()
        return thread

    def stop(self, *running: threading.Thread) -> None:
        """Stops slices as whoever stops their query does."""
        self.stop_file.touch()
        self.store.log.wake()
        for thread in running:
            thread.join(60)
            assert not thread.is_alive()

    def reached(self, offset: int) -> bool:
        """Whether everything before an offset is committed; waits for it."""
        return self.store.batches.wait(lambda progress: progress.position[0] >= offset, 60)

    def queued(self) -> list[int]:
        """The offsets that Ana is notified of."""
        found = self.store.mailboxes.queued("ana", 0, 10_000).sequences
        return [one // GAP for one in found.tolist()]


@pytest.fixture(autouse=True)
def only_wakings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has a slice look again only where it is woken."""
    monkeypatch.setattr("wherecast.store.wake._LOOK_AGAIN_S", 3600.0)
    monkeypatch.setattr("wherecast.pipeline.live.slice._LOOK_S", 3600.0)


@pytest.fixture
def slices(tmp_path: Path) -> Iterator[Slices]:
    made = Slices(tmp_path)
    yield made
    made.store.close()


def test_a_slice_matches_what_comes_until_it_is_stopped(slices: Slices) -> None:
    running = slices.start()
    for end in (1, 2, 5, 9):
        slices.publish(end - slices.store.log.ends()[0])
        assert slices.reached(end)
    slices.stop(running)
    assert slices.queued() == list(range(9))
    assert sum(one.publications for one in slices.told) == 9
    assert sum(one.batches for one in slices.told) == 4


def test_a_slice_that_is_stopped_before_it_begins_does_nothing(slices: Slices) -> None:
    slices.publish(3)
    slices.stop()
    slices.run()
    assert slices.queued() == []


def test_a_slice_ends_after_its_time(slices: Slices) -> None:
    slices.publish(3)
    slices.run(length_s=0.0)
    assert slices.queued() == []
    slices.start(lambda: slices.run(length_s=0.01)).join(60)


def test_a_slice_ends_for_a_backlog(slices: Slices) -> None:
    slices.publish(10)
    running = slices.start(lambda: slices.run(backlog=9))
    running.join(60)
    assert not running.is_alive()
    assert slices.queued() == []
    running = slices.start(lambda: slices.run(backlog=10))
    assert slices.reached(10)
    slices.publish(11)
    running.join(60)
    assert not running.is_alive()
    assert slices.queued() == list(range(10))


def test_a_slice_ends_with_the_parent_of_its_process(
    slices: Slices, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = slices.start()
    slices.publish(1)
    assert slices.reached(1)
    monkeypatch.setattr(os, "getppid", lambda: 1)
    slices.store.log.wake()  # it would look by itself once a second
    running.join(60)
    assert not running.is_alive()


def test_the_next_slice_goes_on(slices: Slices) -> None:
    for end in (3, 6):
        slices.stop_file.unlink(missing_ok=True)
        running = slices.start()
        slices.publish(3)
        assert slices.reached(end)
        slices.stop(running)
    assert slices.queued() == list(range(6))


def test_two_slices_at_once_commit_nothing_twice(slices: Slices) -> None:
    """As after a worker that was given up, and goes on all the same; one of them may fail."""

    def run() -> None:
        while not slices.stop_file.exists():
            try:
                slices.run()
            except NotStoredError as error:
                assert "does not continue" in str(error)  # noqa: PT017

    running = [slices.start(run) for _ in range(2)]
    for _ in range(60):
        slices.publish(2)
    assert slices.reached(120)
    slices.stop(*running)
    assert slices.queued() == list(range(120))


def test_a_slice_of_a_pipeline_that_was_replaced_commits_nothing(slices: Slices) -> None:
    slices.publish(3)
    slices.store.batches.begin()
    with pytest.raises(wc.ConflictError, match="pipeline 1 was replaced by pipeline 2"):
        slices.run()
    assert slices.queued() == []


def test_poison_is_left_out(slices: Slices) -> None:
    slices.publish(4)
    running = slices.start(lambda: slices.run(poison=(2,)))
    assert slices.reached(4)
    slices.stop(running)
    assert slices.queued() == [0, 1, 3]
    assert [one.offset for _, one in slices.store.batches.dead_letters()] == [2]
