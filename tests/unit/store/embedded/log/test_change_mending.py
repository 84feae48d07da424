"""A damaged change is made again from the registry, when the owner starts."""

from pathlib import Path

import apsw
import pytest

from tests.contract.stores import SCHEMA, Body, changes
from tests.contract.stores import publications as bodies
from tests.live_log import told
from wherecast.columns import decode_rows
from wherecast.columns.log_encoding import encode_batch
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.stage import match_range
from wherecast.pipeline.live.subscription_cache import SubscriptionCache
from wherecast.store.changes import compaction
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import Publications

HISTORY: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("stream", "air", "", "", SCHEMA.to_json()),),
    (("subscriber", "", "ana"), ("subscriber", "", "bo")),
    (("subscribe", "air", "ana", "s1", "no2 > 1"), ("subscribe", "air", "bo", "s1", "no2 > 2")),
    (("subscribe", "air", "ana", "s2", "no2 > 3"),),
    (("subscribe", "air", "cy", "s1", "no2 > 4"), ("subscribe", "air", "cy", "s2", "no2 > 5")),
    (("subscribe", "air", "ana", "s1", "no2 > 6"),),  # replaces
    (("unsubscribe", "air", "ana", "s2"),),
    (("forget", "", "bo"),),
    (("subscriber", "", "bo"),),
)
VERSIONS = (0, 1, 3, 5, 6, 8, 9, 10, 11)
EXACT = (0, 6, 8, 9, 10)  # no later change touches what these made
Matches = dict[tuple[str, int], list[str]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with a publication after each change."""
    store = EmbeddedStore(tmp_path / "store")
    for number, rows in enumerate(HISTORY):
        store.log.change(changes(*rows), at=number + 100)
        batch = decode_rows([{"no2": 9.0}], SCHEMA).batch
        plain = bodies([Body(number)], "air")
        data = encode_batch(batch, SCHEMA)
        store.log.append(Publications("air", data, plain.envelopes, plain.digests), at=0)
    store.cursors.write({})
    store.close()
    return tmp_path / "store"


def execute(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path / "log.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def opened(path: Path) -> tuple[object, Matches]:
    """What the registry of an owner has, and what its publications match."""
    store = EmbeddedStore(path)
    registry, known = store.registry, LiveSubscriptions()
    held = {name: registry.subscriptions(name) for name in registry.subscribers()}
    known.advance(store.log.changes(0, 12), 12)
    entries = store.log.read(0, 0, len(HISTORY))
    matched = match_range(Range(0, 0, len(HISTORY)), entries, known, at=0)
    assert not matched.dead_letters
    store.close()
    return (_streams(path), held), told(matched.segment.notifications)


def _streams(path: Path) -> dict[str, str]:
    connection = apsw.Connection(str(path / "log.db"))
    found = dict(connection.execute("SELECT name, schema FROM streams").fetchall())
    connection.close()
    return found


def problems(path: Path) -> list[str]:
    return [one.problem for one in check_store(path) if one.problem]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "harm",
    [
        "UPDATE changes SET batch = CAST(x'00' || substr(batch, 2) AS BLOB)",
        "UPDATE changes SET count = count + 5",
        "DELETE FROM changes",
    ],
)
def test_it_makes_what_it_made(path: Path, version: int, harm: str) -> None:
    registry, matches = opened(path)
    execute(path, f"{harm} WHERE version = {version}")
    assert problems(path)
    again, found = opened(path)
    assert again == registry
    assert problems(path) == []
    last = len(HISTORY) - 1
    assert {k: ids for k, ids in found.items() if k[1] == last} == {
        k: ids for k, ids in matches.items() if k[1] == last
    }
    if version in EXACT and not harm.startswith("DELETE"):
        assert found == matches


def test_it_is_told_once(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    execute(path, "UPDATE changes SET batch = x'00' WHERE version = 3")
    for _ in range(2):
        EmbeddedStore(path).close()
    (record,) = caplog.records
    assert record.message.endswith(
        "log.db: changes 3 to 4 are damaged: its checksum is wrong; "
        "it is made again from the registry, which knows 0 of its changes"
    )


def test_a_damaged_position_is_the_earliest_that_it_can_be(path: Path) -> None:
    execute(path, "UPDATE changes SET acts_from = 99 WHERE version = 5")
    store = EmbeddedStore(path)
    (entry,) = store.log.changes(5, 6)
    assert (entry.acts_from, entry.damage) == (Position({0: 2}), None)
    store.close()


def test_two_damaged_ones_stay(path: Path) -> None:
    execute(path, "UPDATE changes SET batch = x'00' WHERE version IN (5, 6)")
    registry, _ = opened(path)
    assert len(problems(path)) == 2
    assert opened(path)[0] == registry


def test_with_a_damaged_registry_it_stays(path: Path) -> None:
    execute(
        path,
        "UPDATE changes SET batch = x'00' WHERE version = 5",
        "UPDATE streams SET schema = '{'",
    )
    EmbeddedStore(path).close()
    assert problems(path)[0].startswith("change 5 is damaged")


@pytest.mark.parametrize("part", [0, 2, 4])
def test_a_part_of_what_was_compacted(
    path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 2)
    monkeypatch.setattr(compaction, "ROWS_MAX", 2)
    store = EmbeddedStore(path)
    for number in range(5):
        row = ("subscribe", "air", "ana", "s1", f"no2 > {number}")
        store.log.change(changes(*[row] * 5), at=number)
    store.log.trim(store.log.ends())
    expected = store.registry.subscriptions("ana"), store.registry.subscribers()
    versions = [(entry.version, entry.compacted_to) for entry in store.log.changes(0, 37)]
    assert versions == [(0, 37), (2, 37), (4, 37), (6, 37)]
    store.close()
    execute(path, f"UPDATE changes SET batch = x'00' WHERE version = {part}")
    store = EmbeddedStore(path)
    assert [(entry.version, entry.compacted_to) for entry in store.log.changes(5, 37)] == versions
    assert (store.registry.subscriptions("ana"), store.registry.subscribers()) == expected
    store.close()
    assert problems(path) == []


def test_who_passed_it_over_takes_it_in_once_it_is_mended(path: Path) -> None:
    execute(path, "UPDATE changes SET batch = x'00' WHERE version = 6")
    reader = EmbeddedStore(path, "reader")
    keeper = SubscriptionCache(reader.log, None)
    known = keeper.at(Position(), 12)
    assert list(known.roster.passed_over) == [6]
    EmbeddedStore(path).close()
    for _ in range(64):
        known = keeper.at(Position(), 12)
    assert not known.roster.passed_over
    assert len(known) == 6
    reader.close()
