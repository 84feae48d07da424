"""A damaged change is passed over, everything else is served.

What the change made is restated from the registry, and lost only where the registry is damaged too.
"""

from dataclasses import dataclass, replace
from pathlib import Path

import apsw
import pytest

from tests.contract.stores import SCHEMA, Body, changes
from tests.contract.stores import publications as bodies
from tests.live_log import told
from tests.unit.store.embedded.filled import match_all
from wherecast.columns import decode_rows
from wherecast.columns.log_encoding import encode_batch
from wherecast.model import Schema, Subscription
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.subscriptions.subscription_cache import SubscriptionCache
from wherecast.store.changes import compaction
from wherecast.store.changes.projection import Projection
from wherecast.store.embedded.check.check_store import check_store
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import NO_CHANGES, Publications

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
COUNTS = (1, 2, 2, 1, 2, 1, 1, 1, 1)
HARM = (
    "UPDATE changes SET batch = CAST(x'00' || substr(batch, 2) AS BLOB)",
    "UPDATE changes SET count = count + 5",
    "UPDATE changes SET acts_from = 99",
    "DELETE FROM changes",
)
END = sum(COUNTS)
HARM_TO_REGISTRY = "UPDATE streams SET schema = '{'"


def fill(path: Path, left_out: tuple[int, ...] = ()) -> None:
    """Makes a store with a publication after each change, but without some of the changes."""
    store = EmbeddedStore(path)
    for number, rows in enumerate(HISTORY):
        if VERSIONS[number] not in left_out:
            store.log.change(changes(*rows), at=number + 100)
        publish(store, number)
    store.cursors.write({})
    store.close()


def publish(store: EmbeddedStore, number: int) -> None:
    """Publishes what every filter matches."""
    plain = bodies([Body(number)], "air")
    data = encode_batch(decode_rows([{"no2": 9.0}], SCHEMA).batch, SCHEMA)
    store.log.append(Publications("air", data, plain.headers, plain.payloads, plain.digests), at=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    fill(tmp_path / "store")
    return tmp_path / "store"


def execute(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path / "log.db"))
    for statement in statements:
        connection.execute(statement)
    connection.close()


@dataclass(frozen=True)
class Outcome:
    """What an owner of a store sees."""

    streams: dict[str, Schema]
    subscriptions: dict[str, list[Subscription]]
    matches: dict[tuple[str, int], list[str]]
    dead_letters: list[tuple[int, str]]


def outcome(path: Path, start: int = 0, end: int = len(HISTORY)) -> Outcome:
    """Opens a store as its owner, and matches its publications between two offsets.

    A publication that is not there yet is published first.
    """
    store = EmbeddedStore(path)
    for number in range(store.log.ends()[0], end):
        publish(store, number)
    registry, known = store.registry, LiveSubscriptions()
    held = {name: registry.subscriptions(name) for name in registry.subscribers()}
    version = store.log.changes_end()
    known.advance(store.log.changes(0, version), version)
    entries = store.log.read(0, start, end)
    matched = match_range(Range(0, start, end), entries, known, at=0)
    letters = [(letter.offset, letter.reason) for letter in matched.dead_letters]
    streams = dict(registry.streams())
    store.close()
    return Outcome(streams, held, told(matched.notifications), letters)


def problems(path: Path) -> list[str]:
    return [one.problem for one in check_store(path) if one.problem]


def later_outcome(path: Path) -> Outcome:
    """The outcome of a publication that comes after everything else."""
    return outcome(path, len(HISTORY), len(HISTORY) + 1)


def expect(path: Path, tmp_path: Path, left_out: tuple[int, ...]) -> None:
    """Expects the registry of a store that is not damaged.

    Earlier publications are matched as if the damaged changes had not been, later ones as if they
    were not damaged.
    """
    fill(tmp_path / "whole")
    fill(tmp_path / "twin", left_out)
    whole, twin = outcome(tmp_path / "whole"), outcome(tmp_path / "twin")
    for _ in range(2):
        assert outcome(path) == replace(whole, matches=twin.matches)
    later = later_outcome(tmp_path / "whole")
    assert later.matches == {("ana", len(HISTORY)): ["s1"], ("cy", len(HISTORY)): ["s1", "s2"]}
    assert later_outcome(path) == later


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("harm", HARM)
def test_a_damaged_change_is_restated(path: Path, tmp_path: Path, version: int, harm: str) -> None:
    execute(path, f"{harm} WHERE version = {version}")
    expect(path, tmp_path, (version,))
    (problem,) = problems(path)
    assert f"change {version} is " in problem or f"changes {version} to " in problem
    store = EmbeddedStore(path)
    assert store.log.damaged_changes() == COUNTS[VERSIONS.index(version)]
    store.close()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("harm", HARM)
def test_with_a_damaged_registry_the_rest_is_served_as_if_it_had_not_been(
    path: Path, tmp_path: Path, version: int, harm: str
) -> None:
    fill(tmp_path / "twin", left_out=(version,))
    execute(path, f"{harm} WHERE version = {version}", HARM_TO_REGISTRY)
    expected = outcome(tmp_path / "twin")
    if version == 0:  # without the schema of the stream no filter can be read
        assert not expected.matches
        expected = replace(expected, subscriptions={"ana": [], "bo": [], "cy": []})
    assert outcome(path) == expected
    (problem,) = problems(path)
    assert f"change {version} is " in problem or f"changes {version} to " in problem
    store = EmbeddedStore(path)
    assert store.log.damaged_changes() == COUNTS[VERSIONS.index(version)]
    store.close()


