"""Compiles the filters of a DataFrame, on the driver or on the executors, and stores them once.

    DataFrame of ids, filters, further columns
      few:  → Arrow table → read on the driver
      many: → read by the executors, a piece of the column at a time → pickled pieces → the driver

Filters travel as columns, never as rows or Python objects.
"""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyspark.sql.functions as fn
from pyspark.sql.types import (
    ByteType,
    CharType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
    VarcharType,
)

from wherecast.model import ConfigError, Schema
from wherecast.pipeline.filters.filter_table import FilterReading, OnBad, need_on_bad, read
from wherecast.pipeline.filters.stored_filters import Folder, StoredFilters, store_filters
from wherecast.pipeline.spark import spark_runner
from wherecast.pipeline.spark.frame_columns import arrow_schema_of, columns_without_arrow_type
from wherecast.pipeline.spark.query_checks import find_column, need_frame, need_names
from wherecast.pipeline.spark.worker_python import need_python

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ID_TYPES = (StringType, CharType, VarcharType, ByteType, ShortType, IntegerType, LongType)
FEW = 20_000  # up to this number of filters the driver reads them by itself
_PIECE = 50_000  # filters that an executor reads and sends at once


def filter_columns(
    filters: "DataFrame", id: str, filter: str, keep: Sequence[str]
) -> list[StructField]:
    """The columns of a frame of filters: ids, filters, and columns to keep.

    Raises:
        ConfigError: the frame is not a batch DataFrame, or a column is missing or has a wrong type.
    """
    need_frame(filters, "filters")
    if filters.isStreaming:
        raise ConfigError("filters are a batch DataFrame, not a streaming one")
    ids, texts = find_column(filters, id), find_column(filters, filter)
    need_names("keep", keep)
    kept = [find_column(filters, name) for name in dict.fromkeys(keep)]
    awkward = columns_without_arrow_type(StructType(kept))
    if awkward:
        raise ConfigError(f"Spark cannot send column {', '.join(awkward)} of the filters to Python")
    if not isinstance(ids.dataType, _ID_TYPES):
        shown = ids.dataType.simpleString()
        raise ConfigError(f"ids are strings or integers, column {ids.name} is {shown}")
    if not isinstance(texts.dataType, (StringType, CharType, VarcharType)):
        shown = texts.dataType.simpleString()
        raise ConfigError(f"filters are strings, column {texts.name} is {shown}")
    return [ids, texts, *kept]


def compile_frame(
    filters: "DataFrame",
    columns: Sequence[StructField],
    schema: Schema,
    enforced: bool,
    on_bad: OnBad,
    folder: Folder,
) -> StoredFilters:
    """Compiles and stores the filters of a frame.

    Args:
        filters: a batch frame.
        columns: the columns of ids, of filters, and those to keep.
        schema: the schema of the filters.
        enforced: whether publications that violate the schema are refused.
        on_bad: whether a bad filter raises an error or is skipped.
        folder: the folder for the blobs.

    Raises:
        FilterError: with `on_bad="raise"`, the first three bad filters and their count.
        ConfigError: an id occurs twice.
    """
    need_on_bad(on_bad)
    parts = read_frame(filters, columns, schema)
    shown = StructType([columns[0], *columns[2:]]).json()
    id_type = str(arrow_schema_of(columns[:1]).field(0).type)
    empty = StoredFilters(schema, enforced, shown, id_type, ())
    return store_filters(parts, empty, on_bad, folder)


def read_frame(
    filters: "DataFrame", columns: Sequence[StructField], schema: Schema
) -> list[FilterReading]:
    """Reads the columns of a frame: ids, filters, and columns to keep."""
    places = [filters.columns.index(column.name) for column in columns]  # names may be ambiguous
    plain = filters.toDF(*(f"c{place}" for place in range(len(filters.columns))))
    plain = plain.select(*(fn.col(f"c{place}").alias(f"k{n}") for n, place in enumerate(places)))
    few = spark_runner.to_arrow(plain.limit(FEW + 1))
    names = ["id", "filter", *(column.name for column in columns[2:])]
    if few.num_rows <= FEW:
        return [read(few.rename_columns(names), schema)]
    return _read_on_executors(plain, names, schema)


def _read_on_executors(
    filters: "DataFrame", names: list[str], schema: Schema
) -> list[FilterReading]:
    """Reads the filters of a frame on the executors, in pieces."""
    need_python(filters.sparkSession)
    context = getattr(filters.sparkSession, "_sc", None)  # Spark Connect has none
    if context is not None:
        filters = filters.repartition(context.defaultParallelism)
    work = pickle.dumps((schema, names))
    reading = spark_runner.in_worker(work, f"{__name__}:read_pieces", "wherecast_read_filters")
    found = spark_runner.to_arrow(filters.mapInArrow(reading, "part binary"))
    return [pickle.loads(zstd_unpacked(blob.as_buffer())) for blob in found.column(0)]


def read_pieces(work: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Reads the filters of a partition in pieces; runs in a worker."""
    schema, names = pickle.loads(work)
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(each.num_rows for each in waiting) >= _PIECE:
            yield _read_piece(waiting, schema, names)
            waiting = []
    if waiting:
        yield _read_piece(waiting, schema, names)


def _read_piece(batches: list[pa.RecordBatch], schema: Schema, names: list[str]) -> pa.RecordBatch:
    found = read(pa.Table.from_batches(batches).rename_columns(names), schema)
    return pa.record_batch([pa.array([zstd_packed(pickle.dumps(found, 5))], pa.binary())], ["part"])


def zstd_packed(content: bytes) -> bytes:
    """The content, compressed with zstd."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as out:
        out.write(content)
    return bytes(sink.getvalue())


def zstd_unpacked(content: pa.Buffer) -> bytes:
    """The content that `zstd_packed` compressed."""
    with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as source:
        return bytes(source.read())
