"""The Spark runner: the same stages in the Python workers of a batch or streaming query."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from wherecast.pipeline.inline import run as run_inline
from wherecast.pipeline.merge import merged
from wherecast.pipeline.tasks import Task

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def run(task: Task, frame: "DataFrame", schema: "StructType | str") -> "DataFrame":
    """The results of all batches of a frame, as a frame with the given columns."""
    numbered = frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))
    return numbered.mapInArrow(_in_worker(pickle.dumps((task, frame.columns))), schema)


def run_on_files(
    spark: "SparkSession", scratch: Path
) -> Callable[[Task, Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A runner for batches of this process and results of two integer columns, sorted by both.

    Both go through files in the scratch directory, so that neither has to fit into memory.
    """

    def run_all(task: Task, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given, found = scratch / "given", scratch / "found"
        given.mkdir()
        count = 0
        for count, batch in enumerate(batches, 1):
            pq.write_table(pa.Table.from_batches([batch]), given / f"{count:08}.parquet")
        if not count:
            return
        pairs = run(task, spark.read.parquet(str(given)), "row long, place long")
        pairs.sortWithinPartitions("row", "place").write.parquet(str(found))
        # Spark could sort them all, but would match everything twice, to find its ranges first.
        files = [pq.ParquetFile(path) for path in found.glob("*.parquet")]
        yield from merged([file.iter_batches() for file in files])

    return run_all


def run_pickled(work: bytes, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What a worker does with the batches of its partition.

    Spark looks columns up by name, and trips over dots and backticks in them: they travel under
    plain names and get their own back here.
    """
    task, names = pickle.loads(work)
    return run_inline(task, (batch.rename_columns(names) for batch in batches))


def to_arrow(frame: "DataFrame") -> pa.Table:
    """All rows of a batch frame, on the driver."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    batches = cast(Any, frame)._collect_as_arrow()  # PySpark 3.5 has no public way
    if batches:
        return pa.Table.from_batches(batches)
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema).empty_table()


def _in_worker(
    work: bytes,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that Spark sends: it needs nothing to be read, so it can say what is missing."""

    def in_worker(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            from wherecast.pipeline.spark_runner import run_pickled
        except ImportError as error:
            import sys

            raise RuntimeError(
                f"The Python of the Spark workers ({sys.executable}) cannot run Wherecast: {error}."
                " Install wherecast there, or set spark.pyspark.python (or PYSPARK_PYTHON)"
                " to a Python that has it."
            ) from None
        return run_pickled(work, batches)

    return in_worker