def test_several_damaged_ones(path: Path, tmp_path: Path) -> None:
    execute(path, "UPDATE changes SET batch = x'00' WHERE version IN (5, 6, 9)")
    expect(path, tmp_path, (5, 6, 9))
    assert len(problems(path)) == 3
    reader = EmbeddedStore(path, "reader")
    assert reader.log.damaged_changes() == 4
    reader.close()


def test_several_damaged_ones_with_a_damaged_registry(path: Path, tmp_path: Path) -> None:
    fill(tmp_path / "twin", left_out=(5, 6, 9))
    statement = "UPDATE changes SET batch = x'00' WHERE version IN (5, 6, 9)"
    execute(path, statement, HARM_TO_REGISTRY)
    assert outcome(path) == outcome(tmp_path / "twin")
    assert len(problems(path)) == 3


def test_all_are_missing(path: Path, tmp_path: Path) -> None:
    execute(path, "DELETE FROM changes")
    expect(path, tmp_path, VERSIONS)
    assert problems(path) == [f"changes 0 to {END - 1} are missing; what it made is not matched"]
    store = EmbeddedStore(path)
    assert store.log.damaged_changes() == END
    store.close()


def test_all_are_missing_with_a_damaged_registry(path: Path) -> None:
    execute(path, "DELETE FROM changes", HARM_TO_REGISTRY)
    found = outcome(path)
    assert (found.streams, found.subscriptions, found.matches) == ({}, {}, {})
    assert problems(path) == [f"changes 0 to {END - 1} are missing; what it made is not matched"]
    store = EmbeddedStore(path)
    assert store.log.damaged_changes() == END
    store.close()


def test_a_good_log_has_none(path: Path) -> None:
    for role in ("owner", "reader"):
        store = EmbeddedStore(path, role)
        assert store.log.damaged_changes() == 0
        store.close()


def test_each_start_names_it(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    execute(path, "UPDATE changes SET batch = x'00' WHERE version = 3")
    EmbeddedStore(path).close()
    caplog.clear()
    EmbeddedStore(path).close()
    (record,) = caplog.records
    assert record.message.endswith(
        f"log.db: 2 changes are damaged and passed over; run: wherecast store check {path}"
    )


def test_a_stream_that_is_defined_again_has_the_subscriptions_that_are_made_again(
    path: Path,
) -> None:
    execute(path, "DELETE FROM changes WHERE version = 0", HARM_TO_REGISTRY)
    store = EmbeddedStore(path)
    store.log.change(changes(HISTORY[0][0], ("subscribe", "air", "bo", "s9", "no2 > 0")), at=200)
    store.close()
    found = outcome(path)
    assert {name: len(held) for name, held in found.subscriptions.items()} == {
        "ana": 0,
        "bo": 1,
        "cy": 0,
    }
    assert len(problems(path)) == 1


def test_what_is_made_again_after_it_stays(path: Path) -> None:
    execute(path, "UPDATE changes SET batch = x'00' WHERE version = 6", HARM_TO_REGISTRY)
    store = EmbeddedStore(path)
    assert not store.registry.has_subscriber("cy")
    store.log.change(changes(("subscribe", "air", "cy", "s1", "no2 > 4")), at=200)
    store.close()
    assert list(outcome(path).subscriptions) == ["ana", "bo", "cy"]


def test_with_a_damaged_registry(path: Path, tmp_path: Path) -> None:
    fill(tmp_path / "twin", left_out=(5,))
    execute(path, "UPDATE changes SET batch = x'00' WHERE version = 5", HARM_TO_REGISTRY)
    assert outcome(path) == outcome(tmp_path / "twin")
    assert [problem[:19] for problem in problems(path)] == ["change 5 is damaged"]


@pytest.mark.parametrize("is_registry_damaged", [False, True])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_part_of_what_was_compacted(
    path: Path, monkeypatch: pytest.MonkeyPatch, number: int, is_registry_damaged: bool
) -> None:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 2)
    monkeypatch.setattr(compaction, "ROWS_MAX", 2)
    store = EmbeddedStore(path)
    for time in range(5):
        row = ("subscribe", "air", "ana", "s1", f"no2 > {time}")
        store.log.change(changes(*[row] * 5), at=time)
    match_all(store)
    store.log.trim(store.log.ends())
    entries = list(store.log.changes(0, 37))
    versions = [(entry.version, entry.compacted_to) for entry in entries]
    assert versions == [(0, 37), (6, 37), (11, 37)]
    part = versions[number][0]
    expected = Projection()
    for entry in entries:
        is_damaged = is_registry_damaged and entry.version == part
        expected.take(replace(entry, changes=NO_CHANGES, damage="") if is_damaged else entry)
    store.close()
    execute(path, f"UPDATE changes SET batch = x'00' WHERE version = {part}")
    if is_registry_damaged:
        execute(path, HARM_TO_REGISTRY)
    store = EmbeddedStore(path)
    again = [entry.version for entry in store.log.changes(5, 37)]
    assert again == [version for version, _ in versions]
    registry = store.registry
    assert registry.counts() == expected.counts()
    for name in registry.subscribers():
        assert registry.subscriptions(name) == expected.subscriptions(name)
    store.close()
    assert len(problems(path)) == 1


def test_who_matches_names_what_was_passed_over(path: Path) -> None:
    execute(path, "UPDATE changes SET batch = x'00' WHERE version = 6")
    reader = EmbeddedStore(path, "reader")
    known = SubscriptionCache(reader.log, None).at(Position(), 12)
    assert list(known.roster.passed_over) == [6]
    assert len(known) == 4
    reader.close()
