"""One suite for the mailboxes of every store."""

import random
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.contract.feed import SUBSCRIBERS, Feed, commit_all, made_again, pull, whole
from tests.contract.places import KINDS, Opened, open_kind
from wherecast.model import ConflictError, StoreError
from wherecast.store.segments.merging import FAN_IN


@pytest.fixture(params=KINDS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    with open_kind(request.param, tmp_path / "store") as opened:
        yield opened


@pytest.fixture
def feed(opened: Opened) -> Feed:
    return Feed(opened.partitions, opened.is_sparse)


def pulled(opened: Opened) -> dict[str, list[tuple[int, list[str]]]]:
    return {name: list(pull(opened.mailboxes, name)) for name in SUBSCRIBERS}


class TestQueue:
    def test_pages_give_everything_once(self, opened: Opened, feed: Feed) -> None:
        commit_all(opened.batches, feed, [5, 1, 20, 2], opened.batches.begin())
        for name in SUBSCRIBERS:
            for limit in (1, 2, 1000):
                for start in (0, 1, feed.sequence(7), feed.end):
                    found = list(pull(opened.mailboxes, name, start, limit))
                    assert found == feed.queue(name, start)
                    assert opened.mailboxes.counts({name: start}) == {name: len(found)}

    def test_all_are_counted_together(self, opened: Opened, feed: Feed) -> None:
        assert opened.mailboxes.counts({}) == {}
        commit_all(opened.batches, feed, [5, 1, 20, 2], opened.batches.begin())
        starts = {name: feed.sequence(3 * place) for place, name in enumerate(SUBSCRIBERS)}
        starts["nobody"] = 2
        expected = {name: len(feed.queue(name, start)) for name, start in starts.items()}
        assert opened.mailboxes.counts(starts) == expected

    def test_the_end_says_how_far_it_looked(self, opened: Opened, feed: Feed) -> None:
        assert opened.mailboxes.queued("ana", 0, 10).end == 0
        commit_all(opened.batches, feed, [10, 10], opened.batches.begin())
        all_of_it = opened.mailboxes.queued("ana", 0, 1000)
        assert all_of_it.end == feed.end
        page = opened.mailboxes.queued("ana", 0, 3)
        assert page.end == page.sequences[-1] + 1
        assert opened.mailboxes.queued("nobody", 3, 10).end == feed.end
        assert opened.mailboxes.queued("nobody", 2**62, 10).end == 2**62

    def test_segments_are_read_together_up_to_a_size(self, opened: Opened, feed: Feed) -> None:
        assert opened.mailboxes.since(0) == []
        commit_all(opened.batches, feed, [5, 1, 20, 2], opened.batches.begin())
        found = opened.mailboxes.since(feed.ends[1])
        assert found is not None
        assert [(one.first, one.end) for one in found] == list(pairwise(feed.ends[1:]))
        assert opened.mailboxes.since(0, bytes_max=10) is None

    def test_nobody_has_nothing(self, opened: Opened, feed: Feed) -> None:
        commit_all(opened.batches, feed, [5], opened.batches.begin())
        for name in ("", "an", "anaa", "zz"):
            assert opened.mailboxes.queued(name, 0, 10).subscription_ids == []
            assert opened.mailboxes.counts({name: 0}) == {name: 0}


class TestMerge:
    def test_nothing_changes_but_their_number(self, opened: Opened, feed: Feed) -> None:
        epoch, drawn = opened.batches.begin(), random.Random(4)
        fewer = 0
        for _ in range(3 * FAN_IN**2):
            commit_all(opened.batches, feed, [drawn.randrange(1, 4)], epoch)
            if drawn.random() < 0.3:
                fewer += opened.mailboxes.merge()
        while merged := opened.mailboxes.merge():
            fewer += merged
        assert fewer >= 3 * FAN_IN**2 - 2 * FAN_IN
        assert pulled(opened) == whole(feed)
        for start in map(feed.sequence, range(0, len(feed.order), 17)):
            expected = {name: len(feed.queue(name, start)) for name in SUBSCRIBERS}
            assert opened.mailboxes.counts(dict.fromkeys(SUBSCRIBERS, start)) == expected

    def test_nothing_is_due_at_first(self, opened: Opened, feed: Feed) -> None:
        assert opened.mailboxes.merge() == 0
        commit_all(opened.batches, feed, [1], opened.batches.begin())
        assert opened.mailboxes.merge() == 0

    def test_readers_see_everything_meanwhile(self, opened: Opened, feed: Feed) -> None:
        epoch, failed, done = opened.batches.begin(), list[str](), threading.Event()
        commit_all(opened.batches, feed, [2], epoch)
        expected = Feed(opened.partitions, opened.is_sparse)
        for _ in range(150):
            expected.batch(2)

        def read() -> None:
            rounds = 0
            while not done.is_set() or not rounds:
                rounds += 1
                for name in SUBSCRIBERS:
                    page = opened.mailboxes.queued(name, 0, 10_000)
                    right = [one for one in expected.queue(name) if one[0] < page.end]
                    if list(zip(page.sequences.tolist(), page.subscription_ids)) != right:  # noqa: B905
                        failed.append(name)
                        return

        readers = [threading.Thread(target=read) for _ in range(2)]
        for reader in readers:
            reader.start()
        for _ in range(149):
            commit_all(opened.batches, feed, [2], epoch)
            while opened.mailboxes.merge():
                pass
        done.set()
        for reader in readers:
            reader.join(60)
        assert not failed
        assert pulled(opened) == whole(feed)


class TestReplace:
    def test_what_was_made_again_is_delivered(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        commit_all(opened.batches, feed, [3] * (FAN_IN + 3), epoch)
        opened.mailboxes.merge()
        for end in (feed.ends[FAN_IN - 1], feed.end):
            opened.mailboxes.replace(0, end, made_again(opened.batches, 0, end))
        assert pulled(opened) == whole(feed)
        commit_all(opened.batches, feed, [3] * FAN_IN * 2, epoch)
        while opened.mailboxes.merge():
            pass
        assert pulled(opened) == whole(feed)

    def test_other_ranges_are_refused(self, opened: Opened, feed: Feed) -> None:
        commit_all(opened.batches, feed, [4] * FAN_IN, opened.batches.begin())
        while opened.mailboxes.merge():
            pass
        end, second = feed.end, feed.ends[0]
        again = made_again(opened.batches, 0, end)
        with pytest.raises(ConflictError, match="merged or trimmed"):
            opened.mailboxes.replace(second, end, made_again(opened.batches, second, end))
        with pytest.raises(StoreError):
            opened.mailboxes.replace(0, end, again[:-1])
        with pytest.raises(StoreError):
            opened.mailboxes.replace(0, end, [*again, (end + 1000, again[-1][1])])
        with pytest.raises(StoreError):
            opened.mailboxes.replace(1, end, again)
        assert pulled(opened) == whole(feed)


class TestTrim:
    def test_what_is_before_goes(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        commit_all(opened.batches, feed, [4, 4, 4], epoch)
        before = feed.ends[1]
        opened.mailboxes.trim(before)
        assert opened.mailboxes.starts_at() == before
        for name in SUBSCRIBERS:
            assert list(pull(opened.mailboxes, name)) == feed.queue(name, before)
            assert opened.mailboxes.counts({name: 0})[name] == len(feed.queue(name, before))
        commit_all(opened.batches, feed, [2], epoch)
        assert list(pull(opened.mailboxes, "bo", before)) == feed.queue("bo", before)

    def test_only_whole_segments_go(self, opened: Opened, feed: Feed) -> None:
        commit_all(opened.batches, feed, [4], opened.batches.begin())
        opened.mailboxes.trim(1)
        assert opened.mailboxes.starts_at() == 0
        assert pulled(opened) == whole(feed)

    def test_everything_can_go(self, opened: Opened, feed: Feed) -> None:
        epoch = opened.batches.begin()
        commit_all(opened.batches, feed, [4, 2], epoch)
        opened.mailboxes.trim(2**62)
        assert opened.mailboxes.starts_at() == feed.end
        assert pulled(opened) == {key: [] for key in SUBSCRIBERS}
        start = feed.end
        assert opened.batches.progress().sequence == start
        commit_all(opened.batches, feed, [3], epoch)
        assert list(pull(opened.mailboxes, "ana", 0)) == feed.queue("ana", start)
