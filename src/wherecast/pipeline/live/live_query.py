"""One streaming query over the log, with a checkpoint that is thrown away with it.

Before the query is stopped, its slice is told to end, so that no worker is killed at its work.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wherecast.pipeline.live.log_source import FORMAT
from wherecast.store.contracts import Log

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


@contextmanager
def running_query(
    spark: "SparkSession", log: Log, options: Mapping[str, str | int | float], to_end: bool
) -> Iterator["StreamingQuery"]:
    """A query that is started, and stopped after the body.

    Args:
        spark: runs it.
        log: what it reads; wakes its slice.
        options: of the source.
        to_end: whether it ends at the end that the log has now.
    """
    checkpoint = Path(tempfile.mkdtemp(prefix="wherecast-live-"))
    stop_file = checkpoint / "stop"
    trigger: dict[str, Any] = {"availableNow": True} if to_end else {"processingTime": "0 seconds"}
    try:
        source = spark.readStream.format(FORMAT).options(**options, stopFile=str(stop_file))
        writer = source.load().writeStream.format("noop").trigger(**trigger)
        query = writer.option("checkpointLocation", str(checkpoint)).start()
        try:
            yield query
        finally:
            with suppress(OSError):  # then its worker is killed at its work, which harms nothing
                checkpoint.mkdir(exist_ok=True)
                stop_file.touch()
                log.wake()
            query.stop()
    finally:
        shutil.rmtree(checkpoint, ignore_errors=True)
