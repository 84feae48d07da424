"""Every kind of damage is found, and nothing is found where there is none."""

import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from tests.contract.feed import GAP, Feed, commit_all
from tests.contract.places import embedded
from tests.contract.stores import changes
from tests.unit.store.embedded.filled import add_batch, fill
from wherecast.model import ConfigError, StoreError
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.segments.segment_settings import SegmentSettings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "store")
    return tmp_path / "store"


def problems(path: Path) -> list[str]:
    return [f"{one.place}: {one.problem}" for one in check_store(path) if one.problem]


def change(path: Path, name: str, statement: str) -> None:
    connection = apsw.Connection(str(path / name))
    connection.execute(statement)
    connection.close()


def test_nothing_is_wrong_with_a_good_one(path: Path) -> None:
    assert problems(path) == []
    counts: Counter[str] = Counter()
    for checked in check_store(path):
        counts[checked.noun] += checked.count
    del counts[""]
    assert counts == {
        "cursor": 2,
        "batch": 3,
        "segment": 3,
        "dead letter": 1,
        "publication": 15,
        "change": 3,
    }


@pytest.mark.parametrize(
    ("name", "statement", "problem"),
    [
        ("log.db", "UPDATE cursors SET through = 6 WHERE through > 5", "cursor of 'ana'"),
        ("batches.db", "UPDATE batches SET at = 5 WHERE first = 5", "the batch at 5"),
        ("batches.db", "UPDATE batches SET at = 5 WHERE first = 10", "the batch at 10"),
        ("batches.db", "DELETE FROM batches WHERE first = 5", "between 5 and 10 are missing"),
        (
            "batches.db",
            f"DELETE FROM segments WHERE first = {5 * GAP}",
            "publications 5 to 9: they are m",
        ),
        (
            "batches.db",
            f"DELETE FROM segments WHERE first = {10 * GAP}",
            "publications 10 to 14: they are",
        ),
        (
            "batches.db",
            f"UPDATE segments SET data = x'00' WHERE first = {5 * GAP}",
            "digest is wrong",
        ),
        ("batches.db", "UPDATE state SET starts_at = 10", "the state of the pipeline"),
        ("batches.db", "UPDATE dead_letters SET stream = 'x'", "dead letter 0"),
        ("log.db", "UPDATE entries SET attributes = x'00' WHERE first = 5", "publications 5 to 9"),
        ("log.db", "UPDATE entries SET headers = x'00' WHERE first = 5", "publications 5 to 9"),
        ("log.db", "UPDATE entries SET payloads = x'00' WHERE first = 5", "publications 5 to 9"),
        ("log.db", "UPDATE entries SET ids = x'0000000000' WHERE first = 5", "from 5 on"),
        ("log.db", "DELETE FROM entries WHERE first = 5", "5 to 9: it is missing"),
        ("log.db", "DELETE FROM changes WHERE version = 0", "change 0 is missing"),
        (
            "log.db",
            "UPDATE changes SET batch = x'0000000000' WHERE version = 1",
            "changes 1 to 2 are dam",
        ),
        ("log.db", "UPDATE marks SET bytes = bytes + 1", "the marks of its beginning"),
        ("log.db", "UPDATE marks SET end = 100", "the marks of its beginning"),
        ("log.db", "DELETE FROM marks", "the marks of its beginning"),
        ("log.db", "DELETE FROM streams", "streams of the registry"),
        ("log.db", "DELETE FROM subscribers WHERE name = 'bo'", "the registry counts"),
        ("log.db", "UPDATE subscribers SET name = 'bot' WHERE name = 'bo'", "subscribers of the"),
        ("log.db", "UPDATE subscriptions SET at = 1 << 62", "the time of subscription s1"),
        ("log.db", "UPDATE subscriptions SET filter = 'no2 > 4'", "subscriptions of 'ana'"),
    ],
)
def test_damage_is_told(path: Path, name: str, statement: str, problem: str) -> None:
    change(path, name, statement)
    found = problems(path)
    assert len(found) >= 1
    assert problem in "\n".join(found)


