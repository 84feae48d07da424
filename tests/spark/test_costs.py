"""What a match costs on Spark, as counts: bytes that travel, blocks read, files mapped."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wherecast.bench.spark.worker_metrics import moved, watched
from wherecast.pipeline.filters.loaded_filters import compile_filters
from wherecast.pipeline.stages import inline_runner
from wherecast.pipeline.stages.batch_task import JoinTask
from wherecast.pipeline.stages.result_columns import JoinPlan
from wherecast.workloads import bluedove

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from wherecast.spark import Filters

pytestmark = [pytest.mark.spark, pytest.mark.classic]

PUBLICATIONS = 20_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("costs")
    workload = bluedove(seed=5)
    pq.write_table(pa.Table.from_batches(workload.filters(25_000)), folder / "filters.parquet")
    rows = pa.Table.from_batches(workload.publications(2 * PUBLICATIONS))
    pq.write_table(rows.slice(0, PUBLICATIONS), folder / "once.parquet")
    pq.write_table(rows, folder / "twice.parquet")
    return folder


@pytest.fixture(scope="module")
def compiled(spark: "SparkSession", folder: Path) -> "Filters":
    from wherecast.spark import compile_filters

    columns = spark.read.parquet(str(folder / "once.parquet")).schema
    return compile_filters(spark.read.parquet(str(folder / "filters.parquet")), schema=columns)


@pytest.mark.parametrize("how", ["inner", "semi"])
def test_twice_the_publications_move_at_most_twice_the_bytes(
    spark: "SparkSession", folder: Path, compiled: "Filters", how: Any
) -> None:
    from wherecast.spark import match

    costs = []
    for name in ("once.parquet", "twice.parquet"):
        frame = match(spark.read.parquet(str(folder / name)), compiled, how, "arrays")
        with watched(spark) as resident:
            frame.collect()
        found = moved(frame)
        costs.append((found.sent_bytes, found.received_bytes, resident.private_bytes))

    once, twice = costs
    assert once[0] > PUBLICATIONS * 4 * 8
    assert twice[0] <= 2.02 * once[0]
    assert twice[1] <= 2.02 * once[1]
    assert twice[2] <= once[2] + 64 * 2**20  # flat: batches, not partitions, are held


def test_twice_the_publications_read_at_most_twice_the_blocks(folder: Path) -> None:
    workload = bluedove(seed=5)
    filters, _ = compile_filters(pq.read_table(folder / "filters.parquet"), workload.schema)
    task = JoinTask(filters, JoinPlan("left", "arrays"), ("filter_ids",), carried=False)
    counted = []
    for name in ("once.parquet", "once.parquet", "twice.parquet"):
        before = filters.parts.costs.copy()
        batches = pq.read_table(folder / name).to_batches(max_chunksize=10_000)
        rows = sum(batch.num_rows for batch in inline_runner.run(task, batches))
        counted.append((rows, filters.parts.costs - before))

    (_, _), (rows, once), (rows_twice, twice) = counted
    assert rows_twice == 2 * rows
    assert once["blocks read"] > 0
    assert twice["blocks read"] <= 2.1 * once["blocks read"]


def test_a_second_match_builds_maps_and_ships_nothing(
    spark: "SparkSession", folder: Path, compiled: "Filters"
) -> None:
    from wherecast.pipeline.filters.stored_filters import counters
    from wherecast.spark import match

    once = spark.read.parquet(str(folder / "once.parquet"))
    first = match(once, compiled, output="arrays").count()
    here, there = dict(counters), worker_counters(spark)

    assert match(once, compiled, output="arrays").count() == first

    assert dict(counters) == here
    known = worker_counters(spark)
    assert all(count == there[worker] for worker, count in known.items() if worker in there)


def worker_counters(spark: "SparkSession") -> dict[int, dict[str, int]]:
    """What the Python workers have counted, by process."""

    def ask(_: Iterator[int]) -> Iterator[tuple[int, dict[str, int]]]:
        from wherecast.pipeline.filters.stored_filters import counters

        yield os.getpid(), dict(counters)

    return dict(spark.sparkContext.parallelize(range(8), 8).mapPartitions(ask).collect())
