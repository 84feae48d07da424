"""What reading and keeping costs, counted and not timed."""

import math
from pathlib import Path

import apsw
import numpy as np
import pyarrow as pa

import wherecast as wc
from tests.contract.feed import GAP, batch_of
from tests.contract.places import embedded
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.intake.intake import prepare
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.records import SEGMENT, Batch, RecordRun
from wherecast.store.segments.merging import FAN_IN
from wherecast.store.segments.segment_settings import SegmentSettings

SCHEMA = wc.Schema.from_dict({"no2": "int"})


def dense(first: int, end: int, subscribers: int) -> Batch:
    """Notifications of every publication for every subscriber, by one subscription each."""
    count = end - first
    bounds = pa.array(np.arange(subscribers + 1) * count, pa.int32())
    ones = pa.array(np.arange(subscribers * count + 1), pa.int32())
    places = pa.ListArray.from_arrays(ones, pa.array(np.zeros(subscribers * count, np.int32)))
    columns = [
        pa.array([f"subscriber-{number:05}" for number in range(subscribers)]),
        pa.array([["s1"]] * subscribers),
        pa.ListArray.from_arrays(bounds, pa.array(np.tile(np.arange(first, end), subscribers))),
        pa.ListArray.from_arrays(bounds, places),
    ]
    notifications = pa.RecordBatch.from_arrays(columns, schema=SEGMENT)
    return Batch(0, first, end, 0, (RecordRun(first, count),), notifications)


def test_what_a_returning_subscriber_opens_grows_with_the_logarithm(tmp_path: Path) -> None:
    with embedded(tmp_path / "store") as opened:
        epoch = opened.batches.begin()
        for number in range(FAN_IN**3 - 1):  # the worst number: every tier is full
            opened.batches.commit(batch_of(0, 2 * number, 2 * number + 2), epoch)
            while opened.mailboxes.merge():
                pass
    with embedded(tmp_path / "store") as opened:
        assert opened.mailboxes.counts({"ana": 0, "bob": 7})["ana"] > 0
        most = (FAN_IN - 1) * math.ceil(math.log(FAN_IN**3, FAN_IN))
        assert opened.segments.opened_count == most
        assert opened.mailboxes.queued("ana", 0, 10_000).end == 2 * (FAN_IN**3 - 1) * GAP
        assert opened.segments.opened_count == most  # they stay open


def test_a_page_opens_no_more_than_it_needs(tmp_path: Path) -> None:
    with embedded(tmp_path / "store") as opened:
        epoch = opened.batches.begin()
        for number in range(5):
            opened.batches.commit(dense(10 * number, 10 * number + 10, 3), epoch)
        opened.mailboxes.queued("subscriber-00001", 20 * GAP, 10)
        assert opened.segments.opened_count == 1
        opened.mailboxes.queued("subscriber-00001", 25 * GAP, 10)
        assert opened.segments.opened_count == 2


def test_a_commit_is_one_sync_and_a_merge_is_one(tmp_path: Path) -> None:
    with embedded(tmp_path / "store") as opened:
        epoch = opened.batches.begin()
        before = opened.database.transactions
        for number in range(FAN_IN):
            opened.batches.commit(dense(10 * number, 10 * number + 10, 3), epoch)
        assert opened.database.transactions == before + FAN_IN
        assert opened.mailboxes.merge()
        assert opened.mailboxes.merge() == 0
        assert opened.database.transactions == before + FAN_IN + 1


def test_a_notification_takes_few_bytes(tmp_path: Path) -> None:
    settings = SegmentSettings(dropped_kept_s=0)
    each, subscribers = 500, 100
    with embedded(tmp_path / "store", settings=settings) as opened:
        epoch = opened.batches.begin()
        for number in range(FAN_IN):
            part = dense(each * number, each * (number + 1), subscribers)
            opened.batches.commit(part, epoch)
        while opened.mailboxes.merge():
            pass
    files = (tmp_path / "store" / "segments").iterdir()
    size = sum(file.stat().st_size for file in files)
    # the offset, where its list of subscriptions ends, and one place in it
    assert size / (each * FAN_IN * subscribers) < 8 + 4 + 4 + 0.1


def test_a_publication_takes_few_statements_from_append_to_commit(tmp_path: Path) -> None:
    said: list[str] = []

    def trace(connection: apsw.Connection) -> None:
        def tell(_: object, statement: str, __: object) -> bool:
            said.append(statement.split()[0])
            return True

        connection.exec_trace = tell

    apsw.connection_hooks.append(trace)
    try:
        store = EmbeddedStore(tmp_path / "store")
        BrokerCore(store, SCHEMA, runs_pipeline=False)
        pipeline = InlinePipeline(store, lambda: 0)
        for number in range(3):  # the first ones find out what is known then
            said.clear()
            one = prepare([wc.Publication({"no2": number})], "default", SCHEMA)
            store.log.append(one.good, 0)
            assert said == ["BEGIN", "INSERT", "INSERT", "COMMIT"]
            batch = pipeline.next_batch()
            assert batch is not None
            pipeline.commit(batch)
            assert pipeline.next_batch() is None
        assert said[4:] == [
            *("BEGIN", "SELECT", "SELECT", "COMMIT"),  # the entry
            *("BEGIN", "SELECT", "SELECT", "INSERT", "INSERT", "COMMIT"),  # the batch
        ]
        store.close()
    finally:
        apsw.connection_hooks.remove(trace)
