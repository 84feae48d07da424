"""Frames of the Spark benchmark: tables in files, and the times, counts and hashes of results."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from wherecast.bench.spark.worker_metrics import Moved, Resident, moved, watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PUBLICATION = "publication"  # the column that numbers the publications
_FILES = 8  # per table, so that every core reads the same amount
_LOW_HALF = 0xFFFFFFFF  # sums of low halves do not overflow below 2³¹ rows


@dataclass(frozen=True, slots=True)
class CheckedResult:
    """The count and hash of a result, and the cost of making it.

    Attributes:
        rows: number of pairs, or of publications.
        hash: hash of all rows, in any order.
        moved: bytes between Spark and Python.
        resident: the memory of the Python workers during the query.
    """

    rows: int
    hash: str
    moved: Moved
    resident: Resident


def numbered(table: pa.Table) -> pa.Table:
    """Publications with their numbers as the first column."""
    return table.add_column(0, PUBLICATION, pa.array(np.arange(table.num_rows)))


def stored(spark: "SparkSession", table: pa.Table, home: Path) -> "DataFrame":
    """Writes a table to Parquet files of equal length, which stay in the system's cache."""
    home.mkdir(parents=True)
    rows = max(1, -(-table.num_rows // _FILES))
    for number, start in enumerate(range(0, max(1, table.num_rows), rows)):
        pq.write_table(table.slice(start, rows), home / f"{number}.parquet")
    return spark.read.parquet(str(home))


def seconds_of(frame: "DataFrame") -> float:
    """The seconds to compute all rows of a frame; Spark discards them."""
    started = perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    return perf_counter() - started


def repeated(make: Callable[[], "DataFrame"], times: int) -> list[float]:
    """The seconds of each of `times` runs, after one that is not counted."""
    seconds_of(make())
    return [seconds_of(make()) for _ in range(times)]


def checked(frame: "DataFrame") -> CheckedResult:
    """The count and the hash of the pairs of a result, or of its publications without ids."""
    query = _folded(frame)
    with watched(frame.sparkSession) as resident:
        rows, hash = _collected(query)
    return CheckedResult(rows, hash, moved(query), resident)


def count_and_hash(frame: "DataFrame") -> tuple[int, str]:
    """The count and the hash of the pairs of a result, in any order."""
    return _collected(_folded(frame))


def rows_and_hash(frame: "DataFrame") -> tuple[int, str]:
    """The count and the hash of all columns of all rows, in any order."""
    return _collected(_folded_columns(frame, frame.columns))


def _folded(frame: "DataFrame") -> "DataFrame":
    """One row: the count of the pairs, and two sums of their hashes."""
    import pyspark.sql.functions as fn

    if "filter_ids" in frame.columns:
        frame = frame.select(PUBLICATION, fn.explode("filter_ids").alias("filter_id"))
    names = [name for name in (PUBLICATION, "filter_id") if name in frame.columns]
    return _folded_columns(frame, names)


def _folded_columns(frame: "DataFrame", names: list[str]) -> "DataFrame":
    import pyspark.sql.functions as fn

    mixed = fn.xxhash64(*names)
    return frame.select(mixed.alias("mixed")).agg(
        fn.count("*"),
        fn.coalesce(fn.bit_xor("mixed"), fn.lit(0)),
        fn.coalesce(fn.sum(fn.col("mixed").bitwiseAND(fn.lit(_LOW_HALF))), fn.lit(0)),
    )


def _collected(query: "DataFrame") -> tuple[int, str]:
    [(count, folded, total)] = query.collect()
    return count, f"{folded % 2**64:016x}{total:016x}"
