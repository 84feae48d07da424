"""Cursors on disk: damage, reopening, and how often they are synced."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.contract.places import embedded
from tests.contract.stores import Body, changes, publications
from tests.power_cut import recorded_disk
from tests.unit.store.embedded.test_database import SmallDisk
from wherecast.model import StoreError
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.embedded.log.log_tables import read_marks
from wherecast.store.records import Cursor

LIMIT_S = 60


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
    connection = apsw.Connection(str(tmp_path / "log.db"))
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
    connection = apsw.Connection(str(tmp_path / "log.db"))
    connection.execute(
        "UPDATE cursors SET subscriber = CAST(x'7330393939ff' AS TEXT) WHERE subscriber = 's0999'"
    )
    connection.close()
    with embedded(tmp_path) as opened:
        found = dict(opened.cursors.all())
        assert found.pop("s0999\ufffd") == Cursor()
        assert len(found) == 1499
        assert set(found.values()) == {Cursor(5)}


@contextmanager
def busy(path: Path) -> Iterator[None]:
    """Another process writes, as far as SQLite can tell: the first to commit has to wait."""
    other = apsw.Connection(str(path / "log.db"))
    other.execute("BEGIN IMMEDIATE")
    yield
    other.execute("ROLLBACK")
    other.close()


def wait_until(is_true: Callable[[], bool]) -> None:
    for _ in range(LIMIT_S * 1000):
        if is_true():
            return
        threading.Event().wait(0.001)
    raise AssertionError("it did not come")


def test_threads_share_transactions(tmp_path: Path) -> None:
    with embedded(tmp_path) as opened, ThreadPoolExecutor(50) as pool:
        before = opened.log.transactions
        with busy(tmp_path):
            calls = [pool.submit(opened.cursors.write, {f"{n}": Cursor(n)}) for n in range(50)]
            wait_until(lambda: opened.log.waiting == 49)
        for call in calls:
            call.result(LIMIT_S)
        assert opened.log.transactions == before + 2
        assert len(list(opened.cursors.all())) == 50


def test_acknowledgements_publications_and_changes_that_come_together_take_one_sync(
    tmp_path: Path,
) -> None:
    with (
        recorded_disk() as disk,
        ThreadPoolExecutor(10) as pool,
        embedded(tmp_path, vfs=disk.vfs) as opened,
    ):
        log = opened.log
        log.append(publications([Body(0)]), at=0)
        before = disk.syncs["log.db-wal"]
        with busy(tmp_path):
            leader = pool.submit(opened.cursors.write, {"ana": Cursor(1)})
            wait_until(lambda: log.has_leader)
            calls: list[Future[Any]] = [
                pool.submit(log.append, publications([Body(number)]), 0) for number in range(3)
            ]
            calls += [pool.submit(opened.cursors.write, {f"{n}": Cursor(n)}) for n in range(3)]
            calls.append(pool.submit(log.change, changes(("subscriber", "", "ana")), 0))
            wait_until(lambda: log.waiting == 7)
        for call in (leader, *calls):
            call.result(LIMIT_S)
        assert disk.syncs["log.db-wal"] == before + 2
        assert log.ends()[0] == 4
        assert len(list(opened.cursors.all())) == 4


def test_a_full_disk_takes_acknowledgements_where_publications_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The group fails as a whole; its cursors are tried again without the publications."""
    monkeypatch.setattr(embedded_log, "LAYOUT", replace(embedded_log.LAYOUT, grown_pages=0))
    disk = SmallDisk()
    with embedded(tmp_path, vfs=disk.name) as opened, ThreadPoolExecutor(10) as pool:
        log = opened.log
        log.append(publications([Body(0)]), at=0)
        with busy(tmp_path):
            leader = pool.submit(opened.cursors.write, {"ana": Cursor(1)})
            wait_until(lambda: log.has_leader)
            large = publications([Body(1, payload=bytes(200_000))])
            refused = [pool.submit(log.append, large, 0) for _ in range(2)]
            taken = [pool.submit(opened.cursors.write, {f"{n}": Cursor(n)}) for n in range(3)]
            wait_until(lambda: log.waiting == 5)
            disk.left = 60_000
        for call in (leader, *taken):
            call.result(LIMIT_S)
        for call in refused:
            with pytest.raises(StoreError, match="disk full"):
                call.result(LIMIT_S)
        with log.database.reading() as connection:  # the first, the leader's, and all cursors
            assert read_marks(connection).commits == 3
        assert dict(opened.cursors.all()) == {
            "ana": Cursor(1),
            **{f"{number}": Cursor(number) for number in range(3)},
        }
        disk.left = 10**9
        assert log.append(large, at=0).offsets.tolist() == [1]
    disk.unregister()
