"""A dispatcher decides without a store, a clock or a thread: the same events, the same effects."""

from random import Random

import pytest

from wherecast.delivery import (
    Cursor,
    DispatchEffects,
    Dispatcher,
    LoadNotifications,
    QueuedNotification,
    QueueFigures,
    QueueLimits,
)
from wherecast.model import AcknowledgementError, ConfigError

IDS = ("s1",)


def opened(*names: str, limits: QueueLimits | None = None) -> Dispatcher:
    dispatcher = Dispatcher(0, limits=limits or QueueLimits())
    for name in names:
        dispatcher.open(name, Cursor())
    return dispatcher


def sequences(sent: tuple[QueuedNotification, ...] | None) -> list[int] | None:
    return None if sent is None else [one.sequence for one in sent]


def test_what_is_notified_waits_in_the_outbox_of_its_connection() -> None:
    dispatcher = opened("ana", "bo")
    assert dispatcher.connect("ana", 1) == DispatchEffects(wakes={"ana": None})
    effects = dispatcher.notified(0, 3, {"ana": [(0, IDS), (2, IDS)], "bo": [(1, IDS)]})
    assert effects == DispatchEffects(wakes={"ana": None, "bo": None})
    assert sequences(dispatcher.sent("ana", 1)) == [0, 2]
    assert dispatcher.sent("ana", 1) == ()
    assert dispatcher.sent("bo", 2) is None
    assert dispatcher.notified_end == 3


def test_a_committed_batch_that_was_not_notified_is_loaded() -> None:
    dispatcher = opened("ana")
    dispatcher.connect("ana", 1)
    load = LoadNotifications(0, 2000)
    effects = dispatcher.committed(5)
    assert effects == DispatchEffects(loads=[("ana", load)], wakes={"ana": None})
    assert dispatcher.load_failed("ana") == DispatchEffects(wakes={"ana": None})
    assert dispatcher.take("ana", 1) == load
    effects = dispatcher.loaded("ana", 0, [1, 4], [IDS, IDS], 5)
    assert effects == DispatchEffects(wakes={"ana": None})
    assert sequences(dispatcher.sent("ana", 1)) == [1, 4]


def test_an_acknowledgement_asks_for_its_cursor_to_be_stored() -> None:
    dispatcher = opened("ana")
    dispatcher.connect("ana", 1)
    dispatcher.notified(0, 3, {"ana": [(0, IDS), (1, IDS), (2, IDS)]})
    assert dispatcher.ack("ana", [1]) == DispatchEffects(saves=["ana"])
    assert dispatcher.cursor("ana") == Cursor(0, frozenset({1}))
    assert dispatcher.ack_through("ana", 1) == DispatchEffects(saves=["ana"])
    assert dispatcher.cursor("ana") == Cursor(2)
    assert dispatcher.ack_through("ana", 0) == DispatchEffects()
    with pytest.raises(AcknowledgementError, match="was never delivered"):
        dispatcher.ack("ana", [9])


def test_a_connection_that_is_refused_takes_nothing_from_the_one_before() -> None:
    dispatcher = opened("ana", limits=QueueLimits(in_flight_max=5))
    dispatcher.connect("ana", 1)
    dispatcher.notified(0, 1, {"ana": [(0, IDS)]})
    with pytest.raises(ValueError, match="from 1 to 5"):
        dispatcher.connect("ana", 2, 6)
    assert sequences(dispatcher.sent("ana", 1)) == [0]


def test_what_cannot_be_delivered_is_counted_once() -> None:
    dispatcher = opened("ana")
    dispatcher.connect("ana", 1)
    dispatcher.notified(0, 2, {"ana": [(0, IDS), (1, IDS)]})
    dispatcher.ack("ana", [0])
    effects = dispatcher.undeliverable("ana", [0, 1])
    assert effects.saves == ["ana", "ana"]
    assert dispatcher.figures("ana").lost == 1
    assert dispatcher.trimmed("ana", 2, 3).saves == ["ana"]
    assert dispatcher.totals().lost == 4


def test_a_queue_that_is_gone_has_no_effects() -> None:
    dispatcher = opened("ana")
    dispatcher.wait("ana")
    dispatcher.forget("ana")
    dispatcher.forget("ana")
    dispatcher.leave("ana")
    assert "ana" not in dispatcher
    assert dispatcher.cursor("ana") is None
    assert dispatcher.sent("ana", 1) is None
    for effects in (dispatcher.load_failed("ana"), dispatcher.loaded("ana", 0, [], [], 5)):
        assert effects == DispatchEffects()
    assert dispatcher.totals() == QueueFigures(0, 0, 0, 0, 0, 0)
    with pytest.raises(ConfigError, match="subscriber ana is not registered"):
        dispatcher.take("ana", 1)


def test_effects_come_in_the_order_of_events() -> None:
    """The order of a set of names would be another one in each process."""
    names = [f"subscriber {number}" for number in range(50)]
    Random(1).shuffle(names)
    dispatcher = opened(*sorted(names))
    connected, waiting = names[:25], names[25:]
    for number, name in enumerate(connected):
        dispatcher.connect(name, number)
    for name in waiting:
        dispatcher.take(name, 1)
        dispatcher.wait(name)
    effects = dispatcher.committed(10)  # all have to look
    assert [name for name, _ in effects.loads] == connected
    assert list(effects.wakes) == names
    for name in connected:
        dispatcher.loaded(name, 0, [], [], 10)

    Random(2).shuffle(names)
    effects = dispatcher.notified(10, 12, {name: [(11, IDS)] for name in names})
    sent = [name for name in names if name in connected]
    assert list(effects.wakes) == sent + [name for name in names if name not in sent]
    effects = dispatcher.committed(12)  # those who wait could not load before
    assert list(effects.wakes) == [name for name in names if name in waiting]
