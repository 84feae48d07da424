"""Changes that are compacted when a log is trimmed: nothing that is left can tell."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from tests.contract.stores import PLACES, SCHEMA, Body, LogWithRegistry, Place, changes
from tests.contract.stores import publications as bodies
from tests.live_log import told
from tests.seeds import random_of
from wherecast import StoreError
from wherecast.columns import decode_rows
from wherecast.columns.log_encoding import encode_batch
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.store.changes import compaction
from wherecast.store.changes.projection import Projection, replay
from wherecast.store.contracts import Log, Registry
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry, Publications

Matches = dict[tuple[int, str, int], list[str]]  # by partition, subscriber and offset
NAMES = ("ana", "bo", "ž")


@pytest.fixture(params=PLACES)
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 8)
    monkeypatch.setattr(compaction, "ROWS_MAX", 3)
    opened = PLACES[request.param](tmp_path / "store", None)
    yield opened
    opened.close()


@pytest.fixture
def log(place: Place) -> LogWithRegistry:
    return place.log


def publish(log: Log, value: int) -> None:
    batch = decode_rows([{"no2": float(value)}], SCHEMA).batch
    plain = bodies([Body(value)], "air")
    data = encode_batch(batch, SCHEMA)
    log.append(Publications("air", data, plain.headers, plain.payloads, plain.digests), at=0)


def define(log: Log) -> None:
    log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=1)


def replaced(log: Log, count: int) -> None:
    """So many changes of one subscription."""
    for number in range(count):
        log.change(changes(("subscribe", "air", "ana", "s", f"no2 > {number}")), at=number)


def entries(log: Log) -> list[ChangeEntry]:
    """All of them, which cover all versions."""
    found = list(log.changes(0, log.changes_end()))
    assert found[0].version == 0
    assert all(one.end == two.version for one, two in pairwise(found))
    assert found[-1].end == log.changes_end()
    return found


def rows(log: Log) -> int:
    return sum(entry.changes.num_rows for entry in entries(log))


def kept(log: Log) -> list[tuple[int, str]]:
    """The version and the kind of each change."""
    return [
        (version, kind)
        for entry in entries(log)
        for version, kind in zip(
            entry.row_versions.tolist(), entry.changes.column("kind").to_pylist(), strict=True
        )
    ]


def registered(registry: Registry | Projection) -> object:
    names = registry.subscribers()
    held = {name: registry.subscriptions(name) for name in names}
    return dict(registry.streams()), names, held, registry.counts()


def test_what_was_replaced_often_is_kept_once(log: LogWithRegistry) -> None:
    define(log)
    log.change(changes(("subscriber", "", "bo"), ("subscribe", "air", "cy", "s", "a")), at=5)
    replaced(log, 100)
    before = registered(log.registry)
    publish(log, 1)
    log.trim(log.ends())
    # A stream, the subscribers ana and bo, two subscriptions; that of cy registers cy.
    assert kept(log) == [(0, "stream"), (1, "subscriber"), (2, "subscribe"), (3, "subscriber"),
                         (102, "subscribe")]  # fmt: skip
    assert [entry.compacted_to for entry in entries(log)] == [103, 103]
    assert log.changes_end() == 103
    assert registered(log.registry) == registered(replay(log, 103)) == before
    assert log.change(changes(("forget", "", "bo")), at=7).version == 103
    assert replay(log, 103).subscribers() == ["ana", "bo", "cy"]
    assert replay(log, 104).subscribers() == ["ana", "cy"]
    assert replay(log, 0).subscribers() == []
    with pytest.raises(StoreError, match="before 103 were compacted"):
        replay(log, 102)


def test_what_acts_beyond_the_start_stays(log: LogWithRegistry) -> None:
    define(log)
    replaced(log, 20)
    for number in range(3):
        publish(log, number)
    start = log.ends()
    replaced(log, 10)
    publish(log, 4)
    later = log.changes_end()
    replaced(log, 10)
    log.trim(start)
    assert [entry.version for entry in entries(log)] == [0, *range(later, later + 10)]
    assert entries(log)[0].compacted_to == later
    assert all(start.reaches(entry.acts_from) for entry in entries(log)[:-10])


@pytest.mark.parametrize("count", [5, 50])
def test_few_or_standing_ones_stay(log: LogWithRegistry, count: int) -> None:
    define(log)
    for number in range(count):
        log.change(changes(("subscribe", "air", "ana", f"s{number}", "no2 > 1")), at=0)
    log.trim(log.ends())
    assert [entry.compacted_to for entry in entries(log)] == [None] * (count + 1)


def test_it_is_done_again_when_half_is_superseded(log: LogWithRegistry) -> None:
    define(log)
    many = [("subscribe", "air", "ana", f"s{number}", "no2 > 1") for number in range(30)]
    log.change(changes(*many), at=3)
    seen = set()
    for _ in range(300):
        replaced(log, 1)
        log.trim(log.ends())
        seen.add(entries(log)[0].compacted_to)
        assert rows(log) <= 2 * 33 + 1
    assert 4 <= len(seen) <= 12
    assert registered(log.registry) == registered(replay(log, log.changes_end()))


def test_nothing_is_left(log: LogWithRegistry) -> None:
    for _ in range(10):
        log.change(changes(("subscriber", "", "ana"), ("forget", "", "ana")), at=0)
    log.trim(log.ends())
    (entry,) = entries(log)
    assert (entry.count, entry.changes.num_rows) == (20, 0)
    assert replay(log, 20).subscribers() == []
    known = LiveSubscriptions()
    known.advance(log.changes(0, 20), 20)
    assert (known.roster.version, len(known)) == (20, 0)


def test_it_outlives_the_log_being_closed(place: Place) -> None:
    if place.reopen is None:
        pytest.skip("ends with its process")
    define(place.log)
    replaced(place.log, 50)
    place.log.trim(place.log.ends())
    replaced(place.log, 4)
    before = registered(place.log.registry), place.log.changes_end(), rows(place.log)
    place = place.reopen()
    log = place.log
    assert (registered(log.registry), log.changes_end(), rows(log)) == before
    assert registered(replay(log, log.changes_end())) == before[0]
    place.close()


def matches(known: LiveSubscriptions, log: Log) -> Matches:
    """What all publications that are left match."""
    found: Matches = {}
    starts, ends = log.starts(), log.ends()
    for partition in ends:
        part = Range(partition, starts[partition], ends[partition])
        read = log.read(partition, part.first, part.end)
        notified = told(match_range(part, read, known, at=0).notifications)
        found |= {(partition, name, offset): ids for (name, offset), ids in notified.items()}
    return found


def some_change(draw: Random) -> tuple[str, ...]:
    name, id = draw.choice(NAMES), f"s{draw.randrange(3)}"
    kind = draw.random()
    if kind < 0.7:
        return "subscribe", "air", name, id, f"no2 > {draw.randrange(8)}"
    return ("unsubscribe", "air", name, id) if kind < 0.9 else ("forget", "", name)


def play(log: Log, draw: Random, count: int) -> None:
    for _ in range(count):
        publish(log, draw.randrange(10))
        for _ in range(draw.randrange(4)):
            some = [some_change(draw) for _ in range(draw.randrange(1, 4))]
            log.change(changes(*some), at=draw.randrange(100))


def known_at(log: Log, version: int) -> LiveSubscriptions:
    known = LiveSubscriptions()
    known.advance(log.changes(0, version), version)
    return known


@pytest.mark.parametrize("job", range(3))
def test_what_is_left_matches_as_before(log: LogWithRegistry, job: int) -> None:
    draw = random_of(job)
    define(log)
    for _ in range(4):
        play(log, draw, 12)
        version = log.changes_end()
        expected = matches(known_at(log, version), log)
        registries = {
            number: registered(replay(log, number))
            for number in range(entries(log)[0].compacted_to or 1, version + 1)
        }
        earlier = [known_at(log, draw.randrange(version + 1)) for _ in range(5)]
        starts, ends = log.starts(), log.ends()
        log.trim(Position({part: draw.randint(starts[part], ends[part]) for part in ends}))
        left = {key: ids for key, ids in expected.items() if key[2] >= log.starts()[key[0]]}
        for known in (LiveSubscriptions(), *earlier):
            known.advance(log.changes(known.roster.version, version), version)
            assert matches(known, log) == left
        compacted_to = entries(log)[0].compacted_to or 1
        for number in range(compacted_to, version + 1):
            assert registered(replay(log, number)) == registries[number]
    assert entries(log)[0].compacted_to is not None


def test_whoever_reads_meanwhile_begins_anew(
    log: LogWithRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wherecast.store.embedded.log.log_reading._PAGE_BYTES", 1)
    define(log)
    replaced(log, 40)
    publish(log, 50)
    version = log.changes_end()
    expected = registered(log.registry)

    def read(trim: Callable[[], None]) -> Iterator[ChangeEntry]:
        for number, entry in enumerate(log.changes(0, version)):
            if number == 20:
                trim()
            yield entry

    known, projection = LiveSubscriptions(), Projection()
    for entry in read(lambda: log.trim(Position())):
        known.advance([entry], 0)
        projection.take(entry)
    assert entries(log)[0].compacted_to == version
    assert (known.roster.version, projection.version) == (version, version)
    assert registered(projection) == expected
    assert matches(known, log) == matches(known_at(log, version), log) != {}
