"""The fixed costs of a publication, as counts: transactions, syncs, entries, records, threads."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import wherecast as wc
from tests.power_cut import Disk, recorded_disk
from tests.unit.broker.door.test_door_on_disk import LIMIT_S, busy, wait_until
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.inline_source import InlineSource
from wherecast.delivery import QueuedNotification
from wherecast.store.embedded import store as embedded_store
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.records import Batch, Progress

SCHEMA = wc.Schema.from_dict({"no2": "float"})


@dataclass
class Counted:
    """A broker on a recorded disk whose source is held: whatever happens, the callers do."""

    core: BrokerCore
    disk: Disk
    commits: list[Batch]

    def publish(self, value: float) -> None:
        done = self.core.publish_one(wc.Publication({"no2": value}), "default", "p")
        assert done.accepted == 1

    def take(self) -> tuple[QueuedNotification, ...]:
        return self.core.courier.take("ana", 10_000, 0)

    def counts(self) -> tuple[int, int, int]:
        """Transactions and syncs of the log, and its entries."""
        log: Any = self.core.store.log
        entries = list(log.read(0, 0, log.ends()[0]))
        return log.transactions, self.disk.syncs["log.db-wal"], len(entries)

    def since(self, before: tuple[int, int, int]) -> tuple[int, ...]:
        return tuple(now - then for now, then in zip(self.counts(), before, strict=True))


@pytest.fixture
def counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    with _counted(tmp_path, monkeypatch) as found:
        yield found


@contextmanager
def _counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Counted]:
    monkeypatch.setattr(InlineSource, "step", lambda source, stopped: stopped.wait())
    with recorded_disk() as disk:
        directory = partial(embedded_store.Directory, vfs=disk.vfs)
        monkeypatch.setattr(embedded_store, "Directory", directory)
        store = EmbeddedStore(path)
        commits: list[Batch] = []
        commit = store.batches.commit

        def noted(batch: Batch, epoch: int) -> Progress:
            commits.append(batch)
            return commit(batch, epoch)

        monkeypatch.setattr(store.batches, "commit", noted)
        core = BrokerCore(store, SCHEMA)
        core.register("ana")
        core.registrar.subscribe(wc.Subscription("s1", "no2 > 0", "ana"), 0)
        assert not core.courier.take("ana", 1, 0)
        yield Counted(core, disk, commits)
        core.close()


def test_a_publication_takes_one_transaction_one_sync_and_no_other_thread(
    counted: Counted,
) -> None:
    threads: list[int] = []
    with counted.core.courier.listening("ana", lambda: threads.append(threading.get_ident())):
        counted.publish(1.0)
        for value in range(2, 6):
            before = counted.counts()
            counted.publish(float(value))
            assert counted.since(before) == (1, 1, 1)
        assert len(counted.take()) == 5
    assert set(threads) == {threading.get_ident()}
    assert counted.commits == []


def test_many_publications_share_a_batch_record(counted: Counted) -> None:
    with counted.core.courier.listening("ana", lambda: None):
        for value in range(1, 301):
            counted.publish(float(value))
        assert len(counted.take()) == 300
    counted.core.close()
    assert [(batch.first, batch.end) for batch in counted.commits] == [(0, 300)]


def test_publications_that_come_together_take_one_transaction_and_one_entry(
    counted: Counted, tmp_path: Path
) -> None:
    counted.publish(1.0)
    with counted.core.courier.listening("ana", lambda: None), ThreadPoolExecutor(8) as pool:
        before = counted.counts()
        with busy(tmp_path):
            calls = [pool.submit(counted.publish, 2.0)]  # the leader, who waits for the file
            wait_until(lambda: counted.core.door.has_leader and not counted.core.door.waiting)
            calls += [pool.submit(counted.publish, float(value)) for value in range(3, 10)]
            wait_until(lambda: counted.core.door.waiting == 7)
        for call in calls:
            call.result(LIMIT_S)
        assert counted.since(before) == (2, 2, 2)
        assert len(counted.take()) == 9


def test_an_acknowledgement_that_comes_with_a_publication_shares_its_transaction(
    counted: Counted,
) -> None:
    with counted.core.courier.listening("ana", lambda: None):
        counted.publish(1.0)
        counted.publish(2.0)
        first, second = counted.take()
        before = counted.counts()
        done = counted.core.courier.acknowledge([("ana", Acknowledgement(first.sequence))])
        assert done == [None]
        counted.publish(3.0)
        assert counted.since(before) == (1, 1, 1)
        cursor = counted.core.store.cursors.read("ana")
        assert cursor is not None
        assert first.sequence < cursor.through <= second.sequence
