"""`wherecast demo`: a streaming query on local Spark, what arrived for three people, and why."""

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from wherecast.cli import demo_air, demo_view, screen
from wherecast.model import ConfigError, Subscription
from wherecast.pipeline import inline
from wherecast.pipeline.files import open_output
from wherecast.pipeline.filters import compile_part, loaded, subscription_table
from wherecast.pipeline.place import placed
from wherecast.pipeline.session import spark_session
from wherecast.pipeline.stages import NOTIFICATIONS, validate
from wherecast.pipeline.tasks import NotifyTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FILES = 4  # that arrive one after the other, a micro-batch each
_COLUMNS = "subscriber string, publication long, subscription_ids array<string>"
_ORDER = [("subscriber", "ascending"), ("publication", "ascending")]


def run_demo(directory: Path | None, master: str) -> None:
    """Runs the demo.

    Raises:
        ConfigError: its directory cannot be written.
        RuntimeError: Spark and the inline runner disagree.
    """
    out = screen.console()
    publications, subscriptions = demo_air.publications(), demo_air.subscriptions()
    folder = _folder(directory)
    _write_files(folder, publications, subscriptions)
    demo_view.show_start(out, publications.num_rows, subscriptions)
    part, _ = compile_part(subscription_table(subscriptions), demo_air.schema())
    filters = loaded([part.part], part.kept, pa.int64(), demo_air.schema(), True)
    with screen.progress("Index", lambda _: "its first use compiles it"):
        expected = _inline(NotifyTask(filters, "number"), publications)
    arrived: dict[int, pa.Table] = {}  # by micro-batch
    with (
        tempfile.TemporaryDirectory() as scratch,
        screen.progress("Spark", lambda _: _so_far(arrived)),
        spark_session(master) as spark,
    ):
        source = placed(part, pa.int64(), demo_air.schema(), True, Path(scratch) / "filters")
        task = NotifyTask(source, "number")
        start = time.perf_counter()
        _stream(spark, task, publications, Path(scratch), arrived)
        duration = time.perf_counter() - start
    notifications = pa.concat_tables(arrived.values()).sort_by(_ORDER)
    if not notifications.equals(expected):
        raise RuntimeError(
            f"Spark gave {notifications.num_rows} notifications, the inline runner"
            f" {expected.num_rows}, and they differ"
        )
    figures = demo_view.Figures(
        publications=publications.num_rows,
        refused=validate(publications.to_batches()[0], demo_air.schema()).dead_letters,
        subscriptions=len(subscriptions),
        matches=len(pc.list_flatten(notifications.column("subscription_ids"))),
        notifications=notifications.num_rows,
        micro_batches=len(arrived),
        seconds=duration,
        index="columnar",
    )
    demo_view.show_arrivals(out, notifications, publications, subscriptions)
    demo_view.show_figures(out, figures)
    demo_view.show_next(out, folder)


def _so_far(arrived: dict[int, pa.Table]) -> str:
    if not arrived:
        return "starting"
    notifications = sum(table.num_rows for table in arrived.values())
    return f"micro-batch {len(arrived)} of {_FILES}, {screen.count(notifications, 'notification')}"


def _stream(
    spark: "SparkSession",
    task: NotifyTask,
    publications: pa.Table,
    scratch: Path,
    arrived: dict[int, pa.Table],
) -> None:
    """Matches the publications as files of them arrive; fills `arrived` with notifications."""
    from wherecast.pipeline import spark_runner

    incoming = scratch / "incoming"
    incoming.mkdir()
    rows = -(-publications.num_rows // _FILES)
    for number in range(_FILES):
        pq.write_table(publications.slice(number * rows, rows), incoming / f"{number}.parquet")
    columns = spark.read.parquet(str(incoming)).schema
    source = spark.readStream.schema(columns).option("maxFilesPerTrigger", 1)
    notifications = spark_runner.run(task, source.parquet(str(incoming)), _COLUMNS)

    def collect(frame: "DataFrame", batch: int) -> None:
        arrived[batch] = spark_runner.to_arrow(frame).cast(NOTIFICATIONS)

    sink = notifications.writeStream.foreachBatch(collect).trigger(availableNow=True)
    sink.option("checkpointLocation", str(scratch / "checkpoint")).start().awaitTermination()


def _inline(task: NotifyTask, publications: pa.Table) -> pa.Table:
    """What the inline runner gives."""
    batches = inline.run(task, publications.to_batches())
    return pa.Table.from_batches(batches, NOTIFICATIONS).sort_by(_ORDER)


def _folder(directory: Path | None) -> Path:
    """Where the demo leaves its files: one place per user, used again by the next run."""
    folder = directory or Path(tempfile.gettempdir()) / f"wherecast-demo-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "permission denied")
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {error.strerror}") from None
    return folder


def _write_files(folder: Path, publications: pa.Table, subscriptions: list[Subscription]) -> None:
    """The same world as files for the other commands."""
    (folder / "air.toml").write_text(demo_air.SCHEMA, encoding="utf-8")
    with (folder / "filters.jsonl").open("wb") as file:
        for s in subscriptions:
            file.write(orjson.dumps({"id": f"{s.subscriber}/{s.id}", "filter": s.filter}) + b"\n")
    readings = publications.drop_columns(["number"])
    with open_output(folder / "readings.jsonl", readings.schema) as output:
        for batch in readings.to_batches():
            output.write(batch)
