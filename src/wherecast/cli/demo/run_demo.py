"""`wherecast demo`: many filters compared with a Spark join, then filters that change."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

from wherecast.cli import screen
from wherecast.cli.demo import air, batch_table, demo_screen, eras
from wherecast.cli.demo.eras import Era
from wherecast.cli.demo.join_comparison import Comparing
from wherecast.cli.demo.local_check import LocalCheck
from wherecast.cli.demo.micro_batches import ShownBatch, micro_batches
from wherecast.cli.demo.near_miss import nearest_miss
from wherecast.model import ConfigError, Subscription
from wherecast.model.errors import reason_of
from wherecast.pipeline.files import open_output
from wherecast.pipeline.spark.session import spark_session
from wherecast.pipeline.spark.session_status import Work, whereabouts, work
from wherecast.pipeline.stages.batch_stages import validate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS = air.PUBLICATIONS // air.MICRO_BATCHES


def run_demo(directory: Path | None, master: str) -> None:
    """Runs the demo.

    Raises:
        ConfigError: the directory cannot be written, or Spark does not start.
        RuntimeError: Spark and this process, or `match` and the join, disagree.
    """
    out = screen.console()
    folder = _folder(directory)
    demo_screen.show_start(out)
    publications = air.publications()
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        spark = _start_spark(out, master, scratch, stack)
        _compare(out, spark, scratch)
        results = _stream(out, spark, publications, scratch)
    refused = validate(publications.to_batches()[0], air.schema()).dead_letters
    demo_screen.show_stream_end(out, results, refused)
    demo_screen.show_near_miss(out, nearest_miss(_of_city(publications, "Zagreb"), air.NEAR_HOME))
    last, _ = results[-1]
    _write_files(folder, publications, last.subscriptions.values())
    demo_screen.show_next(out, folder)


def _of_city(publications: pa.Table, city: str) -> pa.Table:
    return publications.filter(pc.equal(publications.column("city"), city))


def _start_spark(out: Console, master: str, scratch: Path, stack: ExitStack) -> "SparkSession":
    """A session with running Python workers; prints the time of their start."""
    with screen.progress("Spark", lambda _: "starting", out=out):
        started = perf_counter()
        spark = stack.enter_context(spark_session(master))
        from wherecast.pipeline.spark.warm_up import warm_up

        warm_up(spark, scratch)
        seconds = perf_counter() - started
    demo_screen.show_spark(out, whereabouts(spark), seconds)
    return spark


def _compare(out: Console, spark: "SparkSession", scratch: Path) -> None:
    """Shows `match` compared with a range join of Spark."""
    demo_screen.show_join_title(out)
    queries = Comparing()
    with screen.progress("Spark", lambda now: _tasks(queries.step, now), lambda: work(spark), out):
        result = queries.run(spark, scratch)
    demo_screen.show_join(out, result)


def _stream(
    out: Console, spark: "SparkSession", publications: pa.Table, scratch: Path
) -> list[tuple[Era, ShownBatch]]:
    """Shows each micro-batch as it comes, and changes the filters between some of them."""
    from wherecast.spark import FilterSet

    demo_screen.show_stream_title(out)
    results: list[tuple[Era, ShownBatch]] = []
    changes = {change.after: change for change in air.changes()}
    parts = [publications.slice(start, _ROWS) for start in range(0, len(publications), _ROWS)]
    with screen.progress("Stream", lambda now: _so_far(results, now), lambda: work(spark), out):
        filters = FilterSet(scratch / "filters", schema=air.schema(), keep=eras.KEEP)
        era = eras.begin(filters, air.subscriptions())
        local = LocalCheck(era)
        batch_table.show_heading(out)
        with micro_batches(spark, filters, parts, scratch) as batches:
            for batch in batches:
                local.need_same(batch, parts[batch.number - 1])
                results.append((era, batch))
                batch_table.show_micro_batch(out, era, batch)
                change = changes.get(batch.number)
                if change is not None:
                    era = eras.change(filters, era, change)
                    local = LocalCheck(era)
                    batch_table.show_change(out, era, change)
    return results


def _so_far(results: list[tuple[Era, ShownBatch]], now: Work) -> str:
    return _tasks(f"micro-batch {len(results) + 1} of {air.MICRO_BATCHES}", now)


def _tasks(step: str, now: Work) -> str:
    return f"{step}, {now.finished} of {screen.count(now.total, 'task')}" if now.total else step


def _folder(directory: Path | None) -> Path:
    """The directory for the files of the demo: one per user, used again by the next run."""
    folder = directory or Path(tempfile.gettempdir()) / f"wherecast-demo-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "permission denied")
    except OSError as error:
        raise ConfigError(f"cannot write to {folder}: {reason_of(error)}") from None
    return folder


def _write_files(
    folder: Path, publications: pa.Table, subscriptions: Iterable[Subscription]
) -> None:
    """Writes the schema, the filters and the readings as files for the other commands."""
    (folder / "air.toml").write_text(air.SCHEMA, encoding="utf-8")
    with (folder / "filters.jsonl").open("wb") as file:
        for s in subscriptions:
            file.write(orjson.dumps({"id": eras.filter_id(s), "filter": s.filter}) + b"\n")
    readings = publications.drop_columns(["number"])
    with open_output(folder / "readings.jsonl", readings.schema) as output:
        for batch in readings.to_batches():
            output.write(batch)
