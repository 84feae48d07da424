"""The live pipeline on Spark: a streaming query over the log, committed batch by batch.

The store's record of batches is the truth. A query begins where that ends, with a checkpoint of its
own that is thrown away with it: so a damaged or deleted checkpoint costs nothing, and a batch that
is made again is recognised by the positions it covers.
"""

import logging
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import orjson
from py4j.protocol import Py4JError, Py4JJavaError

from wherecast.model import ConflictError, StoreError
from wherecast.pipeline.live.figures import Figures
from wherecast.pipeline.live.log_source import FORMAT, LogSource
from wherecast.pipeline.live.mend import mend
from wherecast.pipeline.live.plan import PUBLICATIONS_MAX, plan
from wherecast.pipeline.live.poison import culprits
from wherecast.pipeline.live.results import segment_of
from wherecast.pipeline.live.times import last_time
from wherecast.pipeline.live.trimming import trim_segments
from wherecast.pipeline.session import SparkFailed, gist
from wherecast.store.clock import now_us
from wherecast.store.contracts import DamagedSegment
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.position import Position
from wherecast.store.records import Batch, Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_log = logging.getLogger("wherecast.pipeline")
_LOOK_S = 0.1  # how often a query is looked at
_TRIM_S = 60.0  # how often it is looked for what nobody waits for
_MERGE_S = 0.5  # how often segments are looked at
_RETRY_S = 1.0  # after a full disk, say
RESTARTS_MAX = 3  # of a query that fails at one place
OPTIONS = {
    "spark.authenticate": "true",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "10",
    # Checkpoints are thrown away with their query, so their checksums are of no use.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}


class NotStored(StoreError):
    """A batch was matched but could not be stored, as on a full disk: it is tried again."""


class LivePipeline:
    """Matches what is published to the store of a directory.

    Attributes:
        store: opened as a pipeline does.
        restarts: of queries that failed.
        figures: what was done so far.
    """

    def __init__(
        self,
        spark: "SparkSession",
        path: Path,
        tasks: int = 1,
        publications_max: int = PUBLICATIONS_MAX,
        committed: Callable[[Progress, Figures], None] = lambda progress, figures: None,
    ) -> None:
        self.store = EmbeddedStore(path, "pipeline")
        self.restarts = 0
        self.figures = Figures()
        self._spark = spark
        self._path = path
        self._most = publications_max
        self._options: dict[str, str | int] = {
            "path": str(path),
            "tasks": tasks,
            "maxRows": publications_max,
        }
        self._committed = committed
        self._epoch = self.store.batches.begin()
        self._at = last_time(self.store.batches)
        self._poison: tuple[int, ...] = ()
        spark.dataSource.register(LogSource)

    def run(self, stop: Event, to_end: bool = False) -> None:
        """Matches until it is told to stop, or `to_end` of what is in the log now.

        Raises:
            ConflictError: another pipeline has taken over.
            StoreError: a place of the log cannot be passed.
            SparkFailed: Java is gone.
        """
        merging = Thread(target=self._merge, args=(stop,), daemon=True)
        merging.start()
        try:
            self._run(stop, to_end)
        except Py4JJavaError:
            raise
        except (Py4JError, ConnectionError) as error:  # nothing answers any more
            raise SparkFailed("Java ended, and the pipeline with it") from error
        finally:
            stop.set()
            merging.join()

    def _run(self, stop: Event, to_end: bool) -> None:
        failures = 0
        while not stop.is_set():
            before = self.store.batches.progress()
            try:
                problem = self._run_query(stop, to_end)
            except NotStored as error:
                _log.warning("a batch could not be stored: %s; it is tried again", error)
                stop.wait(_RETRY_S)
                continue
            if problem is None:
                return
            reached = self.store.batches.progress()
            failures = failures + 1 if reached == before else 1
            self.restarts += 1
            if failures > RESTARTS_MAX:
                raise StoreError(f"matching fails at {reached.position.to_dict()}: {problem}")
            self._poison = tuple(self._culprits(reached))

    def _run_query(self, stop: Event, to_end: bool) -> str | None:
        """Runs one query to its end; what went wrong, if something did.

        Raises:
            ConflictError: another pipeline has taken over.
            NotStored: a batch was matched, but could not be stored.
        """
        failed: list[Exception] = []
        with self._query(failed, to_end) as query:
            while query.isActive and not stop.wait(_LOOK_S):
                pass
            problem = query.exception()
        for error in failed:
            if isinstance(error, ConflictError):
                raise error
            raise NotStored(str(error)) from error
        return None if problem is None else gist(problem)

    @contextmanager
    def _query(self, failed: list[Exception], to_end: bool) -> Iterator["StreamingQuery"]:
        checkpoint = tempfile.mkdtemp(prefix="wherecast-live-")
        trigger: dict[str, Any] = (
            {"availableNow": True} if to_end else {"processingTime": "0 seconds"}
        )
        options = {**self._options, "poison": orjson.dumps(self._poison).decode()}
        rows = self._spark.readStream.format(FORMAT).options(**options).load()
        query = (
            rows.writeStream.foreachBatch(self._commit(failed))
            .option("checkpointLocation", checkpoint)
            .trigger(**trigger)
            .start()
        )
        try:
            yield query
        finally:
            query.stop()
            shutil.rmtree(checkpoint, ignore_errors=True)

    def _merge(self, stop: Event) -> None:
        """Merges segments beside the query, and removes those that nobody waits for."""
        trim_at = time.monotonic() + _TRIM_S
        while not stop.is_set():
            try:
                merged = self.store.mailboxes.merge()
                if time.monotonic() >= trim_at:
                    trim_at = time.monotonic() + _TRIM_S
                    trim_segments(self.store)
            except DamagedSegment as damage:
                merged = self._mended(damage)
            except (StoreError, ConflictError):  # a full disk, say: it is tried again
                merged = 0
            if not merged:
                stop.wait(_MERGE_S)

    def _mended(self, damage: DamagedSegment) -> int:
        """Makes damaged notifications again; how many ranges that were."""
        try:
            mend(self.store, damage.first, damage.end, now_us())
        except (StoreError, ConflictError):  # it is tried again
            return 0
        return 1

    def _commit(self, failed: list[Exception]) -> Callable[["DataFrame", int], None]:
        """The function that commits a micro-batch."""

        def commit(frame: "DataFrame", _: int) -> None:
            with self.figures.timed("spark"):
                rows = frame.toArrow().to_pylist()
            if not rows:
                return
            batches = self.store.batches
            self._at = max(self._at, now_us())
            batch = batch_of(rows, batches.progress().position, self._at)
            try:
                with self.figures.timed("commit"):
                    progress = batches.commit(batch, self._epoch)
            except (ConflictError, StoreError) as error:
                failed.append(error)  # Spark would tell it in forty lines of Java
                raise
            self._count([Figures.from_dict(orjson.loads(row["figures"])) for row in rows])
            self._committed(progress, self.figures)

        return commit

    def _count(self, parts: list[Figures]) -> None:
        """Adds what a batch was, by what the workers say."""
        for part in parts:
            self.figures.add(part)
        self.figures.holds(parts)
        self.figures.batches += 1

    def _culprits(self, reached: Progress) -> list[int]:
        """The publications of the batch that failed which end the process."""
        planned = plan(self.store.log, reached.position, self._most)
        if planned is None:
            return []
        found: list[int] = []
        for part in planned.ranges:
            with suppress(StoreError):  # then it is matched as if there were none
                found.extend(culprits(self._path, part, planned.changes))
        return found


def batch_of(rows: list[dict[str, Any]], position: Position, at: int) -> Batch:
    """The batch of the rows of `RESULT` that one micro-batch gave.

    Args:
        rows: at least one.
        position: how far the pipeline has come; partitions without a row stay there.
        at: the time now.
    """
    made = [segment_of(row) for row in rows]
    start, end = dict(position), dict(position)
    covered = {segment.partition for segment, _ in made}
    for partition in covered:
        own = [segment for segment, _ in made if segment.partition == partition]
        start[partition] = min(segment.first for segment in own)
        end[partition] = max(segment.end for segment in own)
    segments = tuple(segment for segment, _ in made)
    letters = tuple(letter for _, letters in made for letter in letters)
    changes = max(row["changes"] for row in rows)
    return Batch(Position(start), Position(end), changes, segments, letters, at)
