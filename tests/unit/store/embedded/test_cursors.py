"""Cursors on disk: damage, reopening, and how often they are synced."""

import threading
from pathlib import Path

import apsw
import pytest

from tests.contract.places import embedded
from tests.unit.store.embedded.filled import fill
from wherecast.model import StoreError
from wherecast.store.embedded.cursors import EmbeddedCursors
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.records import Cursor


def test_they_are_there_again(tmp_path: Path) -> None:
    cursors = {f"s{number}": Cursor(number, frozenset({number + 5})) for number in range(2500)}
    with embedded(tmp_path) as opened:
        opened.cursors.write(cursors)
    with embedded(tmp_path) as opened, embedded(tmp_path, "reader") as reader:
        assert dict(opened.cursors.all()) == cursors
        opened.cursors.write({"s1": Cursor(99)})
        assert reader.cursors.read("s1") == Cursor(99)


@pytest.mark.parametrize(
    "change", ["through = 9", "lost = 9", "beyond = x'00'", "checksum = 0", "subscriber = 'anb'"]
)
def test_a_damaged_one_has_acknowledged_nothing(
    tmp_path: Path, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    with embedded(tmp_path) as opened:
        opened.cursors.write({"ana": Cursor(5), "bo": Cursor(6)})
    connection = apsw.Connection(str(tmp_path / "cursors.db"))
    connection.execute(f"UPDATE cursors SET {change} WHERE subscriber = 'ana'")
    connection.close()
    name = "anb" if "anb" in change else "ana"
    with embedded(tmp_path) as opened:
        assert opened.cursors.read(name) == Cursor()
        assert f"the cursor of '{name}' is damaged" in caplog.text
        assert dict(opened.cursors.all()) == {name: Cursor(), "bo": Cursor(6)}
        opened.cursors.write({name: Cursor(7)})
        assert opened.cursors.read(name) == Cursor(7)


def test_a_name_that_is_no_text_harms_no_other(tmp_path: Path) -> None:
    with embedded(tmp_path) as opened:
        opened.cursors.write({f"s{number:04}": Cursor(5) for number in range(1500)})
    connection = apsw.Connection(str(tmp_path / "cursors.db"))
    connection.execute(
        "UPDATE cursors SET subscriber = CAST(x'7330393939ff' AS TEXT) WHERE subscriber = 's0999'"
    )
    connection.close()
    with embedded(tmp_path) as opened:
        found = dict(opened.cursors.all())
        assert found.pop("s0999\ufffd") == Cursor()
        assert len(found) == 1499
        assert set(found.values()) == {Cursor(5)}


@pytest.mark.parametrize("is_emptied", [False, True])
def test_a_lost_file_is_not_begun_anew(tmp_path: Path, is_emptied: bool) -> None:
    path = tmp_path / "store"
    fill(path)
    (path / "cursors.db").unlink()
    if is_emptied:
        (path / "cursors.db").touch()
    for _ in range(2):
        with pytest.raises(StoreError, match=rf"cursors\.db is missing .* store check {path}"):
            EmbeddedStore(path)


def test_a_first_start_that_was_cut_short_is_finished(tmp_path: Path) -> None:
    EmbeddedStore(tmp_path / "store").close()
    (tmp_path / "store" / "cursors.db").unlink()
    EmbeddedStore(tmp_path / "store").close()
    assert (tmp_path / "store" / "cursors.db").exists()


def test_threads_share_transactions(tmp_path: Path) -> None:
    with embedded(tmp_path) as opened:
        assert isinstance(opened.cursors, EmbeddedCursors)
        cursors = opened.cursors
        first, go = threading.Event(), threading.Event()
        commit = cursors._commit

        def held(items: object) -> object:
            first.set()
            go.wait(60)
            return commit(items)  # type: ignore[arg-type]

        cursors._group._commit = held  # type: ignore[assignment]
        threads = [
            threading.Thread(target=cursors.write, args=({f"{n}": Cursor(n)},)) for n in range(50)
        ]
        threads[0].start()
        assert first.wait(60)
        for thread in threads[1:]:
            thread.start()
        while cursors._group.waiting < 49:
            pass
        go.set()
        for thread in threads:
            thread.join(60)
        assert cursors.transactions == 2
        assert len(list(cursors.all())) == 50
