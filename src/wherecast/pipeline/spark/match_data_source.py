"""The format `wherecast`: `write` and `writeStream` of publications, which are matched on the way.

Spark plans a write in a Python process beside the driver, runs `write` in tasks and `commit` in
another Python process. A stream gets a new writer for each of the three, so what they share is the
query and the batch, which a task knows from Spark's local properties.
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.sql import datasource
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType

from wherecast.model import ConfigError
from wherecast.model.names import did_you_mean
from wherecast.model.times import current_micros, parse_time
from wherecast.pipeline.filters.blob_location import Place, blobs_at
from wherecast.pipeline.filters.filter_set import FilterSet
from wherecast.pipeline.filters.streaming_filters import micro_batch
from wherecast.pipeline.sink import sink_commit
from wherecast.pipeline.sink.batch_moment import batch_moment, shared_moments
from wherecast.pipeline.sink.match_sink import MatchSink, WrittenPart
from wherecast.pipeline.sink.parquet_files import StagedFile
from wherecast.pipeline.sink.sink_commit import StreamBatch
from wherecast.pipeline.sink.sink_location import SinkLocation
from wherecast.pipeline.spark.frame_columns import arrow_schema_of
from wherecast.pipeline.spark.prepare_match import MatchArguments, query_of
from wherecast.pipeline.spark.sink_columns import sink_of
from wherecast.pipeline.spark.spark_filters import Filters, has_filters, load_filters

FORMAT = "wherecast"
_OPTIONS = ("filters", "how", "output", "prefix", "keep", "partition_by", "compression", "now")
_OF_SPARK = ("path", "checkpointlocation")
# Spark 4.0 has no writer of Arrow batches for streams.
_StreamWriter: Any = getattr(datasource, "DataSourceStreamArrowWriter", object)


class MatchesSource(DataSource):
    """The format `wherecast`."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return FORMAT

    def writer(self, schema: StructType, overwrite: bool) -> "MatchesWriter":
        """The writer of a batch."""
        sink, result = _sink(self.options, schema, live=False)
        new = sink.location.entries() is None
        job = uuid.uuid4().hex
        sink_commit.begin_job(sink.location, job)
        return MatchesWriter(sink, result, overwrite, job, new)

    def streamWriter(self, schema: StructType, overwrite: bool) -> Any:  # noqa: N802  # Spark's name
        """The writer of a stream."""
        if _StreamWriter is object:
            raise ConfigError(
                "writeStream.format('wherecast') needs PySpark 4.1 or newer; call write_matches in"
                " foreachBatch with batch=(name, number)"
            )
        if overwrite:
            raise ConfigError("a stream of matches is written with outputMode append")
        return MatchesStreamWriter(_sink(self.options, schema, live=True)[0])


@dataclass(frozen=True)
class PartMessage(WriterCommitMessage):
    """What a task wrote."""

    part: WrittenPart


@dataclass(frozen=True)
class MatchesWriter(DataSourceArrowWriter):
    """Writes a batch of publications.

    Attributes:
        sink: the sink.
        result: the columns of the result.
        overwrite: whether the commit deletes all other files.
        job: the name of the job.
        made_directory: whether the job makes the directory of the sink.
    """

    sink: MatchSink
    result: pa.Schema
    overwrite: bool
    job: str
    made_directory: bool

    def write(self, iterator: Iterator[pa.RecordBatch]) -> PartMessage:
        """Matches and writes the rows of a task, in a worker."""
        return PartMessage(self.sink.write(iterator, self.job, _partition()))

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Makes the files of all tasks visible."""
        parts = _parts(messages)
        files = self.sink.files_to_commit(parts, self.result, self.job, self.overwrite)
        sink_commit.commit(self.sink.location, self.job, files, self.overwrite)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Deletes the files of all tasks."""
        sink_commit.drop_job(self.sink.location, self.job, self.made_directory)


