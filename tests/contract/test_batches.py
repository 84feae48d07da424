"""One suite for the batch records of every store."""

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.contract.feed import SUBSCRIBERS, Feed, commit_all, pull, segment
from tests.contract.places import KINDS, Opened, open_kind
from wherecast.model import ConflictError, StoreError
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, Progress


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    with open_kind(request.param, tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def feed(opened: Opened) -> Feed:
    return Feed(opened.partitions)


class TestCommit:
    def test_nothing_is_matched_at_first(self, opened: Opened) -> None:
        assert opened.batches.progress() == Progress()
        assert opened.mailboxes.starts_at() == 0
        assert opened.batches.records(0, 100) == []

    def test_batches_follow_one_another(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        for size in (3, 1, 5):
            batch = feed.batch(size)
            progress = opened.batches.commit(batch, epoch)
            assert progress == Progress(feed.position, batch.changes, len(feed.order))
            assert opened.batches.progress() == progress

    def test_what_was_committed_is_skipped(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        batches = [feed.batch(3), feed.batch(4)]
        for batch in batches:
            opened.batches.commit(batch, epoch)
        progress = opened.batches.progress()
        cut_otherwise = Batch(Position(), batches[0].end, 99)
        both = Batch(Position(), batches[1].end, 99)
        for batch in (*batches, cut_otherwise, both):
            assert opened.batches.commit(batch, epoch) == progress
        commit_all(opened.batches, feed, [2], epoch)
        for name in SUBSCRIBERS:
            assert list(pull(opened.mailboxes, name)) == feed.queue(name)

    def test_gaps_and_overlaps_are_refused(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        opened.batches.commit(feed.batch(4), epoch)
        progress = opened.batches.progress()
        at = progress.position[0]
        for start, end in ((at + 1, at + 3), (at - 1, at + 3), (0, at + 3)):
            starts = Position({**progress.position, 0: start})
            ends = Position({**progress.position, 0: end})
            with pytest.raises(StoreError, match="does not continue"):
                opened.batches.commit(Batch(starts, ends, 0, (segment(0, start, end),)), epoch)
            assert opened.batches.progress() == progress
            assert len(opened.batches.records(0, 100)) == 1

    def test_one_that_goes_back_somewhere_is_refused(self, feed: Feed, opened: Opened) -> None:
        if opened.partitions == 1:
            pytest.skip("needs two partitions")
        epoch = opened.batches.begin()
        commit_all(opened.batches, feed, [4, 4], epoch)
        at = opened.batches.progress().position
        back = Position({**at, 0: at[0] + 1, 1: at[1] - 1})
        with pytest.raises(StoreError, match="does not continue"):
            opened.batches.commit(Batch(at, back, 0, (segment(0, at[0], at[0] + 1),)), epoch)

    def test_segments_must_cover_the_batch(self, opened: Opened) -> None:
        epoch = opened.batches.begin()
        end = Position({0: 10})
        for parts in (
            (),
            (segment(0, 0, 9),),
            (segment(0, 1, 10),),
            (segment(0, 0, 4), segment(0, 5, 10)),
            (segment(0, 0, 6), segment(0, 5, 10)),
            (segment(0, 0, 11),),
            (segment(7, 0, 10),),
        ):
            with pytest.raises(StoreError):
                opened.batches.commit(Batch(Position(), end, 0, parts), epoch)
            assert opened.batches.progress() == Progress()
            assert opened.mailboxes.counts({"ana": 0}) == {"ana": 0}
        opened.batches.commit(
            Batch(Position(), end, 0, (segment(0, 0, 4), segment(0, 4, 10))), epoch
        )

    def test_a_segment_that_is_none_is_refused(self, opened: Opened) -> None:
        epoch = opened.batches.begin()
        bad = segment(0, 0, 10)
        with pytest.raises(StoreError, match="out of its range"):
            opened.batches.commit(
                Batch(Position(), Position({0: 4}), 0, (type(bad)(0, 0, 4, bad.notifications),)),
                epoch,
            )


class TestEpochs:
    def test_a_pipeline_that_was_replaced_cannot_commit(self, opened: Opened, feed: Feed) -> None:
        old = opened.batches.begin()
        commit_all(opened.batches, feed, [2], old)
        new = opened.batches.begin()
        assert new > old
        batch = feed.batch(3)
        progress = opened.batches.progress()
        with pytest.raises(ConflictError, match=f"pipeline {old} was replaced"):
            opened.batches.commit(batch, old)
        assert opened.batches.progress() == progress
        opened.batches.commit(batch, new)
        with pytest.raises(ConflictError):
            opened.batches.commit(batch, old)

    def test_one_that_never_began_cannot_commit(self, opened: Opened, feed: Feed) -> None:
        with pytest.raises(ConflictError):
            opened.batches.commit(feed.batch(1), 1)

    def test_of_many_pipelines_the_batches_of_one_are_there(self, opened: Opened) -> None:
        def run() -> None:
            feed = Feed(opened.partitions)
            epoch = opened.batches.begin()
            begun.wait(60)
            try:
                for size in (3, 2, 4) * 5:
                    opened.batches.commit(feed.batch(size), epoch)
            except ConflictError:
                refused.append(epoch)

        begun, refused = threading.Barrier(4), list[int]()
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert sorted(refused) == [1, 2, 3]
        feed = Feed(opened.partitions)
        for size in (3, 2, 4) * 5:
            feed.batch(size)
        for name in SUBSCRIBERS:
            assert list(pull(opened.mailboxes, name)) == feed.queue(name)


class TestRecords:
    def test_sequences_are_located(self, opened: Opened, feed: Feed) -> None:
        commit_all(opened.batches, feed, [3, 1, 4, 2], opened.batches.begin())
        asked = np.array([5, 0, len(feed.order) - 1, 5, 2])
        partitions, offsets = opened.batches.locate(asked)
        assert partitions.dtype == np.int32
        assert offsets.dtype == np.int64
        told = list(zip(partitions.tolist(), offsets.tolist(), strict=True))
        assert told == [feed.order[sequence] for sequence in asked]
        assert [len(part) for part in opened.batches.locate(asked[:0])] == [0, 0]

    def test_what_is_not_matched_has_no_place(self, opened: Opened, feed: Feed) -> None:
        with pytest.raises(StoreError):
            opened.batches.locate(np.array([0]))
        commit_all(opened.batches, feed, [3], opened.batches.begin())
        with pytest.raises(StoreError):
            opened.batches.locate(np.array([len(feed.order)]))

    def test_those_that_overlap_a_range_are_told(self, opened: Opened, feed: Feed) -> None:
        epoch, given, at = opened.batches.begin(), [], 0
        for size in (3, 1, 4):
            batch = feed.batch(size)
            opened.batches.commit(batch, epoch)
            given.append((at, batch))
            at = len(feed.order)
        for start in range(at + 1):
            for end in range(start, at + 2):
                expected = [
                    (first, batch.start, batch.end, batch.changes, batch.at)
                    for first, batch in given
                    if first < end and first + batch.count > start
                ]
                found = opened.batches.records(start, end)
                assert [
                    (first, one.start, one.end, one.changes, one.at) for first, one in found
                ] == expected
                assert all(not one.segments and not one.dead_letters for _, one in found)

    def test_dead_letters_are_numbered_and_paged(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        letters = [DeadLetter("air", 0, n, f"reason {n}", 1000 + n) for n in range(6)]
        for n in range(0, 6, 2):
            opened.batches.commit(feed.batch(2, dead=letters[n : n + 2]), epoch)
        found = opened.batches.dead_letters()
        assert [letter for _, letter in found] == letters
        paged, after = [], -1
        while page := opened.batches.dead_letters(after, 4):
            paged += page
            after = page[-1][0]
        assert paged == found


class TestWait:
    def test_what_is_there_is_not_waited_for(self, opened: Opened, feed: Feed) -> None:
        assert not opened.batches.wait(0, 0)
        commit_all(opened.batches, feed, [1], opened.batches.begin())
        assert opened.batches.wait(0, 0)
        assert not opened.batches.wait(len(feed.order), 0.01)

    def test_a_commit_wakes(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        woken: list[int] = []

        def wait() -> None:
            at = 0
            while at < 20:
                assert opened.batches.wait(at, 60)
                at = opened.batches.progress().sequence
                woken.append(at)

        waiting = [threading.Thread(target=wait) for _ in range(2)]
        for thread in waiting:
            thread.start()
        while len(feed.order) <= 20:
            commit_all(opened.batches, feed, [1], epoch)
        for thread in waiting:
            thread.join(60)
        assert woken.count(max(woken)) <= 2
        assert max(woken) >= 20
