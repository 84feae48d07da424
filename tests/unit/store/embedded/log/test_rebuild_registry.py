"""A registry that is not what the changes make is rebuilt from them, when the owner starts."""

from pathlib import Path

import apsw
import pytest

from tests.contract.stores import changes
from tests.unit.store.embedded.filled import fill
from wherecast.model import Schema, StoreError, Subscription
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.log import log
from wherecast.store.embedded.store import EmbeddedStore

DAMAGE = (
    "UPDATE subscribers SET name = 'anb' WHERE name = 'ana'",
    "UPDATE subscribers SET name = CAST(x'ff' AS TEXT) WHERE name = 'ana'",
    "DELETE FROM subscribers",
    "INSERT INTO subscribers VALUES ('cy')",
    "UPDATE subscriptions SET filter = 'no2 > 41'",
    "UPDATE subscriptions SET filter = CAST(x'ff' AS TEXT)",
    "UPDATE subscriptions SET id = 's2'",
    "UPDATE subscriptions SET at = 1 << 62",
    "UPDATE subscriptions SET options = '{'",
    """UPDATE subscriptions SET options = '{"priority":3}'""",
    "DELETE FROM subscriptions",
    "UPDATE streams SET options = '{'",
    """UPDATE streams SET options = '{"keep_us":5}'""",
    "UPDATE streams SET schema = '{'",
    "DELETE FROM streams",
)
Found = tuple[dict[str, Schema], list[str], list[Subscription]]


def damage(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path / "log.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def found(path: Path) -> Found:
    store = EmbeddedStore(path)
    registry = store.registry
    all = dict(registry.streams()), registry.subscribers(), registry.subscriptions("ana")
    store.close()
    return all


@pytest.mark.parametrize("statement", DAMAGE)
def test_it_is_rebuilt(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "store"
    fill(path)
    store = EmbeddedStore(path)
    store.log.change(changes(("subscriber", "", "dan"), ("forget", "", "dan")), at=3)
    store.close()
    before = found(path)
    damage(path, statement)
    assert found(path) == before
    assert [one.problem for one in check_store(path) if one.problem] == []


@pytest.mark.parametrize(
    "harm", ["UPDATE changes SET batch = x'00' WHERE version = 1", "DELETE FROM changes"]
)
def test_damaged_changes_make_nothing_in_a_damaged_registry(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "store"
    fill(path)
    streams, subscribers, subscriptions = found(path)
    assert (subscribers, len(subscriptions)) == (["ana", "bo"], 1)
    damage(path, harm, "UPDATE subscriptions SET at = 1 << 62")
    assert found(path) == ({} if harm.startswith("DELETE") else streams, [], [])


def test_a_long_log_is_compared_by_a_repair_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    fill(path)
    before = found(path)
    damage(path, "DELETE FROM subscribers WHERE name = 'bo'")
    monkeypatch.setattr(log, "CHANGES_MAX", 2)
    assert found(path) != before
    store = EmbeddedStore(path)
    assert isinstance(store.log, log.EmbeddedLog)
    problem = store.log.rebuild_registry()
    assert problem is not None
    assert problem.startswith("the registry counts")
    assert store.log.rebuild_registry() is None
    store.close()
    assert found(path) == before


def test_of_a_long_log_with_a_damaged_change_the_registry_is_rebuilt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "store")
    damage(
        tmp_path / "store",
        "UPDATE changes SET batch = x'00' WHERE version = 1",
        "DELETE FROM subscribers WHERE name = 'ana'",
    )
    monkeypatch.setattr(log, "CHANGES_MAX", 0)
    assert found(tmp_path / "store")[1:] == ([], [])


def test_a_reader_rebuilds_nothing(tmp_path: Path) -> None:
    fill(tmp_path / "store")
    damage(tmp_path / "store", "UPDATE streams SET schema = '{'")
    reader = EmbeddedStore(tmp_path / "store", "reader")
    with pytest.raises(StoreError, match="the definition of stream air"):
        reader.registry.streams()
    reader.close()
