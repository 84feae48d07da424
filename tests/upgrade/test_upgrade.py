"""A directory of layout 1 is upgraded by its owner: nothing is lost, nothing comes again."""

import base64
import json
import logging
import os
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.upgrade.old_directory import EXPECTED, LAST_AT, NOW, broker_at, delivered, unpack
from wherecast.broker.publisher import Publisher
from wherecast.cli.entry import run
from wherecast.model import Publication, StoreError
from wherecast.store.embedded.backup import backup_store
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.directory import FORMAT, Directory
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.records import Cursor


def problems(path: Path) -> list[str]:
    return [one.problem for one in check_store(path) if one.problem]


def test_every_queue_delivers_what_it_held(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    assert delivered(path) == EXPECTED
    assert problems(path) == []


def test_it_says_so_and_keeps_a_backup(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = unpack(tmp_path)
    before = json.loads((path / "format").read_text())
    with caplog.at_level(logging.INFO):
        Directory(path).close()
    begin, end = [record.getMessage() for record in caplog.records]
    assert begin == f"{path} has layout 1 and is upgraded to layout 2: 1.9 MB"
    assert end.startswith(
        f"{path} has layout 2 now. {path / 'layout-1'} holds it as it was; delete"
    )
    after = json.loads((path / "format").read_text())
    assert after["version"] == FORMAT
    assert after["identity"] == before["identity"]
    assert after["incarnation"]
    backup = path / "layout-1"
    assert sorted(os.listdir(backup)) == sorted(
        ["format", "log.db", "batches.db", "cursors.db", "segments"]
    )
    assert json.loads((backup / "format").read_text()) == before
    left = {"format", "lock", "log.db", "log.mark", "batches.db", "segments", "snapshots"}
    assert set(os.listdir(path)) == left | {"layout-1"}
    for file in path.rglob("*"):
        assert file.stat().st_mode & 0o077 == 0, file


def test_a_second_opening_does_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = unpack(tmp_path)
    Directory(path).close()
    names = ("format", "log.db", "batches.db", "log.mark")
    first = {name: (path / name).read_bytes() for name in names}
    caplog.clear()
    Directory(path).close()
    assert {name: (path / name).read_bytes() for name in names} == first
    assert caplog.records == []


def test_the_backup_is_upgraded_as_the_directory_was(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    Directory(path).close()
    (path / "layout-1").rename(tmp_path / "before")
    assert delivered(tmp_path / "before") == EXPECTED
    assert delivered(path) == EXPECTED


def test_the_registry_and_versions(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    with closing(EmbeddedStore(path)) as store:
        assert store.registry.counts() == {"streams": 2, "subscribers": 6, "subscriptions": 18}
        assert store.registry.subscribers() == [f"s{number}" for number in range(6)]
        held = {one.id: one.filter for one in store.registry.subscriptions("s1")}
        assert held == {
            "level": "no2 >= 1",
            "city": "city = 'Split'",
            "any": "n > 1",
            "changing": "no2 > 2",
        }
        assert {one.id for one in store.registry.subscriptions("s2")} == {"level", "any"}
        versions, end = list[int](), store.log.changes_end()
        for entry in store.log.changes(0, end):
            versions += entry.row_versions.tolist()
        assert versions == sorted(set(versions))
        assert versions[-1] == end - 1
        times = [entry.at for entry in store.log.changes(0, end)]
        assert times == sorted(times)
        assert store.log.time(0) == LAST_AT


def test_cursors_are_moments(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    with closing(EmbeddedStore(path)) as store:
        single, through = store.cursors.read("s0"), store.cursors.read("s1")
        assert single is not None
        assert through is not None
        assert len(single.beyond) >= 1
        assert all(one + 1 & (1 << 24) - 1 == 0 for one in single.beyond)
        assert through == Cursor(through.through)
        assert through.through % (1 << 24) in (0, (1 << 24) - 1)
        assert store.cursors.read("gone") is None


@pytest.mark.parametrize("publisher", ["", "early", "station-7", "a stranger"])
class TestIds:
    def test_an_id_stays_taken(self, tmp_path: Path, publisher: str) -> None:
        path = unpack(tmp_path)
        for _ in range(2):  # also after a restart
            with broker_at(path) as core:
                end = core.store.log.ends()[0]
                given = [
                    *(Publication({"no2": 6.0, "city": "Split"}, f"early-{n}") for n in range(5)),
                    Publication({"no2": 3.0, "city": "Split"}, "last"),
                    Publication({"no2": 1.0, "city": "Split"}, "r0-1"),
                ]
                done = core.publish(given, "default", publisher)
                assert not done.errors
                assert (done.accepted, done.duplicates) == (0, 7)
                assert core.store.log.ends()[0] == end

    def test_another_body_is_a_conflict(self, tmp_path: Path, publisher: str) -> None:
        with broker_at(unpack(tmp_path)) as core:
            given = [
                Publication({"no2": 6.5, "city": "Split"}, "early-0"),
                Publication({"no2": 3.5, "city": "Split"}, "last"),
            ]
            done = core.publish(given, "default", publisher)
            assert [row for row, _ in done.errors] == [0, 1]
            other = core.publish([Publication({"n": 1}, "early-1")], "open", publisher)
            assert len(other.errors) == 1

    def test_the_id_that_the_log_gave(self, tmp_path: Path, publisher: str) -> None:
        path = unpack(tmp_path)
        own = next(one for one in EXPECTED["s0"] if one["id"].endswith("-0-9"))
        payload = base64.b64decode(own["payload"])
        with broker_at(path) as core:
            given = Publication(own["attributes"], own["id"], payload)
            assert core.publish([given], "default", publisher).duplicates == 1

    def test_new_ids_are_unique_by_publisher(self, tmp_path: Path, publisher: str) -> None:
        with broker_at(unpack(tmp_path)) as core:
            given = [Publication({"no2": 1.0, "city": "Split"}, "new")]
            assert core.publish(given, "default", publisher).accepted == 1
            assert core.publish(given, "default", publisher).duplicates == 1
            assert core.publish(given, "default", "one more").accepted == 1

    def test_an_id_is_free_again_after_the_window(self, tmp_path: Path, publisher: str) -> None:
        with broker_at(unpack(tmp_path), NOW + 24 * 3_600_000_000) as core:
            given = [Publication({"no2": 6.0, "city": "Split"}, "early-0")]
            assert core.publish(given, "default", publisher).accepted == 1


def test_an_id_stays_taken_in_a_copy(tmp_path: Path) -> None:
    path = unpack(tmp_path)
    Directory(path).close()
    EmbeddedStore(path).close()
    list(backup_store(path, tmp_path / "copy"))
    with broker_at(tmp_path / "copy") as core:
        given = [Publication({"no2": 6.0, "city": "Split"}, "early-0")]
        assert core.publish(given, "default", "early").duplicates == 1


def test_a_publisher_counts_from_one(tmp_path: Path) -> None:
    with broker_at(unpack(tmp_path)) as core:
        Publisher("station-7", core).publish({"no2": 1.0, "city": "Split"})
        end = core.store.log.ends()[0]
        [entry] = core.store.log.read(0, end - 1, end, headers=True)
        assert entry.headers is not None
        assert entry.headers.column("counter").to_pylist() == [1]


class TestOthers:
    def test_only_an_owner_upgrades(self, tmp_path: Path) -> None:
        path = unpack(tmp_path)
        for role in ("pipeline", "reader"):
            with pytest.raises(StoreError, match="open it with wherecast serve or"):
                Directory(path, role)
        with pytest.raises(StoreError, match="which upgrades it"):
            list(backup_store(path, tmp_path / "target"))
        assert not (path / "layout-1").exists()

    @pytest.mark.parametrize("options", [[], ["--repair"]])
    def test_a_check_says_so(self, tmp_path: Path, options: list[str]) -> None:
        path = unpack(tmp_path)
        [problem] = problems(path)
        assert problem.endswith(
            "has format 1, this Wherecast knows 2; open it with wherecast serve or "
            "wherecast.Broker first, which upgrades it"
        )
        assert run(["store", "check", *options, str(path)]) != 0
        assert not (path / "layout-1").exists()

    def test_a_pipeline_that_still_runs(self, tmp_path: Path) -> None:
        path = unpack(tmp_path)
        other = apsw.Connection(str(path / "batches.db"))
        other.execute("SELECT count(*) FROM batches").fetchall()
        with pytest.raises(StoreError, match=r"batches\.db is in use by another process"):
            Directory(path)
        other.close()
        assert delivered(path) == EXPECTED
