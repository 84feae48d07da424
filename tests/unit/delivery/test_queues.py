from hypothesis import given
from hypothesis import strategies as st

from wherecast.delivery import (
    Close,
    Cursor,
    LoadNotifications,
    QueuedNotification,
    Queues,
    SaveCursor,
    Send,
)

IDS = ("s1",)


def sent(connection: int, *sequences: int) -> tuple[Send]:
    return (Send(connection, tuple(QueuedNotification(one, IDS, False) for one in sequences)),)


def test_each_gets_what_is_its_own() -> None:
    queues = Queues(0)
    for number, name in enumerate(["ana", "bo", "cy"]):
        queues.open(name, Cursor())
        assert queues.connect(name, number) == ()
    assert queues.notified(0, 9, {"ana": [(1, IDS), (4, IDS)], "bo": [(4, IDS)]}) == {
        "ana": sent(0, 1, 4),
        "bo": sent(1, 4),
    }
    assert queues.committed(9) == {}


def test_who_was_told_nothing_missed_nothing() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.connect("ana", 7)
    queues.notified(0, 50, {})
    queues.committed(50)
    assert queues.notified(50, 60, {"ana": [(55, IDS)]}) == {"ana": sent(7, 55)}
    assert queues["ana"].cursor.through == 55


def test_after_a_commit_that_nobody_told_of_the_connected_ones_look() -> None:
    queues = Queues(0)
    for name in ("ana", "bo"):
        queues.open(name, Cursor())
    queues.connect("ana", 7)
    assert queues.committed(50) == {"ana": (LoadNotifications(0, 2000),)}
    assert queues.committed(50) == {}
    assert queues["bo"].is_ready
    assert queues["bo"].take(1) == LoadNotifications(0, 2000)


def test_what_was_skipped_is_loaded_at_the_next_commit() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.connect("ana", 7)
    assert queues.notified(10, 20, {"bo": [(15, IDS)]}) == {}
    assert queues.committed(20) == {"ana": (LoadNotifications(0, 2000),)}


def test_what_was_skipped_may_be_committed_piece_by_piece() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.connect("ana", 7)
    queues.notified(10, 20, {})
    assert queues.committed(5) == {"ana": (LoadNotifications(0, 2000),)}
    assert queues["ana"].loaded(0, [], [], 5) == ()
    assert queues.committed(8) == {"ana": (LoadNotifications(5, 2000),)}
    assert queues["ana"].loaded(5, [], [], 8) == ()
    assert queues.committed(20) == {"ana": (LoadNotifications(8, 2000),)}


def test_after_that_they_are_told_again_and_look_no_more() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.connect("ana", 7)
    queues.committed(50)
    assert queues["ana"].loaded(0, [], [], 50) == ()
    assert queues.notified(50, 60, {}) == {}
    assert queues.committed(60) == {}
    assert queues.notified(60, 70, {"ana": [(65, IDS)]}) == {"ana": sent(7, 65)}


def test_what_came_during_a_load_is_loaded_after_its_commit() -> None:
    queues = Queues(10)
    queues.open("ana", Cursor())
    assert queues.connect("ana", 7) == (LoadNotifications(0, 2000),)
    assert queues.notified(10, 20, {"ana": [(15, IDS)]}) == {}
    assert queues["ana"].loaded(0, [], [], 10) == ()
    assert queues.committed(20) == {"ana": (LoadNotifications(10, 2000),)}


def test_what_was_told_before_a_queue_was_opened_is_loaded() -> None:
    queues = Queues(0)
    queues.notified(0, 10, {"ana": [(5, IDS)]})
    queues.open("ana", Cursor())
    assert queues.connect("ana", 7) == ()
    assert queues["ana"].cursor.through == 0
    assert queues.committed(10) == {"ana": (LoadNotifications(0, 2000),)}


