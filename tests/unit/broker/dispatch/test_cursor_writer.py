"""Cursors that changed are written together, and none is taken for written that is not."""

from collections.abc import Mapping
from threading import Event, Lock, Thread

import pytest

from wherecast.broker.dispatch.cursor_writer import CursorWriter
from wherecast.model import StoreError
from wherecast.store.records import Cursor

Writes = Mapping[str, Cursor | None]


class Disk:
    """The edge of the store: notes what is written, waits at a gate, and may be full."""

    def __init__(self) -> None:
        self.writes: list[Writes] = []
        self.stored: dict[str, Cursor] = {}
        self.gate = Event()
        self.gate.set()
        self.entered = Event()
        self.is_full = False

    def read(self, name: str) -> Cursor | None:
        self.entered.set()
        assert self.gate.wait(60)
        return self.stored.get(name)

    def write(self, cursors: Writes) -> None:
        self.entered.set()
        assert self.gate.wait(60)
        if self.is_full:
            raise StoreError("the disk is full")
        self.writes.append(cursors)


class Queues:
    """Cursors in memory."""

    def __init__(self) -> None:
        self.disk = Disk()
        self.lock = Lock()
        self.cursors: dict[str, Cursor] = {}
        self.writer = CursorWriter(self.disk, self.lock, self.cursors.get)  # type: ignore[arg-type]

    def move(self, name: str, through: int) -> None:
        with self.lock:
            self.cursors[name] = Cursor(through)
            self.writer.changed(name)


def test_what_changed_meanwhile_goes_with_the_next_one() -> None:
    queues = Queues()
    queues.disk.gate.clear()
    queues.move("a", 1)
    first = Thread(target=queues.writer.write, args=(["a"],))
    first.start()
    assert queues.disk.entered.wait(60)
    for name in ("b", "c", "a"):
        queues.move(name, 2)
    others = [Thread(target=queues.writer.write, args=([name],)) for name in ("b", "c", "a")]
    for thread in others:
        thread.start()
    queues.disk.gate.set()
    for thread in (first, *others):
        thread.join(60)
    assert queues.disk.writes == [
        {"a": Cursor(1)},
        {"a": Cursor(2), "b": Cursor(2), "c": Cursor(2)},
    ]


def test_what_could_not_be_written_is_written_by_whoever_comes_next() -> None:
    queues = Queues()
    queues.disk.is_full = True
    queues.move("a", 1)
    with pytest.raises(StoreError):
        queues.writer.write(["a"])
    queues.disk.is_full = False
    queues.writer.write(["b"])
    assert queues.disk.writes == []
    queues.writer.write(["a"])
    queues.writer.write(["a"])
    assert queues.disk.writes == [{"a": Cursor(1)}]


def test_one_that_is_forgotten_while_it_is_trimmed_stays_forgotten() -> None:
    queues = Queues()
    queues.disk.stored["a"] = Cursor(1, frozenset({3, 9}))
    queues.disk.gate.clear()
    trimming = Thread(target=queues.writer.trim, args=("a", 5, 2))
    trimming.start()
    assert queues.disk.entered.wait(60)
    forgetting = Thread(target=queues.writer.forget, args=("a",))
    forgetting.start()
    queues.disk.gate.set()
    for thread in (trimming, forgetting):
        thread.join(60)
    assert queues.disk.writes == [{"a": Cursor(5, frozenset({9}), 2)}, {"a": None}]


def test_one_that_was_forgotten_is_not_written_again() -> None:
    queues = Queues()
    queues.move("a", 1)
    queues.move("b", 1)
    del queues.cursors["a"]
    queues.writer.forget("a")
    queues.writer.write(["b"])
    assert queues.disk.writes == [{"a": None}, {"b": Cursor(1)}]
