"""What only the embedded log has: compaction beside damage, other processes and old files."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from tests.contract.stores import SCHEMA, Body, Place, changes, embedded_place, publications
from tests.unit.store.embedded.filled import match_all
from tests.unit.store.embedded.test_database import SmallDisk
from wherecast.model import StoreError
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.store.changes import compaction
from wherecast.store.changes.projection import replay
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.log import log as embedded_log
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def place(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Changes 0 to 60, a publication after each ten: 50 of them act on the third and later ones."""
    monkeypatch.setattr(compaction, "CHANGES_MIN", 8)
    monkeypatch.setattr(compaction, "ROWS_MAX", 2)
    EmbeddedStore(path).close()
    opened = embedded_place(path)
    opened.log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=0)
    for number in range(60):
        opened.log.change(changes(("subscribe", "air", "ana", f"s{number % 4}", "no2 > 1")), at=0)
        if number % 10 == 9:
            opened.log.append(publications([Body(number)]), at=0)
    pipeline = EmbeddedStore(path, "pipeline")
    match_all(pipeline)
    pipeline.close()
    yield opened
    opened.close()


def execute(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path / "log.db"))
    connection.execute(statement)
    connection.close()


def compacted_to(place: Place) -> int | None:
    return next(place.log.changes(0, 1)).compacted_to


def versions(place: Place) -> list[int]:
    return [entry.version for entry in place.log.changes(0, 61)]


def test_it_stops_before_a_damaged_change(path: Path, place: Place) -> None:
    execute(path, "UPDATE changes SET batch = x'00' WHERE version = 30")
    for _ in range(2):
        place.log.trim(place.log.ends())
        assert compacted_to(place) == 30
        assert versions(place) == [0, 26, 28, *range(30, 61)]
    assert place.log.registry.counts()["subscriptions"] == 4


@pytest.mark.parametrize("acts_from", [0, 99])
def test_a_damaged_position_misleads_nobody(path: Path, place: Place, acts_from: int) -> None:
    """The search by halves meets it first."""
    execute(path, f"UPDATE changes SET acts_from = {acts_from} WHERE version = 30")
    place.log.trim(Position({0: 1}))
    assert compacted_to(place) == 21
    assert next(place.log.changes(21, 22)).acts_from == Position({0: 2})


def test_a_damaged_part_is_passed_over(path: Path, place: Place) -> None:
    place.log.trim(place.log.ends())
    assert versions(place) == [0, 57, 59]
    for version, left in ((57, 2), (59, 0), (0, 0)):
        execute(path, f"UPDATE changes SET batch = x'00' WHERE version = {version}")
        for begin in (0, 1, 3, 60):
            known = LiveSubscriptions()
            known.roster.version = begin
            known.advance(place.log.changes(begin, 61), 61)
            assert (known.roster.version, len(known)) == (61, left)
            assert known.roster.passed_over
        place.log.trim(place.log.ends())
    told = [one.problem for one in check_store(path) if one.problem]
    assert [line.split(":")[0] for line in told] == [
        "changes 0 to 56 are damaged",
        "changes 57 to 58 are damaged",
        "changes 59 to 60 are damaged",
        "the streams of the registry are not what the changes make",
    ]
    place.close()
    store = EmbeddedStore(path)
    assert store.log.damaged_changes() == 61
    store.close()
    assert len([one for one in check_store(path) if one.problem]) == 3


def test_the_registry_is_checked_and_mended_from_it(path: Path, place: Place) -> None:
    place.log.trim(place.log.ends())
    place.close()
    expected = replay(embedded := EmbeddedStore(path, "reader").log, 61).subscriptions("ana")
    assert embedded.changes_end() == 61
    assert [one.problem for one in check_store(path) if one.problem] == []
    execute(path, "DELETE FROM subscriptions")
    store = EmbeddedStore(path)
    assert store.registry.subscriptions("ana") == expected
    assert len(expected) == 4
    store.close()


def test_a_full_disk_changes_nothing_and_heals(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 8)
    monkeypatch.setattr(embedded_log, "LAYOUT", replace(embedded_log.LAYOUT, grown_pages=0))
    disk = SmallDisk()
    place = embedded_place(path, vfs=disk.name)
    for number in range(61):
        place.log.change(changes(("subscribe", "air", "ana", "s", f"no2 > {number}")), at=0)
    disk.left = 0
    for _ in range(2):
        with pytest.raises(StoreError, match="disk full"):
            place.log.trim(Position())
        assert versions(place) == list(range(61))
    disk.left = 1 << 30
    place.log.trim(Position())
    assert versions(place) == [0]
    place.close()