def test_who_waits_hears_of_what_it_could_not_take() -> None:
    queues = Queues(0)
    for name in ("ana", "bo", "cy"):
        queues.open(name, Cursor())
    queues.notified(0, 10, {"ana": [(5, IDS)], "cy": [(6, IDS)]})
    for name in ("ana", "bo"):
        assert queues[name].take(1) == ()
        queues.wait(name)
    assert queues.committed(10) == {"ana": ()}
    assert queues["ana"].take(1) == LoadNotifications(5, 2000)


def test_who_left_hears_nothing() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.wait("ana")
    queues.wait("ana")
    queues.leave("ana")
    assert queues.committed(10) == {"ana": ()}
    queues.leave("ana")
    assert queues.committed(20) == {}


def test_who_was_forgotten_while_somebody_waited_is_left_out() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.wait("ana")
    queues.forget("ana")
    assert queues.committed(10) == {}
    queues.leave("ana")


STEPS = st.sampled_from(["tell", "skip", "commit", "take", "wait", "leave", "release", "reopen"])


@given(st.lists(st.tuples(STEPS, st.sampled_from(["ana", "bo"])), max_size=40))
def test_nobody_waits_for_what_is_there(steps: list[tuple[str, str]]) -> None:
    queues, told, waiting = Queues(0), 0, {"ana": 0, "bo": 0}
    for name in waiting:
        queues.open(name, Cursor())
    for step, name in steps:
        if step == "tell":
            queues.notified(told, told + 2, {name: [(told, IDS)]})
            told += 2
        elif step == "skip":
            told += 1
        elif step == "commit":
            unready = [name for name in waiting if waiting[name] and not queues[name].is_ready]
            effects = queues.committed(told)
            assert {name for name in unready if queues[name].is_ready} <= effects.keys()
        elif step == "take":
            found = queues[name].take(1)
            if isinstance(found, LoadNotifications):
                queues[name].loaded(found.start, [], [], queues._committed)
        elif step == "wait":
            queues.wait(name)
            waiting[name] += 1
        elif step == "leave" and waiting[name]:
            queues.leave(name)
            waiting[name] -= 1
        elif step == "release":
            queues.release(name)
        elif step == "reopen":
            queues.forget(name)
            queues.open(name, Cursor())


def test_a_batch_touches_only_whom_it_concerns() -> None:
    queues = Queues(0)
    for number in range(100):
        queues.open(f"s{number}", Cursor())
        queues.connect(f"s{number}", number)
        queues.wait(f"s{number}")
    queues.notified(0, 10, {"s7": [(5, IDS)]})
    queues.committed(10)
    heard = [name for name, queue in queues._queues.items() if queue.notified_end == 10]
    assert heard == ["s7"]


def test_a_forgotten_subscriber_is_disconnected() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.connect("ana", 7)
    [close] = queues.forget("ana")
    assert isinstance(close, Close)
    assert (close.connection, close.reason) == (7, "the subscriber was unregistered")
    queues.disconnect("ana", 7)  # late
    assert "ana" not in queues
    assert len(queues) == 0
    assert queues.notified(0, 9, {"ana": [(1, IDS)]}) == {}
    queues.open("ana", Cursor(9))
    assert queues.forget("ana") == ()


def test_what_was_removed_is_told_to_those_who_lost_something() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.connect("ana", 7)
    queues.notified(0, 9, {"ana": [(1, IDS), (5, IDS)]})
    assert queues.trimmed(4, {"ana": 1, "bo": 3}) == {"ana": (SaveCursor(),)}
    assert queues["ana"].cursor == Cursor(5, lost=1)


def test_a_replaced_connection_ends_without_harm() -> None:
    queues = Queues(0)
    queues.open("ana", Cursor())
    queues.connect("ana", 7)
    queues.connect("ana", 8)
    queues.disconnect("ana", 7)
    assert queues.notified(0, 9, {"ana": [(1, IDS)]}) == {"ana": sent(8, 1)}
    assert queues.committed(15) == {"ana": (LoadNotifications(9, 1999),)}
    queues.disconnect("ana", 8)
    assert queues.notified(15, 20, {"ana": [(16, IDS)]}) == {}
    assert queues.committed(30) == {}
