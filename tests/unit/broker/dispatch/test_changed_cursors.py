"""Cursors that changed are collected once, and come back where they could not be stored."""

from threading import Event, Lock, Thread

from wherecast.broker.dispatch.changed_cursors import ChangedCursors
from wherecast.store.records import Cursor


class StoredCursors:
    """The edge of the store: what is stored, read through a gate."""

    def __init__(self) -> None:
        self.cursors: dict[str, Cursor] = {}
        self.gate = Event()
        self.gate.set()
        self.entered = Event()

    def read(self, name: str) -> Cursor | None:
        self.entered.set()
        assert self.gate.wait(60)
        return self.cursors.get(name)


class Queues:
    """Cursors in memory."""

    def __init__(self) -> None:
        self.stored = StoredCursors()
        self.lock = Lock()
        self.cursors: dict[str, Cursor] = {}
        self.changed = ChangedCursors(self.stored, self.lock, self.cursors.get)  # type: ignore[arg-type]

    def move(self, name: str, through: int) -> None:
        with self.lock:
            self.cursors[name] = Cursor(through)
            self.changed.changed(name)


def test_a_cursor_is_collected_as_it_is_then_and_once() -> None:
    queues = Queues()
    for name, through in (("b", 1), ("a", 1), ("b", 2)):
        queues.move(name, through)
    assert queues.changed.collect() == {"b": Cursor(2), "a": Cursor(1)}
    assert queues.changed.collect() == {}


def test_what_could_not_be_stored_is_collected_again_as_it_is_then() -> None:
    queues = Queues()
    queues.move("a", 1)
    queues.move("b", 1)
    queues.changed.forget("c")
    taken = queues.changed.collect()
    queues.move("a", 2)
    queues.changed.restore(taken)
    assert queues.changed.collect() == {"a": Cursor(2), "b": Cursor(1), "c": None}


def test_one_that_was_forgotten_is_not_stored_again() -> None:
    queues = Queues()
    queues.move("a", 1)
    queues.move("b", 1)
    del queues.cursors["a"]
    queues.changed.forget("a")
    assert queues.changed.collect() == {"a": None, "b": Cursor(1)}


def test_a_newer_queue_of_the_same_name_is_stored_after_a_forgotten_one() -> None:
    queues = Queues()
    queues.changed.forget("a")
    taken = queues.changed.collect()
    queues.move("a", 7)
    queues.changed.restore(taken)
    assert queues.changed.collect() == {"a": Cursor(7)}


def test_a_subscriber_without_a_queue_begins_later() -> None:
    queues = Queues()
    queues.stored.cursors["a"] = Cursor(1, frozenset({3, 9}))
    queues.changed.trim("a", 5, 2)
    queues.changed.trim("a", 4, 1)  # it begins later already
    queues.changed.trim("nobody", 5, 2)
    assert queues.changed.collect() == {"a": Cursor(5, frozenset({9}), 2)}


def test_one_that_is_forgotten_while_it_is_trimmed_stays_forgotten() -> None:
    queues = Queues()
    queues.stored.cursors["a"] = Cursor(1)
    queues.stored.gate.clear()
    trimming = Thread(target=queues.changed.trim, args=("a", 5, 2))
    trimming.start()
    assert queues.stored.entered.wait(60)
    forgetting = Thread(target=queues.changed.forget, args=("a",))
    forgetting.start()
    queues.stored.gate.set()
    for thread in (trimming, forgetting):
        thread.join(60)
    assert queues.changed.collect() == {"a": None}


def test_one_that_was_forgotten_is_not_trimmed() -> None:
    queues = Queues()
    queues.stored.cursors["a"] = Cursor(1)
    queues.changed.forget("a")
    queues.changed.trim("a", 5, 2)
    assert queues.changed.collect() == {"a": None}
