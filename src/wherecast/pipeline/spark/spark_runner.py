"""The Spark runner: runs stages in the Python workers of a batch or streaming query."""

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from wherecast import __version__
from wherecast.model import ConfigError
from wherecast.pipeline.filters.stored_filters import counters
from wherecast.pipeline.spark.worker_garbage import end_task
from wherecast.pipeline.stages.batch_task import Task
from wherecast.pipeline.stages.inline_runner import run as run_inline
from wherecast.pipeline.stages.merge_runs import merged

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

_Batches = Iterable[pa.RecordBatch]


def run(
    task: Task,
    frame: "DataFrame",
    schema: "StructType | str",
    name: str = "wherecast",
    names: Sequence[str] | None = None,
) -> "DataFrame":
    """The results of all batches of a frame, as a frame with the given columns.

    Args:
        task: the task.
        frame: the batches.
        schema: the columns of the results.
        name: the name of the operator in Spark's plans and pages.
        names: the names of the columns for the task; by default those of the frame.
    """
    given = list(frame.columns if names is None else names)
    numbered = frame.toDF(*(f"c{place}" for place in range(len(given))))
    work = pickle.dumps((task, given))
    return numbered.mapInArrow(in_worker(work, f"{__name__}:run_batches", name), schema)


def has_columns_way() -> bool:
    """Whether this Spark has `run_on_columns`."""
    import pyspark.sql.functions as fn

    return hasattr(fn, "arrow_udf")


def run_on_columns(
    task: Task, columns: "dict[str, Column]", type_: "DataType", steady: bool, name: str
) -> "Column":
    """The result of a task as a column; only the given columns travel.

    Args:
        task: returns one row per input row, with one column, or several for a struct.
        columns: the input columns by name; at least one.
        type_: the type of the result.
        steady: whether Spark may evaluate the column more than once.
        name: the name of the function in Spark's plans and pages.
    """
    import pyspark.sql.functions as fn

    work = pickle.dumps((task, list(columns)))
    function = in_worker(work, f"{__name__}:run_columns", name)
    one, several = Iterator[pa.Array], Iterator[tuple[pa.Array, ...]]
    function.__annotations__ = {"batches": several if len(columns) > 1 else one, "return": one}
    asked = fn.arrow_udf(function, type_)  # type: ignore[attr-defined]
    chosen = asked if steady else asked.asNondeterministic()
    return cast("Column", chosen(*columns.values()))


def run_on_files(
    spark: "SparkSession", scratch: Path
) -> Callable[[Task, _Batches], Iterator[pa.RecordBatch]]:
    """A runner for batches of this process; its results have two integer columns, sorted by both.

    Batches and results go through files in the scratch directory, so that neither must fit into
    memory.
    """

    def run_all(task: Task, batches: _Batches) -> Iterator[pa.RecordBatch]:
        given, found = scratch / "given", scratch / "found"
        given.mkdir()
        count = 0
        for count, batch in enumerate(batches, 1):
            pq.write_table(pa.Table.from_batches([batch]), given / f"{count:08}.parquet")
        if not count:
            return
        pairs = run(task, spark.read.parquet(str(given)), "row long, place long")
        pairs.sortWithinPartitions("row", "place").write.parquet(str(found))
        # A global sort by Spark would match everything twice, once to find its ranges.
        files = [pq.ParquetFile(path) for path in found.glob("*.parquet")]
        yield from merged([file.iter_batches() for file in files])

    return run_all


def run_batches(work: bytes, batches: _Batches) -> Iterator[pa.RecordBatch]:
    """Runs a task on the batches of a partition, in a worker.

    Spark cannot find columns with dots and backticks in their names. So columns travel under plain
    names and get their own names back here.
    """
    task, names = pickle.loads(work)
    yield from run_inline(task, (batch.rename_columns(names) for batch in batches))
    end_task(load_counts())


def run_columns(work: bytes, columns: Iterable[Any]) -> Iterator[pa.Array]:
    """Runs a task on the given columns, batch by batch, in a worker."""
    task, names = pickle.loads(work)
    for arrays in columns:
        given = [arrays] if isinstance(arrays, pa.Array) else list(arrays)
        for result in task(pa.RecordBatch.from_arrays(given, names)):
            only = result.num_columns == 1
            yield result.column(0) if only else result.to_struct_array()
    end_task(load_counts())


def load_counts() -> tuple[int, ...]:
    """The numbers of filters and parts that this process has loaded so far."""
    return counters["filters loaded"], counters["parts mapped"]


def to_arrow(frame: "DataFrame") -> pa.Table:
    """All rows of a batch frame, on the driver."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    batches = cast(Any, frame)._collect_as_arrow()  # PySpark 3.5 has no public way
    if batches:
        return pa.Table.from_batches(batches)
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema).empty_table()


def in_worker(
    work: bytes, function: str, name: str = "wherecast"
) -> Callable[[Any], Iterator[Any]]:
    """A function for Spark's workers that calls another function with the work.

    A worker can unpickle the function without Wherecast, so the function can report that Wherecast
    is missing there.

    Args:
        work: the first argument of the other function, pickled.
        function: the other function, as `module:name`; its second argument is the batches.
        name: the name that Spark shows in plans and on its pages.
    """
    version = __version__

    def called(batches):  # type: ignore[no-untyped-def]  # type hints are pickled too, and need pyarrow
        import importlib
        import sys

        where = f"the Python of the Spark workers ({sys.executable})"
        remedy = (
            "install the same Wherecast there as on the driver, or set spark.pyspark.python"
            " (or PYSPARK_PYTHON) to a Python that has it"
        )
        module, _, inner = function.partition(":")
        try:
            import wherecast

            found = importlib.import_module(module)
        except ImportError as error:
            raise RuntimeError(f"{where} cannot run Wherecast: {error}; {remedy}") from None
        if wherecast.__version__ != version:
            raise RuntimeError(
                f"{where} has Wherecast {wherecast.__version__}, the driver has {version}; {remedy}"
            )
        return getattr(found, inner)(work, batches)

    called.__name__ = called.__qualname__ = name
    return called


def refuse_awkward(names: Iterable[str]) -> None:
    """Raises ConfigError if there are columns without an Arrow type."""
    awkward = ", ".join(names)
    if awkward:
        raise ConfigError(
            f"this Spark cannot carry {awkward} through Arrow: cast it to a string first, or use"
            " PySpark 4.1 or newer, where only the columns that filters name travel"
        )
