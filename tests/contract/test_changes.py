"""What a change carries survives everything: reading, a restart, the registry, compaction.

The model of a registry here is a plain dictionary over the rows, so that it shares no code with
what it judges.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.stores import (
    PLACES,
    SCHEMA,
    Body,
    LogWithRegistry,
    Place,
    changes,
    publications,
)
from wherecast.columns import decode_rows
from wherecast.columns.log_encoding import encode_batch
from wherecast.model import ConfigError, SubscriptionSpec
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.decode_range import decode_range
from wherecast.pipeline.live.stage.group_matches import group_matches
from wherecast.pipeline.live.stage.join_shares import join_shares
from wherecast.pipeline.live.stage.match_share import match_share
from wherecast.pipeline.live.stage.rank_matches import rank_matches
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.store.changes import compaction
from wherecast.store.changes.projection import replay
from wherecast.store.contracts import Log, Registry

Row = tuple[str, str, str, str, str, str]
STREAM: Row = ("stream", "air", "", "", SCHEMA.to_json(), "")


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


def read(log: Log) -> list[tuple[int, int, Row]]:
    """Version, time and content of each change."""
    found = []
    for entry in log.changes(0, log.changes_end()):
        assert entry.damage is None
        rows = [tuple(row.values()) for row in entry.changes.to_pylist()]
        times = [entry.at] * len(rows) if entry.times is None else entry.times.tolist()
        found += list(zip(entry.row_versions.tolist(), times, rows, strict=True))
        assert all(entry.version <= version < entry.end for version in entry.row_versions)
    return found


def publish(log: Log, value: int) -> None:
    batch = decode_rows([{"no2": float(value)}], SCHEMA).batch
    plain, data = publications([Body(value)], "air"), encode_batch(batch, SCHEMA)
    log.append(replace(plain, attributes=data), at=0)


def joined(
    log: Log, partition: int, one: LiveSubscriptions, other: LiveSubscriptions
) -> set[tuple[str, str]]:
    """Who is notified where each of two workers matches a share, and the first one joins them."""
    part = Range(partition, log.starts()[partition], log.ends()[partition])
    found = []
    for number, worker in enumerate((one, other)):
        entries = log.read(partition, part.first, part.end)
        decoded = decode_range(part, entries, worker.roster.schemas, 0)
        matches = match_share(decoded, worker.shares[number], worker.roster)
        found.append(rank_matches(matches))
    grouped = group_matches(join_shares(found), one.roster)
    return {
        (row["subscriber"], id) for row in grouped.to_pylist() for id in row["subscription_ids"]
    }


class TestKinds:
    OTHERS: Sequence[Row] = (
        ("offer", "air", "@b1", "o1", "no2 >= 0", '{"battery":0.8}'),
        ("withdraw", "air", "@b1", "o1", "", ""),
        ("session", "", "ana", "", "{", "not JSON"),
        ("a kind of tomorrow \N{SNOWMAN}", "nowhere", "", "", "x", ""),
    )

    def test_any_kind_is_kept_and_passed_over(self, log: LogWithRegistry) -> None:
        subscribe = ("subscribe", "air", "ana", "s", "no2 > 1", "")
        rows = [STREAM, *self.OTHERS, subscribe, *self.OTHERS]
        assert log.change(changes(*rows), at=3).version == 0
        assert read(log) == [(number, 3, row) for number, row in enumerate(rows)]
        counts = {"streams": 1, "subscribers": 1, "subscriptions": 1}
        assert log.registry.counts() == replay(log, len(rows)).counts() == counts
        known = LiveSubscriptions()
        known.advance(log.changes(0, len(rows)), len(rows))
        assert len(known) == 1

    def test_it_outlives_a_restart(self, place: Place) -> None:
        if place.reopen is None:
            pytest.skip("ends with its process")
        place.log.change(changes(*self.OTHERS), at=3)
        again = place.reopen()
        assert [row for _, _, row in read(again.log)] == list(self.OTHERS)
        again.close()

    def test_compaction_supersedes_only_known_kinds(self, log: LogWithRegistry) -> None:
        log.change(changes(STREAM), at=1)
        for number in range(20):
            log.change(changes(("subscribe", "air", "ana", "s", f"no2 > {number}")), at=10 + number)
            if number % 5 == 0:
                log.change(changes(self.OTHERS[number % 4]), at=10 + number)
        others = [one for one in read(log) if one[2] in self.OTHERS]
        assert len(others) == 4
        for _ in range(2):
            log.trim(log.ends())
            left = read(log)
            assert next(log.changes(0, 1)).compacted_to is not None
            assert [one for one in left if one[2] in self.OTHERS] == others
            assert len(left) == 1 + 1 + 1 + 4  # the stream, ana, the subscription, the others
            for number in range(40):
                row = ("subscribe", "air", "ana", "s", f"no2 > {number}")
                log.change(changes(row), at=100 + number)
            log.trim(log.ends())

    def test_changes_that_are_only_of_other_kinds_are_not_compacted(
        self, log: LogWithRegistry
    ) -> None:
        log.change(changes(*self.OTHERS * 10), at=3)
        before = read(log)
        log.trim(log.ends())
        assert read(log) == before
        assert next(log.changes(0, 1)).compacted_to is None


class TestVersions:
    def test_what_is_left_keeps_its_version_and_its_time(self, log: LogWithRegistry) -> None:
        log.change(changes(STREAM), at=1)
        for number in range(1, 31):
            row = ("subscribe", "air", f"n{number % 3}", "s", f"no2 > {number}", "")
            assert log.change(changes(row), at=10 * number).version == number
        before = read(log)
        log.trim(log.ends())
        left = read(log)
        assert set(left) - set(before) == {
            (number, 10 * number, ("subscriber", "", f"n{number % 3}", "", "", ""))
            for number in (1, 2, 3)
        }  # those that registered were superseded
        assert [version for version, _, _ in left] == [0, 1, 2, 3, 28, 29, 30]
        assert log.change(changes(("forget", "", "n1")), at=400).version == 31

    def test_two_workers_with_different_histories_join_to_the_right_names(
        self, log: LogWithRegistry
    ) -> None:
        """One worker read all changes; the other began after they were compacted."""
        log.change(changes(STREAM), at=1)
        early = LiveSubscriptions(shares=2)
        for number in range(40):
            rows = [("subscribe", "air", f"n{number % 10}", "s", "no2 > 1")]
            rows += [("subscribe", "air", "gone", f"{number}", "no2 > 1")] * (number % 3)
            log.change(changes(*rows), at=2)
        log.change(changes(("forget", "", "gone")), at=3)
        end = log.changes_end()
        early.advance(log.changes(0, end), end)
        for number in range(5):  # a publication in each partition
            publish(log, 2 + number)
        log.trim(log.starts())
        assert next(log.changes(0, 1)).compacted_to is not None
        late = LiveSubscriptions(shares=2)
        late.advance(log.changes(0, end), end)
        expected = {(f"n{number}", "s") for number in range(10)}
        assert all(len(share) for share in early.shares)
        for one, other in ((early, late), (late, early)):
            for partition in log.ends():
                assert joined(log, partition, one, other) == expected


_NAMES = st.sampled_from(["ana", "bo", "@b1", "c\0d", "ž"])
_TEXTS = st.sampled_from(["", "no2 > 1", "x", "\N{SNOWMAN}"])
_SPECS = st.builds(
    SubscriptionSpec,
    stream=st.just("air"),
    filter=st.sampled_from(["no2 > 1", "no2 > 2"]),
    valid_until=st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1)),
    rank=_TEXTS,
    priority=st.one_of(st.just(0), st.integers(-(2**63), 2**63 - 1)),
    notices=st.booleans(),
    owner=_TEXTS,
)


def written(spec: SubscriptionSpec) -> dict[str, Any]:
    """The options of a spec that a change has to carry, as the test sees them."""
    every = {
        "valid_until": (spec.valid_until, None),
        "rank": (spec.rank, ""),
        "priority": (spec.priority, 0),
        "notices": (spec.notices, False),
        "owner": (spec.owner, ""),
    }
    return {name: value for name, (value, default) in every.items() if value != default}


def options(given: dict[str, Any]) -> str:
    return json.dumps(given, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def subscribe(name: str, id: str, spec: SubscriptionSpec) -> Row:
    given = written(spec)
    return ("subscribe", spec.stream, name, id, spec.filter, options(given) if given else "")


_CHANGE = st.one_of(
    st.builds(subscribe, _NAMES, st.sampled_from(["s1", "s2"]), _SPECS),
    st.builds(subscribe, _NAMES, st.sampled_from(["s1", "s2"]), _SPECS),
    st.tuples(st.just("unsubscribe"), st.just("air"), _NAMES, st.sampled_from(["s1", "s2"])),
    st.tuples(st.sampled_from(["subscriber", "forget"]), st.just(""), _NAMES),
    st.tuples(st.just("stream"), st.sampled_from(["air", "@x"]), st.just(""), st.just(""),
              st.just(SCHEMA.to_json()), st.sampled_from(["", '{"keep_us":5}'])),
    st.tuples(st.sampled_from(["offer", "session", "z"]), _NAMES, _NAMES, _NAMES, _TEXTS, _TEXTS),
)  # fmt: skip


@dataclass
class Model:
    """What a registry has to hold, from the rows alone."""

    streams: dict[str, str] = field(default_factory=dict)  # options
    held: dict[str, dict[str, tuple[str, str, str, int, int]]] = field(default_factory=dict)
    others: list[tuple[int, int, Row]] = field(default_factory=list)

    def take(self, version: int, at: int, row: Row) -> None:
        kind, stream, subscriber, id, text, given = row
        if kind == "stream":
            self.streams[stream] = given
        elif kind == "subscriber":
            self.held.setdefault(subscriber, {})
        elif kind == "forget":
            self.held.pop(subscriber, None)
        elif kind == "subscribe":
            self.held.setdefault(subscriber, {})[id] = stream, text, given, at, version
        elif kind == "unsubscribe":
            self.held.get(subscriber, {}).pop(id, None)
        else:
            self.others.append((version, at, row))

    def check(self, registry: Registry) -> None:
        specs = registry.stream_specs()
        keeps = {name: json.loads(given or "{}").get("keep_us", 0) for name, given in
                 self.streams.items()}  # fmt: skip
        assert {name: spec.keep_us for name, spec in specs.items()} == keeps
        assert registry.streams() == dict.fromkeys(self.streams, SCHEMA)
        assert registry.subscribers() == sorted(self.held)
        for name, own in self.held.items():
            found = registry.among(name, ["s1", "s2"])
            given = {id: (spec.stream, spec.filter, written(spec)) for id, spec in found.items()}
            assert given == {
                id: (stream, text, json.loads(asked or "{}"))
                for id, (stream, text, asked, _, _) in own.items()
            }
            for one in registry.subscriptions(name):
                assert one.accepted_at == own[one.id][3]
                assert one.spec(own[one.id][3]) == found[one.id]
                assert registry.subscription(name, one.id) == one


def filled(row: tuple[str, ...]) -> Row:
    kind, stream, subscriber, id, text, given = (*row, "", "", "", "")[:6]
    return kind, stream, subscriber, id, text, given


@pytest.mark.parametrize("kind", PLACES)
def test_every_field_survives_the_log_the_registry_and_compaction(
    kind: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 4)
    monkeypatch.setattr(compaction, "ROWS_MAX", 3)

    @settings(suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.lists(_CHANGE, min_size=1, max_size=12), min_size=1, max_size=5))
    def check(batches: list[list[tuple[str, ...]]]) -> None:
        place = PLACES[kind](tmp_path_factory.mktemp("store"), None)
        model, version = Model(), 0
        for at, rows in enumerate(batches):
            accepted = place.log.change(changes(*rows), at=at)
            assert accepted.version == version
            for row in rows:
                model.take(version, at, filled(row))
                version += 1
            model.check(place.log.registry)
            place.log.trim(place.log.ends())
            model.check(replay(place.log, version))
        if place.reopen is not None:
            place = place.reopen()
            model.check(place.log.registry)
        left = read(place.log)
        assert [one for one in left if one[2][0] in ("offer", "session", "z")] == model.others
        versions = [number for number, _, _ in left]
        assert versions == sorted(set(versions))
        newest = {(row[2], row[3]): number for number, _, row in left if row[0] == "subscribe"}
        for name, own in model.held.items():
            for id, held in own.items():
                assert newest[name, id] == held[4]
        place.close()

    check()


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"owner":1}', '{"x":1}', '{"priority":true}', '{"valid_until":1e3}']
)
def test_options_that_cannot_be_read_change_nothing(log: LogWithRegistry, text: str) -> None:
    with pytest.raises(ConfigError, match="option"):
        log.change(changes(STREAM, ("subscribe", "air", "ana", "s", "no2 > 1", text)), at=0)
    assert (log.changes_end(), log.registry.counts()["streams"]) == (0, 0)
