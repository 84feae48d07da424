"""What is matched again, by a mend or in search of poison, begins at a snapshot."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.stores import SCHEMA, changes
from tests.live_log import told
from wherecast import Publication
from wherecast.broker.intake.intake import prepare
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.pipeline.live.repair.mend_segments import made_again
from wherecast.pipeline.live.repair.poison import match_pieces
from wherecast.pipeline.live.subscriptions import live_snapshots
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.records import ChangeEntry

BATCHES = 12


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedStore]:
    """A store of which every batch was matched, with a snapshot after each few changes."""
    monkeypatch.setattr(live_snapshots, "CHANGES_MIN", 8)
    made = EmbeddedStore(tmp_path / "store")
    made.log.change(changes(("stream", "air", "", "", SCHEMA.to_json())), at=0)
    pipeline = InlinePipeline(made, lambda: 0)
    for number in range(BATCHES):
        for name in ("ana", "bo", "cy"):
            made.log.change(changes(("subscribe", "air", name, "s", f"no2 > {number}")), at=0)
        for _ in range(2):
            made.log.append(prepare([Publication({"no2": number + 1})], "air", SCHEMA).good, 0)
        batch = pipeline.next_batch()
        assert batch is not None
        pipeline.commit(batch)
    yield made
    made.close()


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The versions from which on changes were read."""
    starts: list[int] = []
    changes_of = EmbeddedLog.changes

    def noted(self: EmbeddedLog, start: int, end: int) -> Iterator[ChangeEntry]:
        starts.append(start)
        return changes_of(self, start, end)

    monkeypatch.setattr(EmbeddedLog, "changes", noted)
    return starts


def test_a_mend_reads_the_changes_since_a_snapshot(store: EmbeddedStore, read: list[int]) -> None:
    end = store.batches.progress().position[0]
    first = end - 2
    ((sequence, batch),) = made_again(store, first * 2**24, end * 2**24, 0)
    assert (sequence, batch.first, batch.end) == (first * 2**24, first, end)
    assert batch.notifications is not None
    assert told(batch.notifications) == {
        (name, offset): ["s"] for name in ("ana", "bo", "cy") for offset in (first, first + 1)
    }
    assert store.snapshots is not None
    assert all(start >= live_snapshots.newest(store.snapshots) > 20 for start in read)


def test_a_mend_of_what_no_snapshot_reaches_reads_all_changes(
    store: EmbeddedStore, read: list[int]
) -> None:
    ((_, batch),) = made_again(store, 0, 1, 0)
    assert batch.notifications is not None
    assert {("ana", 0), ("bo", 0), ("cy", 0)} <= told(batch.notifications).keys()
    assert read[0] == 0


def test_the_search_for_poison_reads_the_changes_since_a_snapshot(
    tmp_path: Path, store: EmbeddedStore, read: list[int]
) -> None:
    end = store.batches.progress().position[0]
    known = store.log.changes_end()
    pieces = match_pieces(tmp_path / "store", Range(0, end - 2, end), known, 1)
    assert list(pieces) == [end - 2, end - 1, end]
    assert all(start > 20 for start in read)
