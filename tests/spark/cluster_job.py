"""A driver of the tests on a cluster: matches a workload there and writes down what it found.

cluster_job.py MASTER RESULT OUTPUT [STARTED GATE]

OUTPUT is one of `match`, or several joined by commas.

With a gate, all but the first tasks wait until that file is there; the file STARTED is written when
the first ones are done.
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa

FILTERS, PUBLICATIONS, SEED = 3_000, 240, 3
PARTITIONS, FREE = 12, 4
LIMIT_S = 120


def workload() -> tuple[Any, pa.Table, pa.Table]:
    """The schema, the filters and the numbered publications."""
    from wherecast.workloads import stocks

    chosen = stocks(seed=SEED)
    publications = pa.Table.from_batches(chosen.publications(PUBLICATIONS))
    numbers = pa.array(range(PUBLICATIONS), pa.int64())
    filters = pa.Table.from_batches(chosen.filters(FILTERS))
    return chosen.schema, filters, publications.append_column("number", numbers)


def main(master: str, result: str, outputs: str, started: str = "", gate: str = "") -> None:
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(master)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.memory", "512m")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    try:
        with ThreadPoolExecutor(1) as pool:
            job = pool.submit(all_matches, spark, outputs.split(","), gate)
            failed = follow(spark.sparkContext, job, started)
        places = spark.sparkContext.parallelize(range(8), 8).map(look).collect()
        told = {**job.result(), "failed": failed, "workers": places}
        Path(result).write_text(json.dumps(told))
    finally:
        spark.stop()


def all_matches(spark: Any, outputs: list[str], gate: str) -> dict[str, list[list[int]]]:
    """What each kind of output gives."""
    from wherecast.spark import compile_filters

    _, texts, table = workload()
    publications = frame(spark, table, gate)
    filters = compile_filters(frame(spark, texts), publications.schema)
    return {output: matches(publications, filters, output) for output in outputs}


def matches(publications: Any, filters: Any, output: Any) -> list[list[int]]:
    """The numbers of publications and filters, after a shuffle, so that lost files count."""
    from pyspark.sql import functions as fn

    from wherecast.spark import match

    found = match(publications, filters, output=output)
    if output == "arrays":
        found = found.select("number", fn.explode("filter_ids").alias("filter_id"))
    pairs = found.select("number", "filter_id").repartition("number")
    return sorted([row.number, row.filter_id] for row in pairs.collect())


def frame(spark: Any, table: pa.Table, gate: str = "") -> Any:
    """A table as a DataFrame, sent row by row: the workers can read none of our files."""
    from pyspark.sql.pandas.types import from_arrow_schema

    columns = from_arrow_schema(table.schema)
    rows = [tuple(row.values()) for row in table.to_pylist()]
    parts = spark.sparkContext.parallelize(rows, PARTITIONS)
    spread = spark.createDataFrame(parts, columns)
    return spread.mapInArrow(waiting(gate), columns) if gate else spread


def waiting(gate: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A stage that changes nothing and waits for a file in all but the first partitions."""

    def wait(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        end = time.monotonic() + LIMIT_S
        while context.partitionId() >= FREE and not Path(gate).exists():
            assert time.monotonic() < end, f"{gate} did not come"
            time.sleep(0.05)
        yield from batches

    return wait


def follow(context: Any, job: "Future[Any]", started: str) -> int:
    """The number of failed tasks of a job; says when its first tasks are done."""
    tracker = context.statusTracker()
    failed = 0
    while not job.done():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        for stage in filter(None, stages):
            failed = max(failed, stage.numFailedTasks)
            if started and stage.numTasks == PARTITIONS and stage.numCompletedTasks >= FREE:
                Path(started).touch()
        time.sleep(0.05)
    return failed


def look(_: int) -> list[str | bool]:
    """Where a worker has Wherecast from, its home, and whether it sees this file."""
    import wherecast

    return [str(wherecast.__file__), str(Path.home()), Path(__file__).exists()]


if __name__ == "__main__":
    main(*sys.argv[1:])
