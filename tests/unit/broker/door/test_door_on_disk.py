"""The door before a store on disk: what comes together takes one transaction and one sync."""

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
from tests.contract.stores import Body, bodies_in, changes, publications
from tests.power_cut import recorded_disk
from tests.unit.store.embedded.test_database import SmallDisk
from wherecast.broker.door.door import Door
from wherecast.model import StoreError
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.embedded.log.log_tables import read_marks
from wherecast.store.records import Cursor
from wherecast.store.store_items import PendingChanges, PendingCursors, PendingPublications

LIMIT_S = 60


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


def body(number: int, **more: Any) -> PendingPublications:
    return PendingPublications(publications([Body(number, **more)]), 0)


def cursor(name: str, through: int) -> PendingCursors:
    return PendingCursors({name: Cursor(through)})


def test_a_bad_item_does_not_fail_those_beside_it(tmp_path: Path) -> None:
    bad = PendingPublications(publications([Body(2, "b")], stream="\ud800"), 0)
    with embedded(tmp_path) as opened, ThreadPoolExecutor(4) as pool:
        door = Door(opened.log)
        with busy(tmp_path):
            calls = [pool.submit(door.write, one) for one in (body(1), bad, bad, body(2))]
            wait_until(lambda: door.waiting == 3)
        offsets = [calls[place].result(LIMIT_S).offsets.tolist() for place in (0, 3)]
        assert sorted(offsets) == [[0], [1]]
        for call in calls[1:3]:  # such a name cannot be written
            assert isinstance(call.exception(LIMIT_S), UnicodeEncodeError)
        assert sorted(one.number for one in bodies_in(opened.log, 0)) == [1, 2]


def test_threads_share_syncs(tmp_path: Path) -> None:
    """200 publications of 8 threads, handed in while another transaction lasts: 50 syncs."""
    with (
        recorded_disk() as disk,
        ThreadPoolExecutor(8) as pool,
        embedded(tmp_path, vfs=disk.vfs) as opened,
    ):
        door = Door(opened.log)
        before, transactions = disk.syncs["log.db-wal"], opened.log.transactions
        for start in range(0, 200, 8):
            with busy(tmp_path):
                calls = [pool.submit(door.write, body(start + row)) for row in range(8)]
                wait_until(lambda: door.waiting == 7)
            for call in calls:
                call.result(LIMIT_S)
        assert sorted(one.number for one in bodies_in(opened.log, 0)) == list(range(200))
        assert opened.log.transactions - transactions == 50
        assert disk.syncs["log.db-wal"] - before <= 55  # one more when it begins anew


def test_acknowledgements_publications_and_changes_that_come_together_take_one_sync(
    tmp_path: Path,
) -> None:
    with (
        recorded_disk() as disk,
        ThreadPoolExecutor(10) as pool,
        embedded(tmp_path, vfs=disk.vfs) as opened,
    ):
        door = Door(opened.log)
        door.write(body(0))
        before = disk.syncs["log.db-wal"]
        with busy(tmp_path):
            leader = pool.submit(door.write, cursor("ana", 1))
            wait_until(lambda: door.has_leader and not door.waiting)
            items = [
                *(body(number) for number in range(3)),
                *(cursor(f"{number}", number) for number in range(3)),
                PendingChanges(changes(("subscriber", "", "ana")), 0),
            ]
            calls: list[Future[Any]] = [pool.submit(door.write, item) for item in items]
            wait_until(lambda: door.waiting == 7)
        for call in (leader, *calls):
            call.result(LIMIT_S)
        assert disk.syncs["log.db-wal"] == before + 2
        assert opened.log.ends()[0] == 4
        assert len(list(opened.cursors.all())) == 4


def test_a_full_disk_takes_acknowledgements_where_publications_do_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The group fails as a whole; its cursors are tried again without the publications."""
    monkeypatch.setattr(embedded_log, "LAYOUT", replace(embedded_log.LAYOUT, grown_pages=0))
    disk = SmallDisk()
    with embedded(tmp_path, vfs=disk.name) as opened, ThreadPoolExecutor(10) as pool:
        door, log = Door(opened.log), opened.log
        door.write(body(0))
        with busy(tmp_path):
            leader = pool.submit(door.write, cursor("ana", 1))
            wait_until(lambda: door.has_leader and not door.waiting)
            large = body(1, payload=bytes(200_000))
            refused = [pool.submit(door.write, large) for _ in range(2)]
            taken = [pool.submit(door.write, cursor(f"{n}", n)) for n in range(3)]
            wait_until(lambda: door.waiting == 5)
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
        assert door.write(large).offsets.tolist() == [1]
    disk.unregister()