NO_TEXT = "CAST(x'ff' AS TEXT)"


@pytest.mark.parametrize(
    ("name", "change_of"),
    [
        ("log.db", "cursors SET subscriber = {} WHERE subscriber = 'ana'"),
        ("batches.db", "dead_letters SET stream = {}"),
        ("batches.db", "dead_letters SET reason = {}"),
        ("log.db", "entries SET stream = {} WHERE first = 5"),
        ("log.db", "streams SET name = {}"),
        ("log.db", "streams SET schema = {}"),
        ("log.db", "streams SET schema = replace(schema, 'attributes', 'attr')"),
        ("log.db", "streams SET schema = '[]'"),
        ("log.db", "subscribers SET name = {} WHERE name = 'bo'"),
        ("log.db", "subscriptions SET subscriber = {}"),
        ("log.db", "subscriptions SET id = {}"),
        ("log.db", "subscriptions SET stream = {}"),
        ("log.db", "subscriptions SET filter = {}"),
    ],
)
def test_damaged_text_is_told_and_ends_in_no_other_error(
    path: Path, name: str, change_of: str
) -> None:
    change(path, name, f"UPDATE {change_of.format(NO_TEXT)}")
    assert any(line.startswith(f"{name}: ") for line in problems(path))
    store = EmbeddedStore(path)
    with suppress(StoreError):
        list(store.cursors.all())
    with suppress(StoreError):
        store.batches.dead_letters()
    with suppress(StoreError):
        list(store.log.read(0, 0, 15, headers=True, payloads=True))
    for read in (store.registry.streams, store.registry.subscribers, store.registry.counts):
        with suppress(StoreError):
            read()
    with suppress(StoreError):
        store.registry.subscriptions("ana")
    store.close()


def test_a_damaged_schema_names_the_file(path: Path) -> None:
    store = EmbeddedStore(path)
    change(path, "log.db", "UPDATE streams SET schema = '{'")
    store.log.change(changes(("subscriber", "", "cy")), at=3)
    with pytest.raises(StoreError, match=r"log\.db is damaged: the definition of stream air"):
        store.registry.streams()
    store.close()


@pytest.mark.parametrize("name", ["batches.db", "log.db", "format"])
@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda path: path.write_bytes(b"nonsense" * 1000), id="overwritten"),
        pytest.param(lambda path: os.truncate(path, path.stat().st_size // 2), id="cut"),
    ],
)
def test_a_file_that_cannot_be_read_is_told(
    path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    harm(path / name)
    found = problems(path)
    assert any(line.startswith(f"{name}: ") for line in found)


@pytest.mark.parametrize("name", ["batches.db", "log.db"])
def test_a_missing_file_is_told(path: Path, name: str) -> None:
    (path / name).unlink()
    assert any(line.startswith(f"{name}: ") for line in problems(path))


def test_what_refers_beyond_is_told(path: Path, tmp_path: Path) -> None:
    fill(tmp_path / "shorter", batches=1)
    os.replace(tmp_path / "shorter" / "log.db", path / "log.db")
    assert "log.db: it ends at 5, batches at 15" in problems(path)
    assert "log.db: notification 7 is acknowledged, but it ends at 5" in problems(path)


def test_a_damaged_file_of_a_segment_is_told(tmp_path: Path) -> None:
    settings = SegmentSettings(row_bytes_max=1)
    with embedded(tmp_path, settings=settings) as opened:
        commit_all(opened.batches, Feed(1), [4, 4], opened.batches.begin())
    os.truncate(sorted((tmp_path / "segments").iterdir())[1], 100)
    assert "notifications of publications 4 to 7: the digest is wrong" in "\n".join(
        problems(tmp_path)
    )


def test_a_store_in_use_is_checked(path: Path) -> None:
    store = EmbeddedStore(path)
    epoch = store.batches.begin()
    for number, checked in enumerate(check_store(path)):
        assert checked.problem is None
        if number % 3 == 0:
            add_batch(store, epoch)
            store.mailboxes.merge()
        if number > 60:
            break
    store.close()


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is no store"):
        list(check_store(tmp_path))
