"""The Spark runner: the same stages in the Python workers of a batch or streaming query."""

import pickle
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from wherecast import __version__
from wherecast.model import ConfigError
from wherecast.pipeline.stages.batch_task import Task
from wherecast.pipeline.stages.inline_runner import run as run_inline
from wherecast.pipeline.stages.merge_runs import merged

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

_Batches = Iterable[pa.RecordBatch]


def run(task: Task, frame: "DataFrame", schema: "StructType | str") -> "DataFrame":
    """The results of all batches of a frame, as a frame with the given columns."""
    names = frame.columns
    numbered = frame.toDF(*(f"c{place}" for place in range(len(names))))
    return numbered.mapInArrow(
        in_worker(pickle.dumps((task, names)), f"{__name__}:run_batches"), schema
    )


def has_columns_way() -> bool:
    """Whether this Spark has `run_on_columns`."""
    import pyspark.sql.functions as fn

    return hasattr(fn, "arrow_udf")


def run_on_columns(
    task: Task, columns: "dict[str, Column]", type_: "DataType", steady: bool
) -> "Column":
    """The result of a task as a column: only the given columns travel, a row each comes back.

    Args:
        task: gives as many rows as it gets, with one column, or several for a struct.
        columns: what it gets, by name; at least one.
        type_: of the result.
        steady: whether Spark may ask twice; else it evaluates the column once.
    """
    import pyspark.sql.functions as fn

    work = pickle.dumps((task, list(columns)))
    function = in_worker(work, f"{__name__}:run_columns")
    one, several = Iterator[pa.Array], Iterator[tuple[pa.Array, ...]]
    function.__annotations__ = {"batches": several if len(columns) > 1 else one, "return": one}
    asked = fn.arrow_udf(function, type_)  # type: ignore[attr-defined]
    chosen = asked if steady else asked.asNondeterministic()
    return cast("Column", chosen(*columns.values()))


def run_on_files(
    spark: "SparkSession", scratch: Path
) -> Callable[[Task, _Batches], Iterator[pa.RecordBatch]]:
    """A runner for batches of this process and results of two integer columns, sorted by both.

    Both go through files in the scratch directory, so that neither has to fit into memory.
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
        # Spark could sort them all, but would match everything twice, to find its ranges first.
        files = [pq.ParquetFile(path) for path in found.glob("*.parquet")]
        yield from merged([file.iter_batches() for file in files])

    return run_all


def run_batches(work: bytes, batches: _Batches) -> Iterator[pa.RecordBatch]:
    """What a worker does with the batches of its partition.

    Spark looks columns up by name, and trips over dots and backticks in them: they travel under
    plain names and get their own back here.
    """
    task, names = pickle.loads(work)
    return run_inline(task, (batch.rename_columns(names) for batch in batches))


def run_columns(work: bytes, columns: Iterable[Any]) -> Iterator[pa.Array]:
    """What a worker does with the columns that were chosen, batch by batch."""
    task, names = pickle.loads(work)
    for arrays in columns:
        given = [arrays] if isinstance(arrays, pa.Array) else list(arrays)
        for result in task(pa.RecordBatch.from_arrays(given, names)):
            only = result.num_columns == 1
            yield result.column(0) if only else result.to_struct_array()


def to_arrow(frame: "DataFrame") -> pa.Table:
    """All rows of a batch frame, on the driver."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    batches = cast(Any, frame)._collect_as_arrow()  # PySpark 3.5 has no public way
    if batches:
        return pa.Table.from_batches(batches)
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(frame.schema).empty_table()


def in_worker(work: bytes, function: str) -> Callable[[Any], Iterator[Any]]:
    """What Spark sends to its workers: a function that calls another one with the work.

    It needs nothing of Wherecast to be unpacked, so it can say what is missing there.

    Args:
        work: pickled, the first argument.
        function: as `module:name`; its second argument are the batches.
    """
    version = __version__

    def called(batches):  # type: ignore[no-untyped-def]  # hints would travel too, and need pyarrow
        import importlib
        import sys

        where = f"the Python of the Spark workers ({sys.executable})"
        remedy = (
            "install the same Wherecast there as on the driver, or set spark.pyspark.python"
            " (or PYSPARK_PYTHON) to a Python that has it"
        )
        module, _, name = function.partition(":")
        try:
            import wherecast

            found = importlib.import_module(module)
        except ImportError as error:
            raise RuntimeError(f"{where} cannot run Wherecast: {error}; {remedy}") from None
        if wherecast.__version__ != version:
            raise RuntimeError(
                f"{where} has Wherecast {wherecast.__version__}, the driver has {version}; {remedy}"
            )
        return getattr(found, name)(work, batches)

    return called


def refuse_awkward(names: Iterable[str]) -> None:
    """Refuses columns that cannot travel between Spark and Python, by name."""
    awkward = ", ".join(names)
    if awkward:
        raise ConfigError(
            f"this Spark cannot carry {awkward} through Arrow: cast it to a string first, or use"
            " PySpark 4.1 or newer, where only the columns that filters name travel"
        )
