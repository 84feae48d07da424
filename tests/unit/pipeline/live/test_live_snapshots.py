"""A snapshot gives the same matches as the changes it stands for."""

from pathlib import Path
from typing import Any

import pytest

from tests.live_log import LiveLog, told
from wherecast import Schema
from wherecast.pipeline.live import live_snapshots, subscription_cache
from wherecast.pipeline.live.in_force import InForce
from wherecast.pipeline.live.stage import Range, match_range
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


def matched(known: InForce, log: LiveLog, first: int) -> dict[tuple[str, int], list[str]]:
    range_ = Range(0, first, log.end)
    return told(match_range(range_, log.entries(first, log.end), known, at=0).segment.notifications)


@pytest.mark.parametrize("middle", [0, 1, 40, 119])
def test_it_is_as_good_as_the_changes(tmp_path: Path, middle: int) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    version = log.changes_before(middle + 1)
    known = InForce()
    known.advance(log.changes(0, version), version)
    known.collect(Position({0: middle}))
    live_snapshots.save(known, blobs)
    loaded = live_snapshots.load(blobs, Position({0: middle}))
    assert loaded.version == known.version >= version
    for one in (known, loaded):
        one.advance(log.changes(one.version, log.changes_end), log.changes_end)
    whole = InForce()
    whole.advance(log.changes(0, log.changes_end), log.changes_end)
    expected = matched(whole, log, middle)
    assert expected
    assert matched(known, log, middle) == expected
    assert matched(loaded, log, middle) == expected


def test_one_that_cannot_match_so_early_is_passed_over(tmp_path: Path) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    known = InForce()
    known.advance(log.changes(0, log.changes_end), log.changes_end)
    known.collect(Position({0: 50}))
    live_snapshots.save(known, blobs)
    assert live_snapshots.load(blobs, Position({0: 49})).version == 0
    assert live_snapshots.load(blobs, Position({0: 50})).version == log.changes_end


@pytest.mark.parametrize("what", ["in-force", "parts"])
def test_a_damaged_one_is_passed_over(tmp_path: Path, what: str) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    known = InForce()
    known.advance(log.changes(0, log.changes_end), log.changes_end)
    live_snapshots.save(known, blobs)
    assert live_snapshots.load(blobs, Position()).version == log.changes_end
    for name in blobs.names(what):
        path = blobs.local_path(name)
        assert path is not None
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 64
        path.chmod(0o644)
        path.write_bytes(data)
    assert live_snapshots.load(blobs, Position()).version == 0


def test_old_ones_are_removed(tmp_path: Path) -> None:
    log, blobs = history(), PosixBlobs(tmp_path)
    known = InForce()
    for version in range(10, log.changes_end, 20):
        known.advance(log.changes(known.version, version), version)
        live_snapshots.save(known, blobs)
    assert len(blobs.names("in-force")) == 2
    assert len(blobs.names("parts")) <= 6


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
    assert known.version == log.changes_end
    assert read[0] > log.changes_end // 2
