"""Writes matches from Spark's Python workers; only the names of files come back.

A job of `write` runs `MatchSink.write` in each task by `mapInArrow` and collects what the tasks
wrote. Spark hands over the result of one attempt per partition, so the commit on the driver lists
no file of a failed or speculative attempt.
"""

import pickle
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import StructType

from wherecast.model import ConfigError
from wherecast.pipeline.filters.filter_set import FilterSet
from wherecast.pipeline.sink import sink_commit
from wherecast.pipeline.sink.batch_moment import batch_moment
from wherecast.pipeline.sink.match_sink import MatchSink, WrittenPart
from wherecast.pipeline.sink.sink_commit import Mode, StreamBatch
from wherecast.pipeline.sink.sink_location import SinkLocation
from wherecast.pipeline.spark import spark_runner
from wherecast.pipeline.spark.frame_columns import arrow_schema_of
from wherecast.pipeline.spark.job_names import described
from wherecast.pipeline.spark.match_query import timed
from wherecast.pipeline.spark.prepare_match import MatchArguments, prepare
from wherecast.pipeline.spark.query_checks import need_frame, need_names, need_one_of
from wherecast.pipeline.spark.sink_columns import sink_of
from wherecast.pipeline.spark.spark_filters import Filters
from wherecast.pipeline.spark.worker_garbage import end_task
from wherecast.store.blobs.blobs import is_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CODEC = "spark.sql.parquet.compression.codec"
_NAME = "wherecast_write_matches"  # in Spark's plans and pages


@dataclass(frozen=True, slots=True)
class MatchWrite:
    """What `write_matches` wrote.

    Attributes:
        rows: number of rows.
        matches: number of pairs of a publication and a filter; 0 for `semi` and `anti`.
        refused: number of publications that the schema refused.
        files: number of files.
        nbytes: size of the files.
        written: whether the files were committed; False if the path existed with
            `mode="ignore"`, or if the batch was committed before.
    """

    rows: int = 0
    matches: int = 0
    refused: int = 0
    files: int = 0
    nbytes: int = 0
    written: bool = True


@dataclass(frozen=True, slots=True)
class WriteArguments:
    """The options of `write_matches` that `match` does not have, under their names."""

    partition_by: Sequence[str] = ()
    mode: Mode = "error"
    batch: tuple[str, int] | None = None

    def check(self) -> None:
        """Raises ConfigError unless all options are valid by themselves."""
        need_names("partition_by", self.partition_by)
        need_one_of("mode", self.mode, Mode)
        if self.batch is not None and not _is_batch(self.batch):
            raise ConfigError(
                f"batch is the name of a query and the number of its batch, not {self.batch!r}"
            )


def _is_batch(value: Any) -> bool:
    if not isinstance(value, tuple | list) or [type(part) for part in value] != [str, int]:
        return False
    return is_name(value[0]) and "/" not in value[0] and value[1] >= 0


def write(
    publications: "DataFrame",
    filters: "DataFrame | Filters | FilterSet",
    path: str | Path,
    given: MatchArguments,
    options: WriteArguments,
) -> MatchWrite:
    """Matches and writes; arguments and errors are those of `wherecast.spark.write_matches`."""
    need_frame(publications, "publications")
    options.check()
    if publications.isStreaming:
        raise ConfigError(
            "publications is a stream: write it with writeStream.format('wherecast'), or call"
            " write_matches in foreachBatch with batch=(name, number)"
        )
    location = SinkLocation.of(path)
    batch = None if options.batch is None else StreamBatch(*options.batch)
    if not _is_due(location, options.mode, batch):
        return MatchWrite(written=False)
    publications, query = prepare(publications, filters, given)
    if batch is not None and given.now is None and query.now is not None:
        query = replace(query, now=batch_moment(location.blobs, batch))
    spark = publications.sparkSession
    codec = spark.conf.get(_CODEC, "snappy")
    assert codec is not None
    columns = publications.schema
    sink = sink_of(location, columns, query, tuple(options.partition_by), (codec, spark.version))
    job = uuid.uuid4().hex
    new = location.entries() is None
    try:
        sink_commit.begin_job(location, job)
        with described(spark, f"wherecast: write matches to {location.uri}"):
            parts = _run(sink, job, timed(publications, query))
        result = StructType([*columns.fields, *query.added()])
        return _committed(sink, job, parts, result, options.mode == "overwrite", batch)
    except BaseException:
        sink_commit.drop_job(location, job, made_directory=new)
        raise


def _is_due(location: SinkLocation, mode: Mode, batch: StreamBatch | None) -> bool:
    """Whether the job is to run.

    Raises:
        ConfigError: the path exists and the mode forbids that.
    """
    sink_commit.recover(location)
    if batch is not None and sink_commit.is_committed(location, batch):
        return False
    if mode in ("append", "overwrite") or not sink_commit.exists(location):
        return True
    if mode == "ignore":
        return False
    raise ConfigError(
        f"{location.uri} exists already; mode is 'append', 'overwrite' or 'ignore' to allow that"
    )


def _run(sink: MatchSink, job: str, publications: "DataFrame") -> list[WrittenPart]:
    """What the tasks of a job wrote; the publications may have a last column for `now()`."""
    plain = publications.toDF(*(f"c{place}" for place in range(len(publications.columns))))
    work = pickle.dumps((sink, job))
    function = spark_runner.in_worker(work, f"{__name__}:write_batches", _NAME)
    found = spark_runner.to_arrow(plain.mapInArrow(function, "part binary"))
    return [pickle.loads(part.as_buffer()) for part in found.column(0)]


def write_batches(work: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Writes the matches of a partition, in a worker; gives one row, a pickled `WrittenPart`."""
    from pyspark import TaskContext

    sink, job = pickle.loads(work)
    context = TaskContext.get()
    part = sink.write(batches, job, 0 if context is None else context.partitionId())
    yield pa.record_batch([pa.array([pickle.dumps(part)], pa.binary())], ["part"])
    end_task(spark_runner.load_counts())


def _committed(
    sink: MatchSink,
    job: str,
    parts: Sequence[WrittenPart],
    result: StructType,
    overwrite: bool,
    batch: StreamBatch | None,
) -> MatchWrite:
    files = sink.files_to_commit(parts, arrow_schema_of(result.fields), job, overwrite)
    written = sink_commit.commit(sink.location, job, files, overwrite, batch)
    if not written:
        return MatchWrite(written=False)
    return MatchWrite(
        rows=sum(part.rows for part in parts),
        matches=sum(part.matches for part in parts),
        refused=sum(part.refused for part in parts),
        files=len(files),
        nbytes=sum(file.nbytes for file in files),
    )
