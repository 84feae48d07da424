"""The query of the demo: readings arrive as files, a micro-batch each, and notifications leave."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wherecast.pipeline.filters.blob_location import opened
from wherecast.pipeline.filters.filter_versions import FilterVersions
from wherecast.pipeline.stages.batch_stages import NOTIFICATIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from wherecast.spark import FilterSet

ORDER = [("subscriber", "ascending"), ("publication", "ascending")]
_Arrived = SimpleQueue[tuple[int, pa.Table]]
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """What a micro-batch gave.

    Attributes:
        number: counted from 1.
        version: of the filters, that all its tasks used.
        publications: how many it had.
        notifications: the columns of `NOTIFICATIONS`, sorted.
        seconds: from the arrival of the publications to the notifications.
    """

    number: int
    version: int
    publications: int
    notifications: pa.Table
    seconds: float

    @property
    def matches(self) -> int:
        """How many pairs of a publication and a subscription there are."""
        return len(pc.list_flatten(self.notifications.column("subscription_ids")))


@contextmanager
def micro_batches(
    spark: "SparkSession", filters: "FilterSet", readings: Sequence[pa.Table], scratch: Path
) -> Iterator[Iterator[MicroBatch]]:
    """Runs one query; the readings of a micro-batch arrive when it is asked for.

    Args:
        spark: runs the query.
        filters: keep `subscriber` and `subscription_id`; may change between two micro-batches.
        readings: of each micro-batch, with a column `number`.
        scratch: a directory for files.
    """
    incoming = scratch / "incoming"
    incoming.mkdir()
    empty = scratch / "empty.parquet"
    pq.write_table(readings[0].slice(0, 0), empty)
    source = spark.readStream.schema(spark.read.parquet(str(empty)).schema)
    stream = source.option("maxFilesPerTrigger", 1).parquet(str(incoming))
    arrived: _Arrived = SimpleQueue()
    query = _started(stream, filters, scratch / "checkpoint", arrived)
    try:
        yield _each(query, filters, readings, incoming, arrived)
    finally:
        query.stop()


def _started(
    stream: "DataFrame", filters: "FilterSet", checkpoint: Path, arrived: _Arrived
) -> "StreamingQuery":
    import pyspark.sql.functions as fn

    from wherecast.pipeline.spark.spark_runner import to_arrow
    from wherecast.spark import match

    def notify(matches: "DataFrame", batch: int) -> None:
        """One notification per subscriber and publication, however many subscriptions match."""
        ids = fn.sort_array(fn.collect_list("subscription_id"))
        found = matches.groupBy("subscriber", "number").agg(ids)
        table = to_arrow(found).rename_columns(NOTIFICATIONS.names).cast(NOTIFICATIONS)
        arrived.put((batch, table.sort_by(ORDER)))

    sink = match(stream, filters).writeStream.foreachBatch(notify)
    sink = sink.option("checkpointLocation", str(checkpoint))
    return sink.trigger(processingTime="100 milliseconds").start()


def _each(
    query: "StreamingQuery",
    filters: "FilterSet",
    readings: Sequence[pa.Table],
    incoming: Path,
    arrived: _Arrived,
) -> Iterator[MicroBatch]:
    versions = FilterVersions(opened(filters.uri))
    for number, table in enumerate(readings, 1):
        start = time.perf_counter()
        unseen = incoming / f"_{number}"  # Spark passes over such names
        pq.write_table(table, unseen)
        unseen.rename(incoming / f"{number:04}.parquet")
        batch, notifications = _taken(query, arrived)
        seconds = time.perf_counter() - start
        version = versions.pin(query.id, batch)
        yield MicroBatch(number, version, table.num_rows, notifications, seconds)


def _taken(query: "StreamingQuery", arrived: _Arrived) -> tuple[int, pa.Table]:
    """What the next micro-batch gives; raises what ended the query where there is none."""
    while True:
        try:
            return arrived.get(timeout=_LOOK_S)
        except Empty:
            if not query.isActive:
                raise query.exception() or RuntimeError("the query ended") from None
