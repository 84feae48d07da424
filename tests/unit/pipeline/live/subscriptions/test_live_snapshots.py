"""A snapshot gives the same matches as the changes it stands for."""

from pathlib import Path
from typing import Any

import pytest

from tests.live_log import LiveLog, told
from wherecast import Schema
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.subscriptions import live_snapshots, subscription_cache
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.store.blobs.posix_blobs import PosixBlobs
from wherecast.store.position import Position

SCHEMAS = {"air": Schema.from_dict({"no2": "int"}), "open": Schema((), open=True)}


def history() -> LiveLog:
    records: list[Any] = []
    for number in range(60):
        name, id = f"n{number % 7}", f"s{number % 5}"
        records.append(("change", [("subscribe", "air", name, id, f"no2 > {number % 11}")]))
        records.append(("change", [("subscribe", "open", name, f"o{id}", f"x < {number % 11}")]))
        if number % 9 == 0:
            records.append(("change", [("forget", "", name, "", "")]))
        if number % 4 == 0:
            records.append(("change", [("unsubscribe", "air", name, "s0", "")]))
        records.append(("publish", [("air", {"no2": number % 12}), ("open", {"x": number % 9})]))
    return LiveLog(SCHEMAS, records)


def matched(known: LiveSubscriptions, log: LiveLog, first: int) -> dict[tuple[str, int], list[str]]:
    range_ = Range(0, first, log.end)
    return told(match_range(range_, log.entries(first, log.end), known, at=0).notifications)


@pytest.mark.parametrize("middle", [0, 1, 40, 119])
def test_it_is_as_good_as_the_changes(tmp_path: Path, middle: int) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    version = log.changes_before(middle + 1)
    known = LiveSubscriptions()
    known.advance(log.changes(0, version), version)
    known.collect(Position({0: middle}))
    live_snapshots.save(known, blobs)
    loaded = live_snapshots.load(blobs, Position({0: middle}))
    assert loaded.roster.version == known.roster.version >= version
    for one in (known, loaded):
        one.advance(log.changes(one.roster.version, log.changes_end), log.changes_end)
    whole = LiveSubscriptions()
    whole.advance(log.changes(0, log.changes_end), log.changes_end)
    expected = matched(whole, log, middle)
    assert expected
    assert matched(known, log, middle) == expected
    assert matched(loaded, log, middle) == expected


def test_one_that_cannot_match_so_early_is_passed_over(tmp_path: Path) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    known = LiveSubscriptions()
    known.advance(log.changes(0, log.changes_end), log.changes_end)
    known.collect(Position({0: 50}))
    live_snapshots.save(known, blobs)
    assert live_snapshots.load(blobs, Position({0: 49})).roster.version == 0
    assert live_snapshots.load(blobs, Position({0: 50})).roster.version == log.changes_end


def test_one_that_stands_for_later_changes_is_passed_over(tmp_path: Path) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    known = LiveSubscriptions()
    for version in (40, 80):
        known.advance(log.changes(known.roster.version, version), version)
        live_snapshots.save(known, blobs)
    for changes, found in ((39, 0), (40, 40), (79, 40), (80, 80), (None, 80)):
        loaded = live_snapshots.load(blobs, Position(), changes=changes)
        assert loaded.roster.version == found


@pytest.mark.parametrize("what", ["shares", "blobs"])
def test_a_damaged_one_is_passed_over(tmp_path: Path, what: str) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    known = LiveSubscriptions()
    known.advance(log.changes(0, log.changes_end), log.changes_end)
    live_snapshots.save(known, blobs)
    assert live_snapshots.load(blobs, Position()).roster.version == log.changes_end
    for name in blobs.names(what):
        path = blobs.local_path(name)
        assert path is not None
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 64
        path.chmod(0o644)
        path.write_bytes(data)
    assert live_snapshots.load(blobs, Position()).roster.version == 0


def test_old_ones_are_removed(tmp_path: Path) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    known = LiveSubscriptions()
    for version in range(10, log.changes_end, 20):
        known.advance(log.changes(known.roster.version, version), version)
        live_snapshots.save(known, blobs)
    assert len(blobs.names("shares")) == 2
    assert len(blobs.names("blobs")) <= 2 * 7  # two indexes and five tables of each


def test_a_process_that_starts_reads_few_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_snapshots, "CHANGES_MIN", 30)
    log, blobs = history(), PosixBlobs(tmp_path)
    first = subscription_cache.SubscriptionCache(log, blobs)  # type: ignore[arg-type]
    for offset in range(0, log.end, 10):
        first.at(Position({0: offset}), log.changes_before(offset + 1))
    read: list[int] = []
    changes = log.changes
    monkeypatch.setattr(log, "changes", lambda a, b: (read.append(a), changes(a, b))[1])
    known = subscription_cache.SubscriptionCache(log, blobs).at(
        Position({0: log.end}), log.changes_end
    )  # type: ignore[arg-type]
    assert known.roster.version == log.changes_end
    assert read[0] > log.changes_end // 2


def test_one_of_an_earlier_format_is_ignored_and_removed_by_the_next(tmp_path: Path) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    blobs.create("in-force/0000000000000010", b"0123\n{}")
    blobs.create("parts/0123", b"an index")
    known = live_snapshots.load(blobs, Position({0: log.end}))
    assert (known.roster.version, live_snapshots.newest(blobs)) == (0, 0)
    known.advance(log.changes(0, log.changes_end), log.changes_end)
    live_snapshots.save(known, blobs)
    assert {name.partition("/")[0] for name in blobs.names("")} == {"shares", "blobs"}


@pytest.mark.parametrize("kind", ["columnar", "betree", "forest"])
@pytest.mark.parametrize("shares", [1, 3])
def test_every_kind_that_has_a_file_is_restored_share_by_share(
    tmp_path: Path, kind: str, shares: int
) -> None:
    log, blobs, factory = history(), PosixBlobs(tmp_path), IndexFactory(kind)
    known = LiveSubscriptions(factory, shares)
    known.advance(log.changes(0, log.changes_end), log.changes_end)
    live_snapshots.save(known, blobs)
    loaded = live_snapshots.load(blobs, Position(), factory, shares)
    assert [len(share) for share in loaded.shares] == [len(share) for share in known.shares]
    assert matched(loaded, log, 0) == matched(known, log, 0) != {}
    assert live_snapshots.load(blobs, Position(), factory, shares + 1).roster.version == 0
    other = IndexFactory("scan")
    assert live_snapshots.load(blobs, Position(), other, shares).roster.version == 0


def test_a_kind_without_a_file_has_no_snapshot() -> None:
    log, known = history(), LiveSubscriptions(IndexFactory("scan"))
    known.advance(log.changes(0, log.changes_end), log.changes_end)
    assert not live_snapshots.is_due(known, -1_000_000)
