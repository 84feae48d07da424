"""The work of a task of a sink: match publications and write the result."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa

from wherecast.pipeline.sink.hive_partitions import PartitionColumns
from wherecast.pipeline.sink.parquet_files import (
    FileOptions,
    ParquetFiles,
    StagedFile,
    parquet_writer,
)
from wherecast.pipeline.sink.sink_commit import StreamBatch, begin_job, exists, staging_folder
from wherecast.pipeline.sink.sink_location import SinkLocation
from wherecast.pipeline.stages.batch_task import NOW_COLUMN, JoinTask


@dataclass(frozen=True, slots=True)
class WrittenPart:
    """What one task wrote.

    Attributes:
        files: the staged files.
        rows: number of rows.
        matches: number of pairs of a publication and a filter; 0 for `semi` and `anti`.
        refused: number of publications that the schema refused.
        batch: the batch of a stream that the task belongs to.
    """

    files: tuple[StagedFile, ...] = ()
    rows: int = 0
    matches: int = 0
    refused: int = 0
    batch: StreamBatch | None = None


@dataclass(frozen=True, slots=True)
class MatchSink:
    """A sink of matches; picklable.

    Attributes:
        location: the directory.
        task: matches a batch.
        columns: the names of the publications' columns.
        partitions: the columns that become folders.
        options: how files are written.
        shows_error: whether the result has the column `error`.
    """

    location: SinkLocation
    task: JoinTask
    columns: tuple[str, ...]
    partitions: PartitionColumns
    options: FileOptions
    shows_error: bool

    def write(
        self,
        batches: Iterable[pa.RecordBatch],
        job: str,
        partition: int,
        batch: StreamBatch | None = None,
    ) -> WrittenPart:
        """Matches and writes the batches of a partition; deletes its files if that fails.

        The driver has begun the job, except that of a stream.

        Args:
            batches: the publications; their columns may have other names, and a further column
                is the value of `now()`.
            job: the name of the job.
            partition: the number of the partition.
            batch: the batch of a stream that the task belongs to.
        """
        if batch is not None:
            begin_job(self.location, job)
        attempt = uuid.uuid4().hex
        folder = f"{staging_folder(job)}/{attempt}"
        stem = f"part-{partition:05}-{attempt}"
        files = ParquetFiles(self.location, folder, stem, self.partitions, self.options)
        part = WrittenPart(batch=batch)
        names = [*self.columns, NOW_COLUMN]
        try:
            for given in batches:
                for result in self.task(given.rename_columns(names[: given.num_columns])):
                    rows, refused = self._shown(result)
                    if rows.num_rows:
                        files.add(rows)
                    part = replace(
                        part,
                        rows=part.rows + rows.num_rows,
                        matches=part.matches + self._matches(rows),
                        refused=part.refused + refused,
                    )
            return replace(part, files=files.close())
        except BaseException:
            files.discard()
            raise

    def files_to_commit(
        self, parts: Sequence[WrittenPart], schema: pa.Schema, job: str, overwrite: bool
    ) -> list[StagedFile]:
        """The files of all tasks; of a new sink without rows, one file that has the columns.

        Without such a file Spark could not read the sink. Partitions have none, as in Spark.

        Args:
            parts: what the tasks wrote.
            schema: the columns of the result.
            job: the name of the job.
            overwrite: whether the job deletes all other files.
        """
        files = [file for part in parts for file in part.files]
        if files or self.partitions.names or not (overwrite or not exists(self.location)):
            return files
        attempt = uuid.uuid4().hex
        folder, name = f"{staging_folder(job)}/{attempt}", f"part-00000-{attempt}-c000.parquet"
        with self.location.writing(f"{folder}/{name}", staging_folder(job)) as stream:
            parquet_writer(stream, schema, self.options).close()
            nbytes = stream.tell()
        return [StagedFile(folder, name, nbytes)]

    def _shown(self, result: pa.RecordBatch) -> tuple[pa.RecordBatch, int]:
        """The rows of the result, and the number of refused publications among them."""
        if not self.task.plan.errors:
            return result, 0
        errors = result.column(result.num_columns - 1)
        refused = result.num_rows - errors.null_count
        if self.shows_error:
            return result, refused
        rows = result.select(range(result.num_columns - 1))
        return (rows.filter(errors.is_null()) if refused else rows), refused

    def _matches(self, rows: pa.RecordBatch) -> int:
        if not self.task.plan.ids or not rows.num_rows:
            return 0
        ids = rows.column(len(self.columns))
        if self.task.plan.shape == "rows":
            return int(rows.num_rows - ids.null_count)
        return len(ids.flatten())
