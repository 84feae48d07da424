"""The rest of the start of Spark: Python workers that run and have loaded the kernels.

A session starts its Python workers with the first query that needs them. A command that reports
times runs one such query beforehand, so that its figures are those of the matching alone.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from wherecast.model import Schema
from wherecast.pipeline.filters.loaded_filters import compile_filters
from wherecast.pipeline.spark.spark_runner import in_worker
from wherecast.pipeline.stages.batch_stages import validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_WORKERS_MAX = 64


def warm_up(spark: "SparkSession") -> None:
    """Starts a Python worker per slot, at most 64; each matches one row."""
    workers = min(spark.sparkContext.defaultParallelism, _WORKERS_MAX)
    rows = spark.range(0, workers, 1, workers)
    rows.mapInArrow(in_worker(b"", f"{__name__}:match_one_row"), "id long").count()


def match_one_row(_: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches as they are; before the first, the worker compiles and matches two filters."""
    schema = Schema.from_dict({"x": "float", "name": "string"})
    table = pa.table({"id": [1, 2], "filter": ["x > 0 AND x < 2", "name = 'a'"]})
    filters = compile_filters(table, schema)[0]
    row = pa.RecordBatch.from_pylist([{"x": 1.0, "name": "a"}])
    filters.parts.match(validate(row, filters.schema).batch)
    yield from batches
