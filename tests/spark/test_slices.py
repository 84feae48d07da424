"""Tasks that stay: what they deliver, and what happens where one of them hangs."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")

import wherecast as wc
from tests.spark.services import until
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.intake.intake import prepare
from wherecast.pipeline.live.live_options import LiveOptions
from wherecast.pipeline.live.spark_pipeline import LivePipeline
from wherecast.store.open_store import open_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.classic, pytest.mark.slow]
GAP = 2**24  # sequences between two offsets
SCHEMA = wc.Schema.from_dict({"no2": "int"})


class Everything:
    """A store with a subscriber of everything.

    Attributes:
        path: the directory of the store.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = open_store(path)
        core = BrokerCore(self.store, SCHEMA, runs_pipeline=False)
        core.registrar.register("ana", 0)
        core.registrar.subscribe(wc.Subscription("s1", "no2 >= 0", "ana"), 0)

    def publish(self, count: int) -> int:
        """Publishes so many; the end of the log."""
        given = [wc.Publication({"no2": number}) for number in range(count)]
        self.store.log.append(prepare(given, "default", SCHEMA).good, 0)
        return self.store.log.ends()[0]

    def reached(self, offset: int) -> bool:
        """Whether everything before an offset is committed; waits for it."""
        return self.store.batches.wait(lambda progress: progress.position[0] >= offset, 180)

    def queued(self) -> list[int]:
        """The offsets that Ana is notified of."""
        found = self.store.mailboxes.queued("ana", 0, 100_000).sequences
        return [one // GAP for one in found.tolist()]

    def batches(self) -> list[tuple[int, int]]:
        """The offsets of each batch."""
        records = self.store.batches.records(0, self.store.batches.progress().sequence)
        return [(batch.first, batch.end) for _, batch in records]

    def workers(self) -> set[int]:
        """The Python workers of Spark that have the store open."""
        wanted, found = str(self.path / "batches.db"), set()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it ended, or is somebody else's
                if b"pyspark.daemon" in (process / "cmdline").read_bytes():
                    opened = {os.readlink(one) for one in (process / "fd").iterdir()}
                    found |= {int(process.name)} if wanted in opened else set()
        return found


@pytest.fixture
def everything(tmp_path: Path) -> Iterator[Everything]:
    made = Everything(tmp_path / "store")
    yield made
    made.store.close()


@contextmanager
def running(
    spark: "SparkSession", everything: Everything, options: LiveOptions
) -> Iterator[LivePipeline]:
    """A pipeline beside the test; what ends it ends the test."""
    pipeline, stop, failed = LivePipeline(spark, everything.path, options), Event(), []

    def run() -> None:
        try:
            pipeline.run(stop)
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    thread = Thread(target=run)
    thread.start()
    try:
        yield pipeline
    finally:
        stop.set()
        thread.join()
        pipeline.store.close()
    assert not failed


def test_slices_ranges_and_queries_to_the_end_go_on_from_one_another(
    spark: "SparkSession", everything: Everything
) -> None:
    backlog = everything.publish(10_000)
    options = LiveOptions(tasks=2, backlog=9_000, trigger="slices")
    with running(spark, everything, options) as pipeline:
        assert everything.reached(backlog)
        assert everything.batches() == [(0, 5_000), (5_000, 10_000)]  # in two tasks
        for _ in range(3):
            assert everything.reached(everything.publish(1))
        assert pipeline.restarts == 0
    end = everything.publish(2)
    pipeline = LivePipeline(spark, everything.path, options)
    pipeline.run(Event(), to_end=True)
    pipeline.store.close()
    assert everything.batches()[2:] == [
        (10_000, 10_001),
        (10_001, 10_002),
        (10_002, 10_003),
        (10_003, end),
    ]
    for trigger in ("batches", "slices"):
        with running(spark, everything, LiveOptions(trigger=trigger)):
            assert everything.reached(end := everything.publish(1))
    assert everything.queued() == list(range(end))


@pytest.mark.release
def test_a_query_whose_task_hangs_is_started_again(
    spark: "SparkSession", everything: Everything
) -> None:
    with running(spark, everything, LiveOptions(trigger="slices", stall_s=8.0)) as pipeline:
        assert everything.reached(everything.publish(1))
        hanging = everything.workers()
        assert len(hanging) == 1
        for pid in hanging:
            os.kill(pid, signal.SIGSTOP)
        try:
            end = everything.publish(3)
            assert everything.reached(end)
            until("the end of the worker", lambda: not hanging & everything.workers())
        finally:
            for pid in hanging:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        assert pipeline.restarts >= 1
        assert everything.reached(end := everything.publish(1))
    assert everything.queued() == list(range(end))
