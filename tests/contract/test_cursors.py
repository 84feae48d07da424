"""One suite for the cursors of every store."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.places import KINDS, Opened, open_kind
from wherecast.store.records import Cursor


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    with open_kind(request.param, tmp_path / "store") as opened:
        yield opened


CURSORS = {
    "žarko": Cursor(2**60, frozenset({2**62, 2**61}), 2**40),
    "": Cursor(),
    "ana": Cursor(5),
    "bo": Cursor(0, frozenset({7}), 1),
    "a\0b": Cursor(9, frozenset(range(10, 2000))),
}


def test_there_are_none_at_first(opened: Opened) -> None:
    assert opened.cursors.read("ana") is None
    assert list(opened.cursors.all()) == []


def test_what_was_written_is_read(opened: Opened) -> None:
    opened.cursors.write(CURSORS)
    for name, cursor in CURSORS.items():
        assert opened.cursors.read(name) == cursor
    assert list(opened.cursors.all()) == sorted(CURSORS.items())


def test_a_later_one_takes_its_place(opened: Opened) -> None:
    opened.cursors.write(CURSORS)
    opened.cursors.write({"ana": Cursor(6, frozenset({8})), "bo": None, "nobody": None})
    assert opened.cursors.read("ana") == Cursor(6, frozenset({8}))
    assert opened.cursors.read("bo") is None
    assert [name for name, _ in opened.cursors.all()] == ["", "a\0b", "ana", "žarko"]


def test_nothing_is_written_of_nothing(opened: Opened) -> None:
    opened.cursors.write({})
    assert list(opened.cursors.all()) == []


def test_threads_write_beside_one_another(opened: Opened) -> None:
    def write(thread: int) -> None:
        for through in range(20):
            opened.cursors.write({f"{thread}": Cursor(through), f"{thread}'": Cursor(through)})
            assert opened.cursors.read(f"{thread}") == Cursor(through)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert {cursor for _, cursor in opened.cursors.all()} == {Cursor(19)}
    assert len(list(opened.cursors.all())) == 16
