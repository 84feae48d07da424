"""The live pipeline on Spark: a streaming query over the log, whose tasks commit batch by batch.

The store's record of batches is the truth; `log_source` says how tasks write it. A query begins
where that ends, with a checkpoint of its own that is thrown away with it: so a damaged or deleted
checkpoint costs nothing, and a batch that is made again is recognised by the positions it covers.

A thread watches the query. A query that stands still is stopped and started again, under another
epoch, so that a task that wakes up later commits nothing. Where a query cannot be stopped either,
Java is ended.
"""

import logging
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING

import orjson
from py4j.protocol import Py4JError, Py4JJavaError

from wherecast.model import ConflictError, StoreError
from wherecast.pipeline.live.batch_plan import plan
from wherecast.pipeline.live.live_options import DEFAULT_OPTIONS, LiveOptions
from wherecast.pipeline.live.live_query import running_query
from wherecast.pipeline.live.log_source import LogSource
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.repair.mend_segments import mend
from wherecast.pipeline.live.repair.poison import culprits
from wherecast.pipeline.live.segment_trimming import trim_segments
from wherecast.pipeline.live.slice import NotStoredError
from wherecast.pipeline.live.standstill import watched
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.pipeline.spark.session import SparkFailed, gist, kill_java
from wherecast.store.clock import now_us
from wherecast.store.contracts import DamagedSegment
from wherecast.store.open_store import StoreOptions, open_store
from wherecast.store.records import Progress
from wherecast.store.segments.segment_settings import DEFAULT_SEGMENTS, SegmentSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_log = logging.getLogger("wherecast.pipeline")
_LOOK_S = 0.25  # how often a query is looked at
_TRIM_S = 60.0  # how often it is looked for what nobody waits for
_MERGE_S = 0.5  # how often segments are looked at
_RETRY_S = 1.0  # after a full disk, say
_TIME_S = 1.0  # how often Spark is asked how long batches took
_UPDATES = 20  # batches that it remembers
_DRIVER = "driver"  # the name of this process, in figures
_SLOTS_MIN = 2  # for slices: one for the slice, and one more
RESTARTS_MAX = 3  # of a query that fails at one place
OPTIONS = {
    "spark.authenticate": "true",
    # Java only plans small batches: to compile that further, or to collect beside it, costs more
    # than it gains on the cores that match.
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.numRecentProgressUpdates": str(_UPDATES),
    # Checkpoints are thrown away with their query, so their checksums are of no use.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}


class _StandsStill(Exception):
    """A query that committed nothing for too long."""


class LivePipeline:
    """Matches what is published to the store of a directory.

    Args:
        spark: runs the query.
        path: the directory.
        options: how the log is matched.
        committed: called whenever batches were committed, with the progress.
        segments: limits of the segments.

    Attributes:
        store: opened as a pipeline does.
        restarts: number of queries that failed.
    """

    def __init__(
        self,
        spark: "SparkSession",
        path: Path,
        options: LiveOptions = DEFAULT_OPTIONS,
        committed: Callable[[Progress], None] = lambda progress: None,
        segments: SegmentSettings = DEFAULT_SEGMENTS,
    ) -> None:
        self.store = open_store(path, "pipeline", StoreOptions(segments))
        self.restarts = 0
        self._spark = spark
        self._path = path
        self._most = options.publications_max
        self._index = IndexFactory(options.index)
        self._epoch = self.store.batches.begin()
        self._options: dict[str, str | int | float] = {
            "path": str(path),
            "epoch": self._epoch,
            "index": options.index,
            "tasks": options.tasks,
            "maxRows": options.publications_max,
            "rowBytesMax": segments.row_bytes_max,
            "droppedKeptS": segments.dropped_kept_s,
            "backlog": options.backlog,
        }
        self._trigger, self._slice_s = options.trigger, options.slice_s
        self._stall_s = self._patience_s = options.stall_s
        self._committed = committed
        self._time_at = 0.0
        self._timed: deque[tuple[str, int]] = deque(maxlen=2 * _UPDATES)
        self._poison: tuple[int, ...] = ()
        spark.dataSource.register(LogSource)

    @property
    def figures(self) -> PipelineFigures:
        """The figures of all workers so far, as the store has them."""
        return PipelineFigures.of_parts(self.store.figures.read())

    def run(self, stop: Event, to_end: bool = False) -> None:
        """Matches until it is told to stop, or `to_end` of what is in the log now.

        Raises:
            ConflictError: another pipeline has taken over.
            StoreError: a place of the log cannot be passed.
            SparkFailed: Java is gone.
        """
        ended = Event()  # not `stop`, which says to the caller that somebody asked for the end
        merging = Thread(target=self._merge, args=(ended,), daemon=True)
        merging.start()
        try:
            self._run(stop, to_end)
        except Py4JJavaError:
            raise
        except (Py4JError, ConnectionError) as error:  # nothing answers any more
            raise SparkFailed("Java ended, and the pipeline with it") from error
        finally:
            ended.set()
            merging.join()

    def _run(self, stop: Event, to_end: bool) -> None:
        failures = 0
        while not stop.is_set():
            before = self.store.batches.progress()
            try:
                problem = self._run_query(stop, to_end)
            except NotStoredError as error:
                _log.warning("a batch could not be stored: %s; it is tried again", error)
                stop.wait(_RETRY_S)
                continue
            except _StandsStill as error:
                failures = self._failed(before, failures, str(error))
                _log.warning("%s; the query is started again", error)
                self._begin()
                continue
            if problem is None:
                return
            failures = self._failed(before, failures, problem)
            self._poison = tuple(self._culprits(self.store.batches.progress()))

    def _failed(self, before: Progress, failures: int, problem: str) -> int:
        """Counts a query that failed; number of failures in a row at the place reached.

        Raises:
            StoreError: there were too many.
        """
        reached = self.store.batches.progress()
        failures = failures + 1 if reached == before else 1
        self.restarts += 1
        if failures > RESTARTS_MAX:
            raise StoreError(f"matching fails at {reached.position.to_dict()}: {problem}")
        # What only takes long is not interrupted after the same time again.
        self._patience_s = self._stall_s * 2 ** (failures - 1)
        return failures

    def _begin(self) -> None:
        """Takes a new epoch: no task of an earlier query can commit any more."""
        self._epoch = self.store.batches.begin()
        self._options["epoch"] = self._epoch

    def _run_query(self, stop: Event, to_end: bool) -> str | None:
        """Runs one query to its end; what went wrong, if something did.

        Raises:
            ConflictError: another pipeline has taken over.
            NotStoredError: a batch was matched, but could not be stored.
            _StandsStill: nothing is committed.
        """
        reached = self.store.batches.progress()
        options = {
            **self._options,
            "poison": orjson.dumps(self._poison).decode(),
            "sliceS": self._slice_s if self._takes_slices() else 0,
        }
        with (
            watched(self.store, self._patience_s, self._give_up) as stands,
            running_query(self._spark, self.store.log, options, to_end) as query,
        ):
            while query.isActive and not stop.wait(_LOOK_S) and not stands.is_set():
                if self.store.batches.progress() != reached:
                    reached = self._tell(query)
            problem = query.exception()
            self._tell(query)
        if stands.is_set():
            raise _StandsStill(f"nothing was committed for {self._patience_s:g} s")
        if problem is None:
            return None
        name, _, text = gist(problem).partition(": ")
        for kind in (ConflictError, NotStoredError):
            if name.endswith(kind.__name__):
                raise kind(text)
        return gist(problem)

    def _takes_slices(self) -> bool:
        """Whether a task stays, and waits for publications itself."""
        if self._trigger == "auto":
            return self._spark.sparkContext.defaultParallelism >= _SLOTS_MIN
        return self._trigger == "slices"

    def _give_up(self) -> None:
        """Ends Java, where a query that stands still cannot be stopped either."""
        _log.warning("the query does not end either; Java is ended")
        kill_java()

    def _tell(self, query: "StreamingQuery") -> Progress:
        """Tells what is committed, and returns it."""
        progress = self.store.batches.progress()
        self._time(query)
        self._committed(progress)
        return progress

    def _time(self, query: "StreamingQuery") -> None:
        """Adds what Spark took for the micro-batches that have ended since, now and then.

        Slices do not count: they mostly wait.
        """
        if time.monotonic() < self._time_at:
            return
        self._time_at = time.monotonic() + _TIME_S
        figures = PipelineFigures(seconds={"spark": 0.0})
        for progress in query.recentProgress:
            run = progress["runId"], progress["batchId"]
            is_slice = '"end"' not in str(progress["sources"][0]["endOffset"])
            if run not in self._timed and not is_slice:
                self._timed.append(run)
                figures.took("spark", progress["durationMs"].get("addBatch", 0) / 1e3)
        self.store.figures.add(self._epoch, figures.of_part(_DRIVER))

    def _merge(self, ended: Event) -> None:
        """Merges segments beside the query, and removes those that nobody waits for."""
        trim_at = time.monotonic() + _TRIM_S
        while not ended.is_set():
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
                ended.wait(_MERGE_S)

    def _mended(self, damage: DamagedSegment) -> int:
        """Makes damaged notifications again; how many ranges that were."""
        try:
            mend(self.store, damage.first, damage.end, now_us())
        except (StoreError, ConflictError):  # it is tried again
            return 0
        return 1

    def _culprits(self, reached: Progress) -> list[int]:
        """The publications of the batch that failed which end the process."""
        planned = plan(self.store.log, reached.position, self._most)
        if planned is None:
            return []
        found: list[int] = []
        for part in planned.ranges:
            with suppress(StoreError):  # then it is matched as if there were none
                found.extend(culprits(self._path, part, planned.changes, self._index))
        return found