@dataclass(frozen=True)
class MatchesStreamWriter(_StreamWriter):  # type: ignore[misc]  # its class depends on Spark
    """Writes the micro-batches of a stream, each once."""

    sink: MatchSink

    def write(self, iterator: Iterator[pa.RecordBatch]) -> PartMessage:
        """Matches and writes the rows of a task, in a worker."""
        batch = StreamBatch(*micro_batch())
        sink = self.sink
        if sink.task.now is None and sink.task.filters.load().reads_now:
            moment = batch_moment(shared_moments(sink.location), batch)
            sink = replace(sink, task=replace(sink.task, now=moment))
        return PartMessage(sink.write(iterator, batch.job, _partition(), batch))

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Makes the files of a micro-batch visible, unless that is done already."""
        batch = _batch(messages)
        if batch is not None:
            sink_commit.commit(self.sink.location, batch.job, _files(messages), False, batch)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Deletes the files of a micro-batch; a task that failed has deleted its own."""
        batch = _batch(messages)
        if batch is not None:
            sink_commit.drop_job(self.sink.location, batch.job)


def _parts(messages: list[WriterCommitMessage | None]) -> list[WrittenPart]:
    return [message.part for message in messages if isinstance(message, PartMessage)]


def _files(messages: list[WriterCommitMessage | None]) -> list[StagedFile]:
    return [file for part in _parts(messages) for file in part.files]


def _batch(messages: list[WriterCommitMessage | None]) -> StreamBatch | None:
    """The batch that the tasks belong to; None if there was no task."""
    return next((part.batch for part in _parts(messages)), None)


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def _sink(
    options: Mapping[str, str], columns: StructType, live: bool
) -> tuple[MatchSink, pa.Schema]:
    """The sink that the options describe, and the columns of its result.

    Args:
        options: the options.
        columns: the columns of the publications.
        live: whether the writer is that of a stream, whose batches have moments of their own.

    Raises:
        ConfigError: an option is missing, unknown or wrong.
    """
    for name in options:
        if name not in (*_OPTIONS, *_OF_SPARK):
            hint = did_you_mean(name, _OPTIONS) or f"they are {', '.join(_OPTIONS)}"
            raise ConfigError(f"the format {FORMAT} has no option {name}; {hint}")
    if not options.get("path"):
        raise ConfigError("give the path of the matches: save(path), or start(path) of a stream")
    if not options.get("filters"):
        raise ConfigError(
            "give the option filters: the URI of filters that save wrote, or of a FilterSet"
        )
    filters, is_set = _filters(options["filters"])
    keep = _names(options["keep"]) if "keep" in options else None
    how: Any = options.get("how", "inner")
    output: Any = options.get("output", "rows")
    given = MatchArguments(how, output, options.get("prefix", ""), keep=keep)
    given.check()
    query = query_of(columns, filters, given, Place(filters.uri), live and is_set)
    location = SinkLocation.of(options["path"])
    if "now" in options:
        query = replace(query, now=_moment(options["now"]))
    elif not live:
        query = replace(query, now=current_micros())
    elif filters.stored.reads_now:
        shared_moments(location)  # raises ConfigError here rather than in a task
    about = (options.get("compression", "snappy"), pyspark.__version__)
    sink = sink_of(location, columns, query, _names(options.get("partition_by", "")), about)
    return sink, arrow_schema_of([*columns.fields, *query.added()])


def _filters(uri: str) -> tuple[Filters, bool]:
    """The filters under a URI, and whether they are a set."""
    if has_filters(blobs_at(uri)):
        return load_filters(uri), False
    return FilterSet(uri).filters(), True


def _moment(text: str) -> int:
    try:
        return parse_time(text)
    except ValueError as error:
        raise ConfigError(f"now: {error}") from None


def _names(text: str) -> tuple[str, ...]:
    """The names of a list with commas."""
    return tuple(name for name in map(str.strip, text.split(",")) if name)
