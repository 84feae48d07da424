"""The log of a store as a streaming data source of Spark, matched and committed where it is read.

A task matches publications of the log, and commits the notifications as batches of the store. It
gives Spark no rows: neither publications nor notifications go through Java, and the driver has
nothing to do with a batch.

A micro-batch of Spark is a slice or a range. A slice is one task that stays, and plans, matches and
commits by itself (`slice`). A range of the log is planned here and cut into tasks; each of them
waits for the commit of the range before its own. A query with slices plans a range only for a
backlog that several tasks share, and a query that ends at the end of the log plans ranges only.

The store makes that safe: a batch that does not continue what is committed, or is of a pipeline
that was replaced, is refused, and one that is there already is left alone. So a task may be tried
again at any point.

A worker keeps the live subscriptions between tasks and batches, and reads only the changes that
are new to it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import PUBLICATIONS_MAX, Range, cut, plan
from wherecast.pipeline.live.log_matching import LogMatching
from wherecast.pipeline.live.micro_batch import MicroBatch, SliceTask, TaskRange
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.slice import NotStoredError, SliceOptions, run_slice, waiting
from wherecast.pipeline.live.stage.commit_batch import await_turn, batch_of
from wherecast.pipeline.live.stage.match_range import MatchedRange, match_range
from wherecast.pipeline.live.stage.read_range import read_range
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.pipeline.live.subscriptions.subscription_cache import SubscriptionCache
from wherecast.pipeline.spark.worker_garbage import end_task
from wherecast.store.clock import now_us
from wherecast.store.contracts import Log, Store
from wherecast.store.open_store import StoreOptions, open_store
from wherecast.store.position import Position
from wherecast.store.segments.segment_settings import DEFAULT_SEGMENTS, SegmentSettings

FORMAT = "wherecast_log"
SHARE = "share-0"  # the name of the only share, in figures
_TASK_MIN = 4_096  # publications of a task, where a batch is cut into several
_TURN_WITHIN_S = 60.0


class LogSource(DataSource):
    """The source of format `wherecast_log`.

    Options: `path`, the directory of the store; `epoch`, of the pipeline; `index`, the kind of
    index; `maxRows`, the publications of a batch; `tasks`, how many tasks share a large batch;
    `sliceS`, how long a slice stays, 0 for no slices; `backlog`, the waiting publications that end
    a slice; `stopFile`, the file that says that the query is being stopped; `poison`, a list of
    offsets as JSON that are left out; `rowBytesMax` and `droppedKeptS`, the settings of segments.
    """

    @classmethod
    def name(cls) -> str:
        """The format."""
        return FORMAT

    def schema(self) -> str:
        """The columns of rows that never come."""
        return "nothing int"

    def streamReader(self, schema: Any) -> "LogReader":  # noqa: N802
        """The reader of a query."""
        return LogReader(self.options)


class LogReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans micro-batches in a process of its own; matches and commits in a worker."""

    def __init__(self, options: Any) -> None:
        self._path = options["path"]
        self._most = int(options.get("maxRows", 0))
        self._tasks = int(options.get("tasks", 1))
        self._slice_s = float(options.get("sliceS", 0))
        self._backlog = int(options.get("backlog", PUBLICATIONS_MAX)) if self._tasks > 1 else None
        self._stop_file = Path(options.get("stopFile", Path(self._path, "stop")))
        self._poison = tuple(orjson.loads(options.get("poison", "[]")))
        self._epoch = int(options.get("epoch", 0))
        self._index = IndexFactory(options.get("index", DEFAULT_INDEX.kind))
        self._segments = SegmentSettings(
            row_bytes_max=int(options.get("rowBytesMax", DEFAULT_SEGMENTS.row_bytes_max)),
            dropped_kept_s=float(options.get("droppedKeptS", DEFAULT_SEGMENTS.dropped_kept_s)),
        )
        self._target: Position | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """The offset before the first micro-batch; the store knows what is committed."""
        return MicroBatch(0).to_offset()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The limit that the options ask for."""
        return ReadMaxRows(self._most) if self._most else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Fixes where the query ends."""
        self._target = self._log.ends()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """The end of the next micro-batch; the start where there is none for now.

        Everything before the micro-batch is committed, so it begins where the store's own record of
        batches ends.
        """
        number = MicroBatch.from_offset(start).number + 1
        if self._stop_file.exists():
            return start
        begin = _planner_store(self._path).batches.progress().position
        if self._stays(begin):
            return MicroBatch(number).to_offset()
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else 1 << 62
        if self._target is not None:
            left = (self._log.count(part, begin[part], end) for part, end in self._target.items())
            most = min(most, sum(left))
        planned = plan(self._log, begin, most) if most else None
        return start if planned is None else MicroBatch(number, planned).to_offset()

    def _stays(self, begin: Position) -> bool:
        """Whether the next micro-batch is a slice."""
        if not self._slice_s or self._target is not None:
            return False
        return self._backlog is None or waiting(self._log, begin) <= self._backlog

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """The end of the log."""
        return {"end": self._log.ends().to_dict(), "changes": self._log.changes_end()}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """The tasks of a micro-batch."""
        planned = MicroBatch.from_offset(end).plan
        if planned is None:
            return [SliceTask()]
        text = planned.start.to_json()
        return [
            TaskRange(part, text, planned.changes)
            for range_ in planned.ranges
            for part in self._parts(range_)
        ]

    def _parts(self, range_: Range) -> Iterator[Range]:
        """A range in as many parts as there are tasks, if it is large enough."""
        if self._tasks == 1:
            return iter([range_])
        count = self._log.count(range_.partition, range_.first, range_.end)
        return cut(self._log, range_, max(1, min(self._tasks, count // _TASK_MIN)))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Matches and commits what a task is for; there are no rows."""
        store = _worker_store(self._path, self._segments)
        cache = _subscription_cache(self._path, store, self._index)
        if isinstance(partition, TaskRange):
            self._read_range(store, cache, partition)
        else:
            self._read_slice(store, cache)
        end_task(_loads())
        return iter(())

    def _read_slice(self, store: Store, cache: SubscriptionCache) -> None:
        """Stays, and matches and commits what comes."""
        most = self._most or PUBLICATIONS_MAX
        matching = LogMatching(store, self._epoch, now_us, cache, most)
        options = SliceOptions(self._slice_s, self._backlog, self._stop_file, self._poison)

        def tell(figures: PipelineFigures) -> None:
            store.figures.add(self._epoch, figures.of_part(SHARE))
            end_task(_loads())

        run_slice(matching, store.log, options, tell)

    def _read_range(self, store: Store, cache: SubscriptionCache, task: TaskRange) -> None:
        """Matches and commits the range of a task."""
        figures = PipelineFigures()
        with figures.timed("subscriptions"):
            known = cache.at(Position.from_json(task.start), task.changes)
        entries = read_range(store.log, task.range)
        matched = match_range(task.range, entries, known, now_us(), self._poison)
        with figures.timed("commit"):
            self._commit(store, task, matched)
        figures.batches = 1
        figures.add(matched.figures)
        figures.holds([matched.figures])
        store.figures.add(self._epoch, figures.of_part(SHARE))

    def _commit(self, store: Store, task: TaskRange, matched: MatchedRange) -> None:
        """Commits the range of a task, after the ranges before it.

        Raises:
            ConflictError: another pipeline has taken over.
            NotStoredError: the batch could not be written.
            StoreError: the ranges before it take too long.
        """
        if task.range.first > Position.from_json(task.start)[task.range.partition]:
            await_turn(store.batches, task.range, _TURN_WITHIN_S)
        try:
            at = max(store.batches.progress().at, store.log.time(now_us()))
            store.batches.commit(batch_of(matched, task.changes, at), self._epoch)
        except StoreError as error:
            raise NotStoredError(str(error)) from error

    @property
    def _log(self) -> Log:
        return _planner_store(self._path).log


_planner_stores: dict[str, Store] = {}
_worker_stores: dict[str, Store] = {}


def _planner_store(path: str) -> Store:
    """The store of a directory in the process that plans batches, which writes nothing."""
    if path not in _planner_stores:
        _planner_stores[path] = open_store(path, "reader")
    return _planner_stores[path]


def _worker_store(path: str, segments: SegmentSettings) -> Store:
    """The store of a directory in a worker, which reads the log and commits.

    Raises:
        NotStoredError: the store cannot be opened to write.
    """
    if path not in _worker_stores:
        try:
            _worker_stores[path] = open_store(path, "pipeline", StoreOptions(segments))
        except StoreError as error:
            raise NotStoredError(str(error)) from error
    return _worker_stores[path]


_caches: dict[tuple[str, IndexFactory], SubscriptionCache] = {}


def _subscription_cache(path: str, store: Store, index: IndexFactory) -> SubscriptionCache:
    """The live subscriptions that this process keeps between tasks."""
    if (path, index) not in _caches:
        _caches[path, index] = SubscriptionCache(store.log, store.snapshots, index)
    return _caches[path, index]


def _loads() -> int:
    """How often subscriptions were loaded anew in this process."""
    return sum(cache.loads for cache in _caches.values())
