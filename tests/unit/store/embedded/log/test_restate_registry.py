"""While the registry is intact, what damaged changes made is restated as new changes."""

from pathlib import Path

import apsw
import pytest

from tests.contract.stores import SCHEMA, changes
from wherecast.store.changes.projection import Projection, replay
from wherecast.store.contracts import Registry
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.log import restate_registry
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position

HISTORY = (
    ("stream", "air", "", "", SCHEMA.to_json()),
    ("subscriber", "", "ana"),
    ("subscribe", "air", "ana", "s1", "no2 > 1"),
    ("subscribe", "air", "ana", "s2", "no2 > 2"),
    ("subscribe", "air", "bo", "s1", "no2 > 3"),
    ("subscribe", "air", "cy", "s1", "no2 > 4"),
    ("unsubscribe", "air", "ana", "s2"),
    ("forget", "", "cy"),
    ("subscribe", "air", "ana", "s1", "no2 > 5"),
)
RESTATED = {  # the kinds of changes, by the version of the damaged change
    0: ["stream", "subscribe", "subscribe"],
    1: [],
    2: [],
    3: [],
    4: ["subscriber", "subscribe"],
    5: [],
    6: ["unsubscribe"],
    7: ["forget"],
    8: ["subscribe"],
}
Rows = list[tuple[object, ...]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = EmbeddedStore(tmp_path / "store")
    for number, row in enumerate(HISTORY):
        store.log.change(changes(row), at=number + 100)
    store.cursors.write({})
    store.close()
    return tmp_path / "store"


def execute(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path / "log.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def damage(path: Path, *versions: int) -> None:
    for version in versions:
        execute(path, f"UPDATE changes SET batch = x'00' WHERE version = {version}")


def tables(path: Path) -> Rows:
    """The content of the registry."""
    connection = apsw.Connection(str(path / "log.db"))
    names = ("streams", "subscribers", "subscriptions")
    found = [row for name in names for row in connection.execute(f"SELECT * FROM {name}")]
    connection.close()
    return found


def content(registry: Registry | Projection) -> object:
    names = registry.subscribers()
    return dict(registry.streams()), {name: registry.subscriptions(name) for name in names}


def restated_kinds(path: Path) -> list[str]:
    """Opens a store; the kinds of the changes that are new, and that they make the registry."""
    store = EmbeddedStore(path)
    end = store.log.changes_end()
    entries = [one for one in store.log.changes(0, end) if one.version >= len(HISTORY)]
    assert content(replay(store.log, end)) == content(store.registry)
    assert all(entry.acts_from == store.log.ends() for entry in entries)
    store.close()
    return [kind for entry in entries for kind in entry.changes.column("kind").to_pylist()]


@pytest.mark.parametrize("version", RESTATED)
def test_the_difference_is_restated_once(path: Path, version: int) -> None:
    before = tables(path)
    damage(path, version)
    assert restated_kinds(path) == RESTATED[version]
    assert tables(path) == before
    assert restated_kinds(path) == RESTATED[version]
    assert tables(path) == before
    (problem,) = [one.problem for one in check_store(path) if one.problem]
    assert problem.startswith(f"change {version} is damaged")


def test_the_whole_registry_is_restated_in_several_rows(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(restate_registry, "_ROWS_MAX", 2)
    before = tables(path)
    execute(path, "DELETE FROM changes")
    kinds = restated_kinds(path)
    assert kinds == ["stream", "subscriber", "subscriber", "subscribe", "subscribe"]
    assert tables(path) == before
    count = apsw.Connection(str(path / "log.db")).execute("SELECT count(*) FROM changes").get
    assert count == 3
    texts = [record.message for record in caplog.records]
    assert any("5 changes were restated from the registry" in text for text in texts)
    store = EmbeddedStore(path)
    assert store.log.damaged_changes() == len(HISTORY)
    store.close()


def test_a_second_damage_is_restated_too(path: Path) -> None:
    before = tables(path)
    damage(path, 0)
    assert len(restated_kinds(path)) == 3
    damage(path, len(HISTORY))
    assert restated_kinds(path) == RESTATED[0]
    assert tables(path) == before


@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE streams SET schema = '{'",
        "DELETE FROM streams",
        "UPDATE subscriptions SET filter = CAST(x'ff' AS TEXT)",
        "UPDATE subscriptions SET filter = 'no2 > 99' WHERE subscriber = 'ana'",
        "UPDATE subscriptions SET stream = 'aix' WHERE subscriber = 'bo'",
        "DELETE FROM subscribers WHERE name = 'bo'",
        "INSERT INTO subscribers VALUES ('cy')",
        "DELETE FROM subscriptions WHERE subscriber = 'ana'",
    ],
)
def test_a_damaged_registry_is_rebuilt(path: Path, harm: str) -> None:
    before = tables(path)
    damage(path, 3)
    execute(path, harm)
    assert restated_kinds(path) == []
    assert tables(path) == before


def test_a_registry_that_was_not_salvaged_is_rebuilt(path: Path) -> None:
    damage(path, 0, 8)
    execute(path, "DELETE FROM streams", "DELETE FROM subscribers", "DELETE FROM subscriptions")
    assert restated_kinds(path) == []
    assert tables(path) == [("ana",), ("bo",)]


def test_a_log_without_damage_is_left_alone(path: Path) -> None:
    execute(path, "DELETE FROM subscriptions WHERE subscriber = 'bo'")
    store = EmbeddedStore(path)
    assert isinstance(store.log, EmbeddedLog)
    assert store.log.rebuild_registry() is None
    assert store.log.changes_end() == len(HISTORY)
    assert store.log.ends() == Position({0: 0})
    assert store.registry.subscription("bo", "s1") is not None
    store.close()


def test_options_are_restated(tmp_path: Path) -> None:
    path, options = tmp_path / "store", '{"notices":true,"owner":"bo","valid_until":77}'
    store = EmbeddedStore(path)
    store.log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=1)
    for row in (
        ("stream", "air", "", "", SCHEMA.to_json(), '{"keep_us":9}'),
        ("subscribe", "air", "ana", "s1", "no2 > 1", options),
        ("subscribe", "air", "ana", "s2", "no2 > 1", '{"priority":-1}'),
    ):
        store.log.change(changes(row), at=2)
    store.close()
    damage(path, 1, 2)
    store = EmbeddedStore(path)
    for registry in (store.registry, replay(store.log, store.log.changes_end())):
        assert registry.stream_specs()["air"].keep_us == 9
        specs = registry.among("ana", ["s1", "s2"])
        assert (specs["s1"].notices, specs["s1"].owner, specs["s1"].valid_until) == (True, "bo", 77)
        assert specs["s2"].priority == -1
    assert store.log.changes_end() > 4
    times = [entry.at for entry in store.log.changes(3, store.log.changes_end())]
    assert times == sorted(times)  # of the log, which never decrease
    store.close()
