"""One suite for the batch records of every store."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

from tests.contract.feed import SUBSCRIBERS, Feed, batch_of, commit_all, pull
from tests.contract.places import KINDS, Opened, open_kind
from wherecast.model import ConflictError, StoreError
from wherecast.store.contracts import ENDLESS
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, Progress, RecordRun


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    with open_kind(request.param, tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def feed(opened: Opened) -> Feed:
    return Feed(opened.partitions, opened.is_sparse)


def fields(batch: Batch) -> tuple[object, ...]:
    return batch.partition, batch.first, batch.end, batch.changes, batch.runs, batch.at


def is_beyond(count: int, progress: Progress) -> bool:
    return progress.count > count


class TestCommit:
    def test_nothing_is_matched_at_first(self, opened: Opened) -> None:
        assert opened.batches.progress() == Progress()
        assert opened.mailboxes.starts_at() == 0
        assert opened.batches.records(0, 100) == []
        assert opened.batches.position_at(0) == Position()

    def test_batches_follow_one_another(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        for size in (3, 1, 5):
            batch = feed.batch(size)
            progress = opened.batches.commit(batch, epoch)
            assert progress == Progress(
                feed.position, batch.changes, feed.end, len(feed.order), batch.at
            )
            assert opened.batches.progress() == progress

    def test_what_was_committed_is_skipped(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        batches = [feed.batch(3) for _ in range(4)]
        for batch in batches:
            opened.batches.commit(batch, epoch)
        progress = opened.batches.progress()
        cut_otherwise = replace(batches[0], end=batches[0].end - 1, changes=99)
        for batch in (*batches, cut_otherwise):
            assert opened.batches.commit(batch, epoch) == progress
        commit_all(opened.batches, feed, [2], epoch)
        for name in SUBSCRIBERS:
            assert list(pull(opened.mailboxes, name)) == feed.queue(name)

    def test_gaps_and_overlaps_are_refused(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        opened.batches.commit(feed.batch(4), epoch)
        progress = opened.batches.progress()
        at = progress.position[0]
        for start, end in ((at + 1, at + 3), (at - 1, at + 3), (0, at + 3), (at, at), (at + 2, at)):
            with pytest.raises(StoreError, match="does not continue"):
                opened.batches.commit(batch_of(0, start, end), epoch)
            assert opened.batches.progress() == progress
            assert len(opened.batches.records(0, ENDLESS)) == 1

    def test_a_batch_continues_only_its_own_partition(self, feed: Feed, opened: Opened) -> None:
        if opened.partitions == 1:
            pytest.skip("needs two partitions")
        epoch = opened.batches.begin()
        commit_all(opened.batches, feed, [4, 4, 4, 4], epoch)
        at = opened.batches.progress()
        with pytest.raises(StoreError, match="does not continue"):
            opened.batches.commit(batch_of(1, at.position[1] - 1, at.position[1] + 1), epoch)
        after = opened.batches.commit(batch_of(1, at.position[1], at.position[1] + 2), epoch)
        assert after.position == Position({**at.position, 1: at.position[1] + 2})
        assert after.sequence == at.sequence + 2

    def test_a_batch_may_be_empty(self, opened: Opened, feed: Feed) -> None:
        if not opened.is_sparse:
            pytest.skip("needs holes")
        epoch = opened.batches.begin()
        for size in (2, 0, 0, 3, 0, 1, 0):
            before = opened.batches.progress()
            progress = opened.batches.commit(feed.batch(size), epoch)
            assert progress.sequence == feed.end
            assert progress.position != before.position
            assert progress.count == before.count + size
        for name in SUBSCRIBERS:
            assert list(pull(opened.mailboxes, name)) == feed.queue(name)
        while opened.mailboxes.merge():
            pass
        opened.mailboxes.trim(feed.ends[3])
        for name in SUBSCRIBERS:
            assert list(pull(opened.mailboxes, name)) == feed.queue(name, feed.ends[3])

    def test_notifications_that_are_none_are_refused(self, opened: Opened) -> None:
        epoch = opened.batches.begin()
        good = batch_of(0, 0, 10)
        for bad, reason in (
            (replace(good, end=4), "out of its range"),
            (replace(good, runs=(RecordRun(0, 4),)), "none of its runs"),
            (replace(good, runs=()), "none of its runs"),
        ):
            with pytest.raises(StoreError, match=reason):
                opened.batches.commit(bad, epoch)
            assert opened.batches.progress() == Progress()
            assert opened.mailboxes.counts({"ana": 0}) == {"ana": 0}
        opened.batches.commit(good, epoch)

    def test_a_batch_may_notify_nobody(self, opened: Opened) -> None:
        epoch = opened.batches.begin()
        opened.batches.commit(replace(batch_of(0, 0, 10), notifications=None), epoch)
        assert opened.mailboxes.counts({"ana": 0}) == {"ana": 0}
        assert opened.batches.progress().count == 10


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
            feed = Feed(opened.partitions, opened.is_sparse)
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
        feed = Feed(opened.partitions, opened.is_sparse)
        for size in (3, 2, 4) * 5:
            feed.batch(size)
        for name in SUBSCRIBERS:
            assert list(pull(opened.mailboxes, name)) == feed.queue(name)


class TestRecords:
    def test_sequences_are_located(self, opened: Opened, feed: Feed) -> None:
        commit_all(opened.batches, feed, [3, 1, 4, 2], opened.batches.begin())
        asked = [5, 0, len(feed.order) - 1, 5, 2]
        partitions, offsets = opened.batches.locate(
            np.array([feed.sequence(place) for place in asked])
        )
        assert partitions.dtype == np.int32
        assert offsets.dtype == np.int64
        told = list(zip(partitions.tolist(), offsets.tolist(), strict=True))
        assert told == [feed.order[place] for place in asked]
        assert [len(part) for part in opened.batches.locate(np.zeros(0, np.int64))] == [0, 0]

    def test_what_is_not_matched_has_no_place(self, opened: Opened, feed: Feed) -> None:
        with pytest.raises(StoreError):
            opened.batches.locate(np.array([0]))
        commit_all(opened.batches, feed, [3], opened.batches.begin())
        with pytest.raises(StoreError):
            opened.batches.locate(np.array([feed.end]))

    def test_those_that_overlap_a_range_are_told(self, opened: Opened, feed: Feed) -> None:
        epoch, given = opened.batches.begin(), []
        for size in (3, 1, 4):
            first = feed.end
            batch = feed.batch(size)
            opened.batches.commit(batch, epoch)
            given.append((first, feed.end, batch))
        edges = sorted({edge + by for edge in (0, *feed.ends) for by in (-1, 0, 1)} - {-1})
        for start, end in combinations_with_replacement(edges, 2):
            expected = [
                (first, *fields(batch))
                for first, last, batch in given
                if first < end and last > start and start < end
            ]
            found = opened.batches.records(start, end)
            assert [(first, *fields(one)) for first, one in found] == expected
            assert all(one.notifications is None and not one.dead_letters for _, one in found)

    def test_a_position_is_before_all_that_follows(self, opened: Opened, feed: Feed) -> None:
        commit_all(opened.batches, feed, [3, 1, 4, 2, 5, 1], opened.batches.begin())
        for place in range(len(feed.order)):
            position = opened.batches.position_at(feed.sequence(place))
            for partition, offset in feed.order[place:]:
                assert position[partition] <= offset
            assert position != opened.batches.progress().position
        assert opened.batches.position_at(feed.end) == opened.batches.progress().position

    def test_every_field_is_kept(self, opened: Opened) -> None:
        batch = replace(batch_of(0, 0, 3, changes=9), at=77, next_due=123_456, placement=4)
        opened.batches.commit(batch, opened.batches.begin())
        ((_, found),) = opened.batches.records(0, ENDLESS)
        assert (found.next_due, found.placement, found.at, found.changes) == (123_456, 4, 77, 9)
        assert opened.batches.progress().at == 77

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
        assert not opened.batches.wait(lambda progress: progress.count > 0, 0)
        commit_all(opened.batches, feed, [1], opened.batches.begin())
        assert opened.batches.wait(lambda progress: progress.count > 0, 0)
        assert not opened.batches.wait(lambda progress: progress.count > 1, 0.01)

    def test_a_commit_wakes(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        woken: list[int] = []

        def wait() -> None:
            at = 0
            while at < 20:
                assert opened.batches.wait(partial(is_beyond, at), 60)
                at = opened.batches.progress().count
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
