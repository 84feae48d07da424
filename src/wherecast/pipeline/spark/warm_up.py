"""A first job that completes the start of Spark: its Python workers load the kernels.

A session loads most of its code with the first job, and starts Python workers with the first job
that needs them. A command that reports times runs this small job beforehand, so that its figures
do not include the start of Spark.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from wherecast.model import Schema
from wherecast.pipeline.filters.blob_location import store_in_directory
from wherecast.pipeline.filters.loaded_filters import compile_part
from wherecast.pipeline.spark.spark_runner import run_on_files
from wherecast.pipeline.stages.batch_task import PairTask

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS_MAX = 64
_SCHEMA = Schema.from_dict({"x": "float", "name": "string"})
_FILTERS = pa.table({"id": [1, 2], "filter": ["x > 0 AND x < 2", "name = 'a'"]})
_COLUMNS = pa.schema([("name", pa.string()), ("x", pa.float64())])


def warm_up(spark: "SparkSession", scratch: Path) -> int:
    """Runs a job with a row per task slot, at most 64; returns its number of matches.

    The files of the job go to `scratch`.
    """
    home = scratch / "warm-up"
    home.mkdir()
    part, _ = compile_part(_FILTERS, _SCHEMA)
    filters = store_in_directory(part, pa.int64(), _SCHEMA, False, home / "filters")
    context = getattr(spark, "_sc", None)  # a Connect session has none
    rows = 1 if context is None else min(context.defaultParallelism, _ROWS_MAX)
    batches = [pa.record_batch({"row": [row], "name": ["a"], "x": [1.0]}) for row in range(rows)]
    found = run_on_files(spark, home)(PairTask(filters, _COLUMNS), batches)
    return sum(batch.num_rows for batch in found)
