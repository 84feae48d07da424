"""The transfer alone: the data that `match` sends and returns, without matching."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.bench.spark.cases import MeasuredOutput
from wherecast.bench.spark.frames import PUBLICATION

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def transfer(publications: "DataFrame", output: MeasuredOutput, mean: float) -> "DataFrame":
    """Sends the publications through Python, which adds as much data as a match would add.

    Args:
        publications: the publications.
        output: the form of the result: arrays of ids; rows, into which Spark explodes the arrays;
            or, for `semi`, whether a publication stays.
        mean: ids per publication; for `semi`, the share of publications that stay.
    """
    import pyspark.sql.functions as fn
    from pyspark.sql.types import ArrayType, LongType, StructField, StructType

    if output == "semi":
        return _kept(publications, mean)
    added = StructField("filter_ids", ArrayType(LongType()))
    columns = StructType([*publications.schema.fields, added])
    arrays = publications.mapInArrow(_with_zeros(mean), columns)
    if output == "arrays":
        return arrays
    return arrays.select(*publications.columns, fn.explode("filter_ids").alias("filter_id"))


def _with_zeros(mean: float) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            offsets = _offsets(batch.num_rows, mean)
            zeros = pa.array(np.zeros(offsets[-1], np.int64))
            arrays = pa.ListArray.from_arrays(pa.array(offsets), zeros)
            names = [*batch.schema.names, "filter_ids"]
            yield pa.RecordBatch.from_arrays([*batch.columns, arrays], names=names)

    return run


def _kept(publications: "DataFrame", share: float) -> "DataFrame":
    """The publications that stay, by a column of booleans; before Spark 4.1, whole batches."""
    import pyspark.sql.functions as fn

    if not hasattr(fn, "arrow_udf"):  # before 4.1

        def whole(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield from batches

        return publications.mapInArrow(whole, publications.schema)

    def stays(*columns: pa.Array) -> pa.Array:
        return pa.array(np.diff(_offsets(len(columns[0]), share)) > 0)

    attributes = [name for name in publications.columns if name != PUBLICATION]
    return publications.where(fn.arrow_udf(stays, "boolean")(*attributes))


def _offsets(rows: int, mean: float) -> npt.NDArray[np.int32]:
    """The offsets of lists whose lengths have this mean and differ by at most one."""
    offsets: npt.NDArray[np.int32] = np.floor(np.arange(rows + 1) * mean).astype(np.int32)
    return offsets
