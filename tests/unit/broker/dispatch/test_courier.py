"""The delivering side over a store: what is handed out, before and after it is committed."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

import numpy as np
import pytest

from tests.unit.broker.feeding import GAP, ack, ack_through, match, moment, opened, publish
from wherecast import AcknowledgementError, ConfigError, StoreError, Subscription
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.door.door import Door
from wherecast.delivery import Cursor, QueueLimits
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.store.contracts import DamagedSegment, Store
from wherecast.store.open_store import StoreOptions, open_store
from wherecast.store.records import Queued

LIMIT_S = 60.0


def unmended(first: int, end: int) -> None:
    raise AssertionError(f"{first} to {end} is not damaged")


def served(store: Store, *names: str) -> Courier:
    """A courier of subscribers that get everything."""
    registrar = opened(store)
    courier = Courier(store, unmended)
    for name in names:
        registrar.register(name, 0)
        registrar.subscribe(Subscription("s1", "no2 >= 0", name), 0)
        courier.open(name)
    return courier


def offsets(courier: Courier, name: str, most: int = 100) -> list[int]:
    """The offsets, in a log of one partition, that are handed out."""
    return [one.sequence // GAP for one in courier.take(name, most, 0)]


def test_notifications_are_handed_out_before_they_are_committed() -> None:
    store = open_store("memory:")
    courier = served(store, "ana")
    assert offsets(courier, "ana") == []  # from now on it is attended
    pipeline = InlinePipeline(store, lambda: 0)
    publish(store, [1, 2, 3])
    batch = pipeline.next_batch()
    assert batch is not None
    courier.notify(batch)
    assert store.batches.progress().sequence == 0
    assert offsets(courier, "ana") == [0, 1, 2]
    partitions, located = courier.locate(np.array([moment(0), moment(2)]))
    assert (partitions.tolist(), located.tolist()) == ([0, 0], [0, 2])
    ack(courier, "ana", [moment(1)])
    courier.committed(pipeline.commit(batch).sequence)
    assert offsets(courier, "ana") == [0, 2]
    ack_through(courier, "ana", moment(2))
    assert offsets(courier, "ana") == []
    Door(store, courier.cursors).save_cursors()
    cursor = store.cursors.read("ana")
    assert cursor is not None
    assert cursor.through == 3 * GAP


def test_a_batch_that_is_told_again_is_handed_out_once() -> None:
    """As in another life of the pipeline, which may reach further."""
    store = open_store("memory:")
    courier = served(store, "ana")
    courier.take("ana", 1, 0)
    for end in (2, 5):
        publish(store, range(2 if end == 2 else 3))
        batch = InlinePipeline(store, lambda: 0).next_batch()
        assert batch is not None
        assert batch.end == end
        courier.notify(batch)
    assert offsets(courier, "ana") == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("partitions", [1, 3])
def test_what_was_committed_before_is_read_from_the_store(partitions: int) -> None:
    store = open_store("memory:", options=StoreOptions(partitions=partitions))
    courier = served(store, "ana", "bob")
    for value in range(20):
        publish(store, [value])
    match(store)
    courier.committed(store.batches.progress().sequence)
    order = [one.sequence for one in courier.take("ana", 100, 0)]
    assert len(order) == 20
    ack_through(courier, "ana", order[9])
    ack(courier, "ana", [order[12], order[15]])
    Door(store, courier.cursors).save_cursors()
    again = Courier(store, unmended)  # another life
    again.open("ana")
    again.open("bob")
    found = again.take("ana", 100, 0)
    left = (10, 11, 13, 14, 16, 17, 18, 19)
    assert [one.sequence for one in found] == [order[place] for place in left]
    assert all(one.redelivered for one in found)
    assert [one.sequence for one in again.take("bob", 3, 0)] == order[:3]
    places = {tuple(place) for place in np.stack(again.locate(np.array(order))).T.tolist()}
    assert len(places) == 20


def test_a_waiting_take_is_woken() -> None:
    store = open_store("memory:")
    courier = served(store, "ana", "bob")
    with ThreadPoolExecutor(2) as pool:
        waiting = [pool.submit(courier.take, name, 5, LIMIT_S) for name in ("ana", "bob")]
        publish(store, [1])
        match(store)
        courier.committed(GAP)
        assert [len(one.result(LIMIT_S)) for one in waiting] == [1, 1]
        gone = pool.submit(courier.take, "ana", 5, LIMIT_S)
        courier.forget("ana")
        with suppress(ConfigError):  # where it came after
            assert len(gone.result(LIMIT_S)) <= 1
        ack_through(courier, "bob", moment(0))
        closed = pool.submit(courier.take, "bob", 5, LIMIT_S)
        courier.close()
        assert closed.result(LIMIT_S) == ()


def test_a_newer_connection_replaces_the_older_one() -> None:
    store = open_store("memory:")
    courier = served(store, "ana")
    publish(store, [1, 2])
    match(store)
    courier.committed(2 * GAP)
    courier.connect("ana", 1, window=1)
    sent = courier.sent("ana", 1, LIMIT_S)
    assert sent is not None
    assert [(one.sequence // GAP, one.redelivered) for one in sent] == [(0, False)]
    assert courier.sent("ana", 1, 0) == ()  # the window is full
    courier.connect("ana", 2)
    assert courier.sent("ana", 1, LIMIT_S) is None
    sent = courier.sent("ana", 2, LIMIT_S)
    assert sent is not None
    assert [(one.sequence // GAP, one.redelivered) for one in sent] == [(0, True), (1, False)]
    courier.disconnect("ana", 1)  # says nothing of the newer one
    ack_through(courier, "ana", moment(1))
    assert courier.sent("ana", 2, 0) == ()
    courier.forget("ana")
    assert courier.sent("ana", 2, LIMIT_S) is None


def test_damage_is_mended_before_it_is_handed_out() -> None:
    store = open_store("memory:")
    courier = served(store, "ana")
    publish(store, [1])
    match(store)
    mended: list[tuple[int, int]] = []
    read = store.mailboxes.queued

    def damaged(subscriber: str, start: int, limit: int) -> Queued:
        if not mended:
            raise DamagedSegment(0, GAP, "a bit was flipped")
        return read(subscriber, start, limit)

    store.mailboxes.queued = damaged  # type: ignore[method-assign]
    courier = Courier(store, lambda first, end: mended.append((first, end)))
    courier.open("ana")
    assert offsets(courier, "ana") == [0]
    assert mended == [(0, GAP)]


def test_a_read_that_fails_is_told_and_may_be_tried_again() -> None:
    store = open_store("memory:")
    courier = served(store, "ana")
    publish(store, [1])
    match(store)
    courier.committed(GAP)
    read = store.mailboxes.queued

    def broken(subscriber: str, start: int, limit: int) -> Queued:
        raise StoreError("the disk is gone")

    store.mailboxes.queued = broken  # type: ignore[method-assign]
    with pytest.raises(StoreError, match="the disk is gone"):
        courier.take("ana", 1, 0)
    store.mailboxes.queued = read  # type: ignore[method-assign]
    assert offsets(courier, "ana") == [0]


def test_only_what_was_handed_out_is_acknowledged() -> None:
    store = open_store("memory:")
    courier = served(store, "ana")
    publish(store, [1, 2])
    match(store)
    courier.committed(2 * GAP)
    assert offsets(courier, "ana", 1) == [0]
    for acknowledge in (
        lambda: ack(courier, "ana", [moment(0), moment(1)]),
        lambda: ack_through(courier, "ana", moment(1)),
    ):
        with pytest.raises(AcknowledgementError, match="was never delivered"):
            acknowledge()
    assert offsets(courier, "ana") == [0, 1]  # nothing was acknowledged


def test_an_unknown_subscriber_is_told() -> None:
    courier = served(open_store("memory:"))
    for call in (
        lambda: courier.take("ana", 1, 0),
        lambda: ack(courier, "ana", [0]),
        lambda: ack_through(courier, "ana", 0),
        lambda: courier.connect("ana", 1),
        lambda: courier.figures("ana"),
    ):
        with pytest.raises(ConfigError, match="subscriber ana is not registered"):
            call()


def test_a_take_that_begins_between_telling_and_committing_is_woken() -> None:
    store = open_store("memory:")
    courier = served(store, "ana")
    pipeline = InlinePipeline(store, lambda: 0)
    publish(store, [1, 2])
    batch = pipeline.next_batch()
    assert batch is not None
    courier.notify(batch)  # nobody attends, so nothing is held
    called = Event()
    with ThreadPoolExecutor(1) as pool, courier.listening("ana", called.set):
        taking = pool.submit(courier.take, "ana", 10, LIMIT_S)
        courier.committed(pipeline.commit(batch).sequence)
        assert called.wait(LIMIT_S)
        assert [one.sequence // GAP for one in taking.result(LIMIT_S / 2)] == [0, 1]


def test_an_interrupted_read_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("memory:")
    courier = served(store, "ana")
    publish(store, [1, 2])
    match(store)
    courier.committed(store.batches.progress().sequence)

    def interrupted(*_: object) -> Queued:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(store.mailboxes, "queued", interrupted)
        with pytest.raises(KeyboardInterrupt):
            courier.take("ana", 10, 0)
    assert offsets(courier, "ana") == [0, 1]


def test_a_queue_that_nobody_uses_gives_its_memory_back_and_loses_nothing() -> None:
    store = open_store("memory:")
    courier = served(store, "ana", "bo")
    publish(store, [1, 2, 3])
    match(store)
    courier.committed(3 * GAP)
    for name in ("ana", "bo"):
        assert offsets(courier, name) == [0, 1, 2]
    courier.release_idle()
    assert courier.figures("ana").queued == 3  # it was used since it was opened
    offsets(courier, "bo")
    courier.release_idle()
    assert courier.figures("ana").queued == 0
    assert courier.figures("bo").queued == 3
    assert offsets(courier, "ana") == [0, 1, 2]


def test_acknowledgements_of_several_are_stored_together() -> None:
    store = open_store("memory:")
    courier = served(store, "ana", "bob")
    pipeline = InlinePipeline(store, lambda: 0)
    publish(store, [1, 2, 3])
    batch = pipeline.next_batch()
    assert batch is not None
    courier.notify(batch)
    courier.committed(pipeline.commit(batch).sequence)
    assert offsets(courier, "ana") == offsets(courier, "bob") == [0, 1, 2]

    problems = courier.acknowledge(
        [
            ("ana", Acknowledgement(moment(0), (moment(2),))),
            ("nobody", Acknowledgement(moment(0))),
            ("bob", Acknowledgement(moment(7))),
            ("bob", Acknowledgement(None, (moment(1),))),
        ]
    )

    assert [type(one) for one in problems] == [
        type(None),
        ConfigError,
        AcknowledgementError,
        type(None),
    ]
    assert courier.cursors.collect() == {
        "ana": Cursor(moment(1), frozenset({moment(2)})),
        "bob": Cursor(moment(0), frozenset({moment(1)})),
    }


def test_a_window_may_be_wider_than_the_default() -> None:
    store = open_store("memory:")
    courier = Courier(store, unmended, QueueLimits(in_flight_max=5_000))
    opened(store).register("ana", 0)
    courier.open("ana")
    courier.connect("ana", 1, 5_000)
    with pytest.raises(ValueError, match="from 1 to 5000"):
        courier.connect("ana", 2, 5_001)
