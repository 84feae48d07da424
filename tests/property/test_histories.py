"""Histories of all kinds of records lead to the same on every store, however they are cut.

Sequences, versions, counters, marks and notifications are those of the model in `tests.histories`.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from threading import Thread

import pytest

from tests.histories import SCHEMA, SUBSCRIBERS, Model, define, play, random_history
from tests.live_oracle import log_alone
from tests.seeds import jobs, random_of
from wherecast.columns.log_encoding import decode_entry
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.pipeline.live.log_matching import LogMatching
from wherecast.pipeline.live.slice import SliceOptions, run_slice, waiting
from wherecast.pipeline.live.subscriptions.subscription_cache import SubscriptionCache
from wherecast.store.changes import compaction
from wherecast.store.contracts import Log, Store
from wherecast.store.memory.store import MemoryStore
from wherecast.store.open_store import open_store
from wherecast.store.records import Progress

DAY_US = 24 * 3600 * 1_000_000


@dataclass(frozen=True)
class Kind:
    """A kind of store, and how its log is matched a second time."""

    open: Callable[[Path], Store]
    partitions: int = 1
    is_sparse: bool = False

    def replayed(self, store: Store, path: Path) -> Store:
        """A store with the same log, of which nothing was matched; the old one may be closed."""
        if not isinstance(store, MemoryStore):
            store.close()
            return open_store(log_alone(path, path.parent / "again"))
        again = MemoryStore(self.partitions, is_sparse=self.is_sparse)
        again.log, again.registry = store.log, store.registry
        return again


def in_memory(partitions: int, is_sparse: bool) -> Kind:
    return Kind(lambda path: MemoryStore(partitions, is_sparse=is_sparse), partitions, is_sparse)


KINDS = {
    "memory-1": in_memory(1, False),
    "memory-3": in_memory(3, False),
    "memory-sparse-1": in_memory(1, True),
    "memory-sparse-3": in_memory(3, True),
    "embedded": Kind(lambda path: open_store(path / "store")),
}


def match_all(store: Store, random: Random) -> None:
    """Matches what is new, in batches of any size, and merges segments now and then."""
    pipeline = InlinePipeline(store, lambda: 0, publications_max=random.choice([1, 3, 50]))
    while (batch := pipeline.next_batch()) is not None:
        pipeline.commit(batch)
        if random.random() < 0.3:
            store.mailboxes.merge()


def numbers_of(log: Log) -> dict[tuple[int, int], int]:
    """The number `n` of each publication by partition and offset."""
    found = {}
    for partition, end in log.ends().items():
        for entry in log.read(partition, 0, end):
            assert entry.damage is None
            if entry.kind == "publication":
                batch = decode_entry(entry.attributes, entry.encoding, SCHEMA)
                for offset, number in enumerate(batch.column("n").to_pylist(), entry.first):
                    found[partition, offset] = number
    return found


def queue(store: Store, name: str) -> list[tuple[int, tuple[int, int], list[str]]]:
    """The queue of a subscriber: sequences, places and subscription ids, in order."""
    page = store.mailboxes.queued(name, 0, 10**6)
    partitions, offsets = store.batches.locate(page.sequences)
    places = zip(partitions.tolist(), offsets.tolist(), strict=True)
    return list(zip(page.sequences.tolist(), places, page.subscription_ids, strict=True))


def check_queues(store: Store, model: Model, kind: Kind) -> None:
    numbers = numbers_of(store.log)
    assert store.batches.dead_letters() == []
    assert sorted(numbers.values()) == sorted(n for n in model.records if n is not None)
    for name in SUBSCRIBERS:
        found = queue(store, name)
        assert [one[0] for one in found] == sorted({one[0] for one in found})
        by_number = {numbers[place]: ids for _, place, ids in found}
        wanted = {n: ids for (owner, n), ids in model.expected.items() if owner == name}
        assert by_number == wanted
        if kind.partitions == 1:
            order = [numbers[place] for _, place, _ in found]
            assert order == [n for n in model.records if n in wanted]
            for sequence, (_, offset), _ in found:
                assert sequence == (offset + 1) * 2**24 - 1
            if not kind.is_sparse:
                assert [(sequence, ids) for sequence, _, ids in found] == model.sequences(name)


def check_log(log: Log, model: Model) -> None:
    assert log.changes_end() == model.versions
    by_version = {}
    for entry in log.changes(0, log.changes_end()):
        versions = range(entry.version, entry.end) if entry.versions is None else entry.versions
        for version, row in zip(versions, entry.changes.to_pylist(), strict=False):
            by_version[int(version)] = row
    for version, (subscriber, id) in model.current.items():
        row = by_version[version]
        assert (row["kind"], row["subscriber"], row["id"]) == ("subscribe", subscriber, id)
    assert {name: mark.position[0] for name, mark in log.link_marks().items()} == model.marks
    counters: dict[tuple[str, str], int] = {}
    for partition, end in log.ends().items():
        time = 0
        for entry in log.read(partition, 0, end, headers=True):
            assert entry.accepted_at >= time
            time = entry.accepted_at
            assert entry.headers is not None
            if entry.kind == "publication":
                for row in entry.headers.to_pylist():
                    if row["publisher"] is not None:
                        key = entry.stream, row["publisher"]
                        counters[key] = max(counters.get(key, 0), row["counter"])
    assert counters == model.counters


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("job", jobs(20, in_make_test=2, in_release=6))
def test_a_history_leads_to_the_same(
    name: str, job: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "CHANGES_MIN", 4)
    kind, random = KINDS[name], random_of(f"history {job}")
    steps = random_history(random, 120)
    model = Model().walk(steps)
    assert len(model.expected) > 20
    store = kind.open(tmp_path)
    define(store.log)
    now = DAY_US
    while steps:
        some, steps = steps[: (cut := random.randrange(1, 12))], steps[cut:]
        now += random.choice([0, 1, 10**6, -(10**9), 8 * DAY_US])
        play(store.log, some, now)
        if random.random() < 0.5:
            match_all(store, random)
        store.log.trim(store.log.starts())  # compacts changes, and removes no record
    match_all(store, random)
    check_log(store.log, model)
    check_queues(store, model, kind)
    with closing(kind.replayed(store, tmp_path / "store")) as again:
        match_all(again, random)
        check_log(again.log, model)
        check_queues(again, model, kind)


def stay(store: Store, stop_file: Path, done: list[int]) -> None:
    """A slice that runs until it is stopped; notes how many batches it committed."""
    subscriptions = SubscriptionCache(store.log, store.snapshots)
    matching = LogMatching(store, store.batches.begin(), lambda: 0, subscriptions)
    options = SliceOptions(600.0, None, stop_file)
    run_slice(matching, store.log, options, lambda figures: done.append(figures.batches))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("job", jobs(20, in_make_test=1, in_release=3))
def test_a_history_that_is_played_beside_a_slice_leads_to_the_same(
    name: str, job: int, tmp_path: Path
) -> None:
    kind, random = KINDS[name], random_of(f"slice {job}")
    steps = random_history(random, 120)
    model = Model().walk(steps)
    store, stop_file, done = kind.open(tmp_path), tmp_path / "stop", list[int]()
    define(store.log)
    staying = Thread(target=stay, args=(store, stop_file, done))
    staying.start()
    for step in steps:  # subscriptions begin and end between two publications of a running slice
        play(store.log, [step], DAY_US)
    assert store.batches.wait(partial(is_all_committed, store), 120)
    stop_file.touch()
    store.log.wake()
    staying.join(120)
    assert sum(done) > 1
    check_queues(store, model, kind)
    with closing(kind.replayed(store, tmp_path / "store")) as again:
        match_all(again, random)
        check_queues(again, model, kind)


def is_all_committed(store: Store, progress: Progress) -> bool:
    return waiting(store.log, progress.position) == 0
