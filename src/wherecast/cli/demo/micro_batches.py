"""The stream of the demo: each file of readings becomes a micro-batch with its matches."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from wherecast.pipeline.filters.blob_location import blobs_at
from wherecast.pipeline.filters.filter_versions import FilterVersions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from wherecast.spark import FilterSet

MATCH_COLUMNS = pa.schema(
    [("number", pa.int64()), ("subscriber", pa.string()), ("subscription_id", pa.string())]
)
_Results = SimpleQueue[tuple[int, pa.Table]]
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class ShownBatch:
    """The result of a micro-batch.

    Attributes:
        number: number of the micro-batch, from 1.
        version: version of the filters that all its tasks used.
        publications: number of publications.
        matches: the columns of `MATCH_COLUMNS`, sorted by all of them; a row per pair of a
            publication and a subscription.
        seconds: time from the arrival of the publications to the result.
    """

    number: int
    version: int
    publications: int
    matches: pa.Table
    seconds: float

    def notifications(self) -> pa.Table:
        """The pairs of a publication and a subscriber: `number` and `subscriber`.

        A subscriber gets a publication once, however many of its subscriptions match.
        """
        return self.matches.group_by(["number", "subscriber"]).aggregate([])


def sorted_matches(matches: pa.Table) -> pa.Table:
    """Matches with the columns of `MATCH_COLUMNS`, sorted by all of them."""
    chosen = matches.select(MATCH_COLUMNS.names).cast(MATCH_COLUMNS)
    return chosen.sort_by([(name, "ascending") for name in MATCH_COLUMNS.names])


@contextmanager
def micro_batches(
    spark: "SparkSession", filters: "FilterSet", readings: Sequence[pa.Table], scratch: Path
) -> Iterator[Iterator[ShownBatch]]:
    """Runs one query; the readings of a micro-batch arrive when the caller asks for its result.

    Args:
        spark: runs the query.
        filters: a set with the columns `subscriber` and `subscription_id`; it may change between
            two micro-batches.
        readings: the readings of each micro-batch, with a column `number`.
        scratch: a directory for files.
    """
    incoming = scratch / "incoming"
    incoming.mkdir()
    empty = scratch / "empty.parquet"
    pq.write_table(readings[0].slice(0, 0), empty)
    source = spark.readStream.schema(spark.read.parquet(str(empty)).schema)
    stream = source.option("maxFilesPerTrigger", 1).parquet(str(incoming))
    results: _Results = SimpleQueue()
    query = _start(stream, filters, scratch / "checkpoint", results)
    try:
        yield _each(query, filters, readings, incoming, results)
    finally:
        query.stop()


def _start(
    stream: "DataFrame", filters: "FilterSet", checkpoint: Path, results: _Results
) -> "StreamingQuery":
    from wherecast.pipeline.spark.spark_runner import to_arrow
    from wherecast.spark import match

    def collect(matches: "DataFrame", batch: int) -> None:
        results.put((batch, sorted_matches(to_arrow(matches.select(*MATCH_COLUMNS.names)))))

    sink = match(stream, filters).writeStream.foreachBatch(collect)
    sink = sink.option("checkpointLocation", str(checkpoint))
    return sink.trigger(processingTime="100 milliseconds").start()


def _each(
    query: "StreamingQuery",
    filters: "FilterSet",
    readings: Sequence[pa.Table],
    incoming: Path,
    results: _Results,
) -> Iterator[ShownBatch]:
    versions = FilterVersions(blobs_at(filters.uri))
    for number, table in enumerate(readings, 1):
        start = time.perf_counter()
        unseen = incoming / f"_{number}"  # Spark ignores names with a leading underscore
        pq.write_table(table, unseen)
        unseen.rename(incoming / f"{number:04}.parquet")
        batch, matches = _next_result(query, results)
        seconds = time.perf_counter() - start
        version = versions.pin(query.id, batch)
        yield ShownBatch(number, version, table.num_rows, matches, seconds)


def _next_result(query: "StreamingQuery", results: _Results) -> tuple[int, pa.Table]:
    """The next micro-batch and its matches; raises the error of a query that has ended."""
    while True:
        try:
            return results.get(timeout=_LOOK_S)
        except Empty:
            if not query.isActive:
                raise query.exception() or RuntimeError("the query ended") from None
