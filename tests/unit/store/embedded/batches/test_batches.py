"""Batch records on disk: damage, and pipelines in several processes."""

import threading
from pathlib import Path

import apsw
import pytest

from tests.contract.feed import Feed, commit_all
from tests.contract.places import embedded
from wherecast.model import ConflictError, StoreError
from wherecast.store.records import DeadLetter, Progress


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE batches SET changes = changes + 1",
        'UPDATE batches SET "end" = "end" + 1',
        "UPDATE batches SET at = at + 1",
        "UPDATE batches SET checksum = 0",
        "UPDATE state SET epoch = epoch - 1",
    ],
)
def test_a_damaged_record_is_told(tmp_path: Path, statement: str) -> None:
    feed = Feed(1)
    with embedded(tmp_path) as opened:
        epoch = opened.batches.begin()
        commit_all(opened.batches, feed, [5], epoch)
        connection = apsw.Connection(str(tmp_path / "batches.db"))
        connection.execute(statement)
        connection.close()
        with pytest.raises(StoreError, match=r"checksum of .* wherecast store check"):
            opened.batches.commit(feed.batch(5), epoch)


def test_a_damaged_dead_letter_is_told(tmp_path: Path) -> None:
    with embedded(tmp_path) as opened:
        letter = DeadLetter("air", 0, 1, "it is bad", 5)
        opened.batches.commit(Feed(1).batch(3, dead=[letter]), opened.batches.begin())
        connection = apsw.Connection(str(tmp_path / "batches.db"))
        connection.execute("UPDATE dead_letters SET reason = 'it is bae'")
        connection.close()
        with pytest.raises(StoreError, match="checksum of dead letter 0"):
            opened.batches.dead_letters()


def test_the_oldest_dead_letters_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wherecast.store.embedded.batches.batches.DEAD_LETTERS_MOST", 4)
    feed = Feed(1)
    with embedded(tmp_path) as opened:
        epoch = opened.batches.begin()
        for number in range(3):
            letters = [DeadLetter("air", 0, 3 * number + n, "bad", 0) for n in range(3)]
            opened.batches.commit(feed.batch(3, dead=letters), epoch)
        found = [(number, letter.offset) for number, letter in opened.batches.dead_letters()]
        assert found == [(5, 5), (6, 6), (7, 7), (8, 8)]


def test_of_two_pipelines_the_later_one_commits(tmp_path: Path) -> None:
    feed = Feed(1)
    with embedded(tmp_path), embedded(tmp_path, "pipeline") as one:
        old = one.batches.begin()
        commit_all(one.batches, feed, [2, 3], old)
        batch = feed.batch(4)
        with embedded(tmp_path, "pipeline") as two:
            new = two.batches.begin()
            with pytest.raises(ConflictError, match=f"{old} was replaced by pipeline {new}"):
                one.batches.commit(batch, old)
            assert two.batches.commit(batch, new).count == 9


def test_a_commit_of_another_connection_wakes(tmp_path: Path) -> None:
    feed = Feed(1)
    with embedded(tmp_path) as owner, embedded(tmp_path, "pipeline") as pipeline:
        epoch = pipeline.batches.begin()
        seen: list[bool] = []

        def is_beyond(progress: Progress) -> bool:
            return progress.count > 4

        waiting = threading.Thread(target=lambda: seen.append(owner.batches.wait(is_beyond, 60)))
        waiting.start()
        commit_all(pipeline.batches, feed, [3, 3], epoch)
        waiting.join(60)
        assert seen == [True]


def test_readers_cannot_write(tmp_path: Path) -> None:
    refused = pytest.raises(StoreError, match="not open for writing")
    with embedded(tmp_path), embedded(tmp_path, "reader") as reader, refused:
        reader.batches.begin()
