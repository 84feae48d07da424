"""The live pipeline on Spark delivers what DuckDB finds on its log, and what inline gives."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark.sql.streaming.datasource", reason="needs PySpark 4.2")

from tests.live_oracle import (
    SHORT,
    Scale,
    check_same,
    expected,
    history,
    log_alone,
    play,
    scales,
    stored,
    taken,
)
from wherecast.broker.broker_core import BrokerCore
from wherecast.pipeline.live.inline_pipeline import InlinePipeline
from wherecast.pipeline.live.live_options import LiveOptions
from wherecast.pipeline.live.spark_pipeline import LivePipeline
from wherecast.store.open_store import open_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.classic, pytest.mark.slow]


@contextmanager
def running(spark: "SparkSession", path: Path, options: LiveOptions) -> Iterator[LivePipeline]:
    """A pipeline beside the test; what ends it ends the test."""
    pipeline = LivePipeline(spark, path, options)
    stop = Event()
    failed: list[BaseException] = []

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


@pytest.mark.parametrize("scale", scales(pytest.mark.soak("live-oracle-spark")))
def test_spark_delivers_what_duckdb_finds(
    spark: "SparkSession", scale: Scale, tmp_path: Path
) -> None:
    """Slices beside the life, ranges of two tasks afterwards, and inline find the same."""
    check(spark, scale, tmp_path, LiveOptions(trigger="slices", slice_s=1.0))


def test_batches_deliver_what_duckdb_finds(spark: "SparkSession", tmp_path: Path) -> None:
    check(spark, SHORT, tmp_path, LiveOptions(trigger="batches"))


def check(spark: "SparkSession", scale: Scale, tmp_path: Path, options: LiveOptions) -> None:
    live = tmp_path / "live"
    core = BrokerCore(open_store(live), None, runs_pipeline=False)
    try:
        core.check()
        with running(spark, live, options) as pipeline:
            play(core, scale)
            wanted = expected(core.store)
            check_same(taken(core, wanted), wanted)
            assert pipeline.restarts == 0
        assert len(wanted) > 5 * scale.publications  # not an empty claim
    finally:
        core.close()

    again = open_store(log_alone(live, tmp_path / "again"))
    try:
        replay = LivePipeline(spark, tmp_path / "again", LiveOptions(tasks=2, index="betree"))
        replay.run(Event(), to_end=True)
        replay.store.close()
        check_same(stored(again, history(again.log)[1]), wanted)
    finally:
        again.close()

    inline = open_store(log_alone(live, tmp_path / "inline"))
    try:
        matching = InlinePipeline(inline, lambda: 0)
        while (batch := matching.next_batch()) is not None:
            matching.commit(batch)
        check_same(stored(inline, history(inline.log)[1]), wanted)
    finally:
        inline.close()
