"""A log that has lost commits is refused, with what is missing; or it goes on, and says so."""

import os
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.contract.stores import Body, bodies_in, publications
from tests.spark.services import until
from tests.unit.broker.brokers import opener, taken, values
from tests.unit.store.embedded.filled import fill, match_all
from wherecast.model import StoreError
from wherecast.pipeline.live.subscriptions import live_snapshots
from wherecast.store.contracts import Role
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.check.repair_store import repair_store
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.open_store import StoreOptions, open_store
from wherecast.store.records import Cursor

ACCEPTED = StoreOptions(accepts_loss=True)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store whose process was killed, with a flipped bit in its write-ahead log."""
    fill(tmp_path / "running")
    store = EmbeddedStore(tmp_path / "running")
    for number in range(15, 25):
        store.log.append(publications([Body(number, f"{number}")], stream="air"), at=2)
        store.cursors.write({"ana": Cursor(number)})
    shutil.copytree(tmp_path / "running", tmp_path / "store")
    store.close()
    wal = bytearray((tmp_path / "store" / "log.db-wal").read_bytes())
    wal[32 + 20 * 4120 + 1000] ^= 1
    (tmp_path / "store" / "log.db-wal").write_bytes(wal)
    return tmp_path / "store"


def numbers(path: Path) -> list[int]:
    with closing(EmbeddedStore(path, "reader")) as store:
        return [body.number for body in bodies_in(store.log, 0, 15)]


def problems(path: Path) -> list[str]:
    return [one.problem for one in check_store(path) if one.problem]


def notes(path: Path) -> list[str]:
    return [one.note for one in check_store(path) if one.note]


@pytest.mark.parametrize("role", ["owner", "pipeline", "reader"])
def test_a_flipped_bit_in_the_write_ahead_log(path: Path, role: Role) -> None:
    before = {name: (path / name).read_bytes() for name in ("log.db", "log.db-wal", "log.mark")}
    for _ in range(2):
        with pytest.raises(StoreError) as caught:
            EmbeddedStore(path, role)
        text = str(caught.value)
        assert "log.mark knows of publication 25, change 3 and commit " in text
        assert "missing: publications " in text
        assert " to 24, what the last " in text
        assert text.endswith(f"wherecast store check --repair --accept-loss {path}")
    assert any("missing: publications " in one for one in problems(path))
    for name, content in before.items():  # nothing was written over
        assert (path / name).read_bytes() == content, name


def test_a_repair_alone_leaves_it(path: Path) -> None:
    assert not repair_store(path, {"log.db"})
    assert any("missing: publications " in one for one in problems(path))


def test_an_accepted_loss_stays_visible(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = open_store(path, options=ACCEPTED)
    assert store.log.ends()[0] == 25  # no offset is given out a second time
    [hole] = [one for one in store.log.read(0, 0, 25) if one.damage is not None]
    assert hole.end == 25
    again = store.log.append(publications([Body(99)], stream="air"), at=3)
    assert again.offsets.tolist() == [25]
    store.close()
    assert [one for one in problems(path) if "it is missing" in one]
    [note] = notes(path)
    assert f"publications {hole.first} to 24" in note
    caplog.clear()
    EmbeddedStore(path).close()
    assert "a loss was accepted at " in caplog.text


def test_a_repair_accepts_a_loss(path: Path) -> None:
    assert repair_store(path, {"log.db"}, accepts_loss=True)
    assert len(notes(path)) == 1
    EmbeddedStore(path).close()


def test_a_log_that_is_shorter_than_the_batches_is_accepted(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    fill(tmp_path / "shorter", batches=1)
    os.replace(tmp_path / "shorter" / "log.db", tmp_path / "store" / "log.db")
    (tmp_path / "store" / "log.mark").unlink()
    store = open_store(tmp_path / "store", options=ACCEPTED)
    assert store.log.ends()[0] == 15
    store.close()
    [note] = notes(tmp_path / "store")
    assert "batches.db knows of publication 15" in note


def test_no_version_is_given_out_again_where_the_bounds_are_damaged_too(tmp_path: Path) -> None:
    path = tmp_path / "store"
    fill(path)
    connection = apsw.Connection(str(path / "log.db"))
    connection.execute("UPDATE marks SET crc = crc + 1; DELETE FROM changes WHERE version > 0")
    connection.close()
    (path / "log.mark").unlink()
    for _ in range(2):
        with closing(EmbeddedStore(path, accepts_loss=True)) as store:
            readable = [one for one in store.log.changes(0, 100) if one.damage is None]
            assert [one.version for one in readable] == [0, 3]  # the rest is restated


def test_snapshots_of_lost_changes_are_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_snapshots, "CHANGES_MIN", 1)
    with opener("durable", tmp_path)() as broker:
        broker.subscriber("ana").subscribe("no2 > 0", id="s1")
    with opener("durable", tmp_path)() as broker:
        broker.subscriber("ana").unsubscribe("s1")
        broker.subscriber("bo").subscribe("no2 > 0", id="s2")
        broker.publisher("p").publish({"no2": 1.0})
        taken(broker.subscriber("bo"), 1)  # matched with a snapshot of all changes
        attempts = tmp_path / "store" / "snapshots" / "attempts"
        until("the pipeline rests", lambda: not attempts.exists())  # no file vanishes in the copy
        shutil.copytree(tmp_path / "store", tmp_path / "killed" / "store")
    (tmp_path / "killed" / "store" / "log.db-wal").write_bytes(b"")
    open_store(tmp_path / "killed" / "store", options=ACCEPTED).close()
    with opener("durable", tmp_path / "killed")() as broker:
        ana = broker.subscriber("ana")
        assert [one.id for one in ana.subscriptions()] == ["s1"]
        broker.publisher("p").publish({"no2": 2.0})
        assert values(taken(ana, 1)) == [2.0]


def test_another_history_of_the_same_length_is_refused(tmp_path: Path) -> None:
    for name, number in (("store", 1), ("other", 2)):
        fill(tmp_path / name, batches=1)
        with closing(EmbeddedStore(tmp_path / name)) as store:
            store.log.append(publications([Body(number)], stream="air"), at=2)
    os.replace(tmp_path / "other" / "log.db", tmp_path / "store" / "log.db")
    with pytest.raises(StoreError, match="its last commits are others"):
        EmbeddedStore(tmp_path / "store")
    store = EmbeddedStore(tmp_path / "store", accepts_loss=True)
    store.close()
    assert numbers(tmp_path / "store") == []
    EmbeddedStore(tmp_path / "store").close()


@pytest.mark.parametrize("harm", ["missing", "damaged", "older"])
def test_a_second_place_that_knows_less_is_harmless(
    tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "wherecast.store")
    path = tmp_path / "store"
    fill(path)
    mark = path / "log.mark"
    if harm == "missing":
        mark.unlink()
    elif harm == "damaged":
        mark.write_bytes(b"x" * 4096)
    else:
        old = mark.read_bytes()
        with closing(EmbeddedStore(path)) as store:
            store.log.append(publications([Body(1)], stream="air"), at=2)
        mark.write_bytes(old)
    assert problems(path) == []
    assert len(notes(path)) == (harm != "older")
    caplog.clear()
    EmbeddedStore(path).close()
    assert "it is written anew" in caplog.text
    caplog.clear()
    assert notes(path) == []
    EmbeddedStore(path).close()
    assert "written anew" not in caplog.text


def test_damaged_bounds_are_taken_from_the_second_place(tmp_path: Path) -> None:
    path = tmp_path / "store"
    fill(path)
    with closing(EmbeddedStore(path)) as store:
        store.log.tick(at=1_000_000)
        match_all(store, start=15)
        store.log.trim(store.log.ends())
    connection = apsw.Connection(str(path / "log.db"))
    connection.execute("UPDATE marks SET end = 3")
    connection.close()
    for _ in range(2):
        with closing(EmbeddedStore(path)) as store:
            assert store.log.ends()[0] == 16
            assert store.log.starts()[0] == 16
            assert store.log.time(5) == 1_000_000
    assert problems(path) == []
