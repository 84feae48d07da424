"""`wherecast demo`: a stream on local Spark, filters that change while it runs, who heard what."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa
from rich.console import Console

from wherecast.cli import screen
from wherecast.cli.demo import demo_air, demo_eras, demo_table, demo_view
from wherecast.cli.demo.demo_eras import Era
from wherecast.cli.demo.demo_stream import ORDER, MicroBatch, micro_batches
from wherecast.model import ConfigError, Subscription
from wherecast.pipeline.files import open_output
from wherecast.pipeline.filters.loaded_filters import LoadedFilters, compile_subscriptions
from wherecast.pipeline.spark.session import spark_session
from wherecast.pipeline.spark.session_status import Work, whereabouts, work
from wherecast.pipeline.stages import inline_runner
from wherecast.pipeline.stages.batch_stages import NOTIFICATIONS, validate
from wherecast.pipeline.stages.batch_task import NotifyTask

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS = demo_air.PUBLICATIONS // demo_air.MICRO_BATCHES


def run_demo(directory: Path | None, master: str) -> None:
    """Runs the demo.

    Raises:
        ConfigError: its directory cannot be written, or Spark does not start.
        RuntimeError: Spark and the inline runner disagree.
    """
    out = screen.console()
    folder = _folder(directory)
    publications, subscriptions = demo_air.publications(), demo_air.subscriptions()
    demo_view.show_start(out, publications.num_rows, subscriptions)
    with screen.progress("Index", lambda _: "its first use compiles it", out=out):
        _notified(publications.slice(0, _ROWS), _compiled(subscriptions))
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with screen.progress("Spark", lambda _: "starting", out=out):
            spark = stack.enter_context(spark_session(master))
        where = whereabouts(spark)
        seen = _run(out, spark, publications, scratch)
    last, _ = seen[-1]
    _write_files(folder, publications, last.subscriptions.values())
    demo_view.show_arrivals(out, seen, publications)
    refused = validate(publications.to_batches()[0], demo_air.schema()).dead_letters
    demo_view.show_figures(out, seen, refused, where)
    demo_view.show_next(out, folder)


def _run(
    out: Console, spark: "SparkSession", publications: pa.Table, scratch: Path
) -> list[tuple[Era, MicroBatch]]:
    """Shows each micro-batch when it is there, and changes the filters between some of them."""
    from wherecast.spark import FilterSet

    seen: list[tuple[Era, MicroBatch]] = []
    waiting = {change.after: change for change in demo_air.changes()}
    parts = [publications.slice(start, _ROWS) for start in range(0, len(publications), _ROWS)]
    with screen.progress("Stream", lambda now: _so_far(seen, now), lambda: work(spark), out):
        filters = FilterSet(scratch / "filters", schema=demo_air.schema(), keep=demo_eras.KEEP)
        era = demo_eras.begin(filters, demo_air.subscriptions())
        compiled = _compiled(era.subscriptions.values())
        demo_table.show_heading(out)
        with micro_batches(spark, filters, parts, scratch) as batches:
            for batch in batches:
                _check(batch, era, parts[batch.number - 1], compiled)
                seen.append((era, batch))
                demo_table.show_micro_batch(out, era, batch)
                change = waiting.pop(batch.number, None)
                if change is not None:
                    era = demo_eras.change(filters, era, change)
                    compiled = _compiled(era.subscriptions.values())
                    demo_table.show_change(out, era, change)
    return seen


def _so_far(seen: list[tuple[Era, MicroBatch]], now: Work) -> str:
    number = f"micro-batch {len(seen) + 1} of {demo_air.MICRO_BATCHES}"
    return f"{number}, {now.finished} of {screen.count(now.total, 'task')}" if now.total else number


def _compiled(subscriptions: Iterable[Subscription]) -> LoadedFilters:
    return compile_subscriptions(subscriptions, demo_air.schema())


def _notified(readings: pa.Table, filters: LoadedFilters) -> pa.Table:
    """The notifications that the inline runner gives."""
    found = inline_runner.run(NotifyTask(filters, "number"), readings.combine_chunks().to_batches())
    return pa.Table.from_batches(found, NOTIFICATIONS).sort_by(ORDER)


def _check(batch: MicroBatch, era: Era, readings: pa.Table, filters: LoadedFilters) -> None:
    """Nothing where the inline runner gives the same with the subscriptions that are in force."""
    if batch.version != era.version:
        raise RuntimeError(
            f"micro-batch {batch.number} used version {batch.version} of the filters, and"
            f" {era.version} was the newest when it began"
        )
    expected = _notified(readings, filters)
    if not batch.notifications.equals(expected):
        raise RuntimeError(
            f"in micro-batch {batch.number} Spark gave {batch.notifications.num_rows}"
            f" notifications, the inline runner {expected.num_rows}, and they differ"
        )


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


def _write_files(
    folder: Path, publications: pa.Table, subscriptions: Iterable[Subscription]
) -> None:
    """The same world as files for the other commands."""
    (folder / "air.toml").write_text(demo_air.SCHEMA, encoding="utf-8")
    with (folder / "filters.jsonl").open("wb") as file:
        for s in subscriptions:
            file.write(orjson.dumps({"id": demo_eras.filter_id(s), "filter": s.filter}) + b"\n")
    readings = publications.drop_columns(["number"])
    with open_output(folder / "readings.jsonl", readings.schema) as output:
        for batch in readings.to_batches():
            output.write(batch)
