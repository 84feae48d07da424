"""Writes batches of one task as Parquet files, a file for each partition.

Rows wait in memory until they fill a row group. What waits is bounded over all partitions, and so
is the number of open files: of too many, the one that waited longest is closed, and later rows of
its partition start another file.
"""

from collections import OrderedDict
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from wherecast.model import WherecastError
from wherecast.pipeline.sink.hive_partitions import PartitionColumns
from wherecast.pipeline.sink.sink_location import SinkLocation


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How files are written.

    Attributes:
        compression: the codec, in the names of pyarrow.
        metadata: key-value pairs for the footer of each file.
        group_rows_max: number of rows of a row group.
        waiting_bytes_max: size of the rows that wait, over all open files.
        files_max: number of open files.
    """

    compression: str = "snappy"
    metadata: tuple[tuple[str, str], ...] = ()
    group_rows_max: int = 1 << 20
    waiting_bytes_max: int = 128 << 20
    files_max: int = 128


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A finished file that is not visible yet.

    Attributes:
        folder: the folder of the attempt that wrote the file.
        name: the name that the file gets below the sink.
        nbytes: size of the file.
    """

    folder: str
    name: str
    nbytes: int


@dataclass(slots=True)
class _OpenFile:
    name: str
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    rows: int = 0
    nbytes: int = 0
    writer: Any = None
    stream: Any = None
    closing: ExitStack = field(default_factory=ExitStack)


class ParquetFiles:
    """The files of one attempt of a task."""

    def __init__(
        self,
        location: SinkLocation,
        folder: str,
        stem: str,
        partitions: PartitionColumns,
        options: FileOptions,
    ) -> None:
        """Prepares files; none is opened before the first row.

        Args:
            location: the sink.
            folder: the folder of this attempt, in the staging folder of the job, which exists.
            stem: the start of the files' names, unique to the job and the task.
            partitions: the columns that become folders.
            options: how files are written.
        """
        self._location, self._folder, self._stem = location, folder, stem
        self._root = folder.rpartition("/")[0]
        self._partitions, self._options = partitions, options
        self._open: OrderedDict[str, _OpenFile] = OrderedDict()
        self._done: list[StagedFile] = []
        self._count = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Adds the rows of a batch; all batches have the same columns."""
        for folder, rows in self._partitions.split(batch):
            file = self._file(folder)
            file.waiting.append(rows)
            file.rows += rows.num_rows
            file.nbytes += rows.nbytes
            if file.rows >= self._options.group_rows_max:
                self._flush(file)
        while sum(each.nbytes for each in self._open.values()) > self._options.waiting_bytes_max:
            self._flush(max(self._open.values(), key=lambda each: each.nbytes))

    def close(self) -> tuple[StagedFile, ...]:
        """Finishes all files and returns them."""
        while self._open:
            self._finish(self._open.popitem(last=False)[1])
        return tuple(self._done)

    def discard(self) -> None:
        """Closes and deletes what was written, as far as that is possible."""
        for file in self._open.values():
            with suppress(OSError, pa.ArrowException), file.closing:
                if file.writer is not None:
                    file.writer.close()
        self._open.clear()
        with suppress(WherecastError):
            self._location.delete_folder(self._folder)

    def _file(self, folder: str) -> _OpenFile:
        if folder in self._open:
            self._open.move_to_end(folder)
            return self._open[folder]
        if len(self._open) >= self._options.files_max:
            self._finish(self._open.popitem(last=False)[1])
        codec = self._options.compression
        suffix = "parquet" if codec == "none" else f"{codec}.parquet"
        name = f"{self._stem}-c{self._count:03}.{suffix}"
        self._count += 1
        self._open[folder] = _OpenFile(f"{folder}/{name}" if folder else name)
        return self._open[folder]

    def _flush(self, file: _OpenFile) -> None:
        """Writes the rows that wait as row groups."""
        if not file.waiting:
            return
        table = pa.Table.from_batches(file.waiting)
        if file.writer is None:
            where = self._location.writing(f"{self._folder}/{file.name}", self._root)
            file.stream = file.closing.enter_context(where)
            file.writer = parquet_writer(file.stream, table.schema, self._options)
        file.writer.write_table(table, row_group_size=self._options.group_rows_max)
        file.waiting, file.rows, file.nbytes = [], 0, 0

    def _finish(self, file: _OpenFile) -> None:
        self._flush(file)
        file.writer.close()
        nbytes = file.stream.tell()
        file.closing.close()
        self._done.append(StagedFile(self._folder, file.name, nbytes))


def parquet_writer(stream: Any, schema: pa.Schema, options: FileOptions) -> pq.ParquetWriter:
    """A writer whose files Spark reads with the columns that the footer's metadata describe."""
    writer = pq.ParquetWriter(stream, schema, compression=options.compression, store_schema=False)
    writer.add_key_value_metadata(dict(options.metadata))
    return writer
