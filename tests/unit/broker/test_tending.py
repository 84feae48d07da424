"""The upkeep of a store: limits are enforced, segments merged, damage mended, problems told."""

from collections.abc import Callable
from itertools import count
from threading import Event, Thread
from typing import Any

import pytest

from tests.unit.broker.feeding import match, opened, publish, queued
from wherecast import ConflictError, StoreError, Subscription
from wherecast.broker.core_limits import Retention
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.door.door import Door
from wherecast.broker.inline_source import InlineSource
from wherecast.broker.tending import Tending
from wherecast.store.contracts import DamagedSegment, Store
from wherecast.store.open_store import StoreOptions, open_store

LIMIT_S = 60.0
DAY_US = 24 * 3600 * 1_000_000


def stored(steps_us: int = 0) -> Store:
    """A store with a subscriber that has two notifications.

    Args:
        steps_us: by how much its monotonic clock moves at each reading.
    """
    clock = count(0, steps_us).__next__
    store = open_store("memory:", options=StoreOptions(monotonic=clock))
    registrar = opened(store)
    registrar.register("ana", 0)
    registrar.subscribe(Subscription("s1", "no2 > 0", "ana"), 0)
    publish(store, [1, 2])
    match(store)
    return store


def tending_of(
    store: Store,
    courier: Courier,
    clock: Callable[[], int],
    matcher: InlineSource | None = None,
) -> Tending:
    door = Door(store, courier.cursors)
    return Tending(store, courier, Retention(), door.save_cursors, clock, matcher)


def unmended(first: int, end: int) -> None:
    raise AssertionError(f"{first} to {end} is not damaged")


def test_limits_are_enforced_where_another_process_matches() -> None:
    store = stored(8 * DAY_US)
    tending = tending_of(store, Courier(store, unmended), lambda: 8 * DAY_US)
    assert queued(store, "ana") == [0, 1]
    tending.enforce_limits()
    assert queued(store, "ana") == []
    assert tending.queued == 0
    assert store.mailboxes.starts_at() == 0  # segments are of whoever matches


def test_a_clock_that_jumps_ahead_takes_nothing_from_a_queue() -> None:
    store = stored()
    wall = iter([0, 8 * DAY_US, 8 * DAY_US, 0])
    tending = tending_of(store, Courier(store, unmended), lambda: next(wall))
    for _ in range(4):
        tending.enforce_limits()
        assert queued(store, "ana") == [0, 1]


def test_segments_are_removed_where_this_process_matches() -> None:
    store = stored(8 * DAY_US)
    courier = Courier(store, unmended)
    matcher = InlineSource(store, courier, lambda: 0)
    tending_of(store, courier, lambda: 8 * DAY_US, matcher).enforce_limits()
    assert store.mailboxes.starts_at() == store.batches.progress().sequence


def test_a_problem_is_told_until_limits_are_enforced(monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored()
    tending = tending_of(store, Courier(store, unmended), lambda: 0)

    def broken(*_: object) -> None:
        raise StoreError("the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(store.mailboxes, "counts", broken)
        tending.enforce_limits()
    assert str(tending.problem) == "the disk is gone"
    assert tending.queued is None
    tending.enforce_limits()
    assert tending.problem is None
    assert tending.queued == 2


def test_a_problem_is_looked_at_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored()  # limits are enforced every minute otherwise
    tending = tending_of(store, Courier(store, unmended), lambda: 0)
    counts, healed = store.mailboxes.counts, Event()

    def once(*given: Any) -> Any:
        if tending.problem is None:
            raise StoreError("the disk is gone")
        healed.set()
        return counts(*given)

    monkeypatch.setattr(store.mailboxes, "counts", once)
    tending.enforce_limits()
    assert str(tending.problem) == "the disk is gone"
    thread = Thread(target=tending.run)
    thread.start()
    try:
        assert healed.wait(LIMIT_S / 2)
    finally:
        tending.stop()
        thread.join()


@pytest.mark.parametrize("error", [None, StoreError("unmendable"), ConflictError("by another")])
def test_damage_is_mended(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> None:
    store = stored()
    ranges: list[tuple[int, int]] = []

    def mend(first: int, end: int) -> None:
        ranges.append((first, end))
        if error is not None:
            raise error

    def damaged(*_: object) -> None:
        raise DamagedSegment(0, 2, "a bit was flipped")

    tending = tending_of(store, Courier(store, mend), lambda: 0)
    with monkeypatch.context() as patched:
        patched.setattr(store.mailboxes, "counts", damaged)
        tending.enforce_limits()
    assert ranges == [(0, 2)]
    assert tending.problem is (error if isinstance(error, StoreError) else None)


def test_segments_are_merged_after_a_commit() -> None:
    store = stored()
    courier = Courier(store, unmended)
    matcher = InlineSource(store, courier, lambda: 0)
    tending = tending_of(store, courier, lambda: 0, matcher)
    merge, merged = store.mailboxes.merge, Event()

    def noted() -> int:
        merged.set()
        return merge()

    store.mailboxes.merge = noted  # type: ignore[method-assign]
    thread = Thread(target=tending.run)
    thread.start()
    try:
        assert merged.wait(LIMIT_S)  # what an earlier process left
        merged.clear()
        matcher.commits.set()
        assert merged.wait(LIMIT_S)
    finally:
        tending.stop()
        thread.join(LIMIT_S)
    assert not thread.is_alive()
    assert tending.problem is None
