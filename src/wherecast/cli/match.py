"""`wherecast match`: matches files, writes a file of matches, prints one line of figures."""

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson
import pyarrow as pa

from wherecast.cli import screen
from wherecast.model import ConfigError, Schema
from wherecast.model.times import current_micros, parse_time
from wherecast.pipeline.files import open_publications, read_filters
from wherecast.pipeline.files.match_files import Runner, Tally, match_files
from wherecast.pipeline.filters.blob_location import store_in_directory
from wherecast.pipeline.filters.filter_table import FilterPart, OnBad, RejectedFilter
from wherecast.pipeline.filters.loaded_filters import compile_part, with_columns
from wherecast.pipeline.spark.session import spark_session
from wherecast.pipeline.spark.session_status import Whereabouts, Work, whereabouts, work
from wherecast.pipeline.stages import inline_runner
from wherecast.pipeline.stages.batch_task import FilterSource

_SHOWN_MAX = 3


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """The options of the command; its help describes them."""

    filters: Path
    publications: Path
    output: Path
    schema: Path | None
    runner: Literal["spark", "inline"]
    master: str
    skip_bad_filters: bool
    json: bool
    now: str | None = None


def run_match(options: MatchOptions) -> None:
    """Matches files.

    Raises:
        WherecastError: an option or a file is invalid.
    """
    for path in (options.filters, options.publications):
        if path.resolve() == options.output.resolve():
            raise ConfigError(f"{path} is an input and cannot be the output too")
    now = current_micros() if options.now is None else _moment(options.now)
    schema = None if options.schema is None else Schema.load(options.schema)
    publications = open_publications(options.publications, schema)
    on_bad: OnBad = "skip" if options.skip_bad_filters else "raise"
    table = read_filters(options.filters)
    part, rejected = compile_part(table, publications.schema, on_bad)
    compiled = _Compiled(part, table.schema.field("id").type, publications.schema)
    tally = Tally()
    with (
        _runner(options, compiled) as runner,
        screen.progress("Matching", lambda now: _so_far(tally, now), runner.tasks),
    ):
        start = time.perf_counter()
        match_files(publications, runner.filters, options.output, runner.run, tally, now)
        duration = time.perf_counter() - start
    _complain(tally, rejected)
    report = _Report(options.output, len(part.part), len(rejected), tally, duration, runner.spark)
    print(report.to_json() if options.json else report)


def _moment(text: str) -> int:
    try:
        return parse_time(text)
    except ValueError as error:
        raise ConfigError(f"--now: {error}") from None


@dataclass(frozen=True, slots=True)
class _Compiled:
    """Compiled filters with the type of their ids and their schema."""

    part: FilterPart
    id_type: pa.DataType
    schema: Schema


@dataclass(frozen=True, slots=True)
class _Runner:
    """A runner with its filters.

    Attributes:
        run: runs a task.
        filters: the filters that the task loads.
        tasks: returns the Spark tasks that run now.
        spark: the Spark of the runner; None for this process.
    """

    run: Runner
    filters: FilterSource
    tasks: Callable[[], Work] = Work
    spark: "_StartedSpark | None" = None


@dataclass(frozen=True, slots=True)
class _StartedSpark:
    """A session with running Python workers, and the time of their start."""

    where: Whereabouts
    start_seconds: float


@contextmanager
def _runner(options: MatchOptions, given: _Compiled) -> Iterator[_Runner]:
    if options.runner == "inline":
        part = given.part
        filters = with_columns([part.part], part.kept, given.id_type, given.schema, False)
        yield _Runner(inline_runner.run, filters)
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        with screen.progress("Spark", lambda _: "starting"):
            start = time.perf_counter()
            spark = stack.enter_context(spark_session(options.master))
            from wherecast.pipeline.spark.warm_up import warm_up

            warm_up(spark, folder)
            started = _StartedSpark(whereabouts(spark), time.perf_counter() - start)
        from wherecast.pipeline.spark.spark_runner import run_on_files

        source = store_in_directory(
            given.part, given.id_type, given.schema, False, folder / "filters"
        )
        run = run_on_files(spark, folder)
        yield _Runner(run, source, lambda: work(spark), started)


def _so_far(tally: Tally, now: Work) -> str:
    publications = screen.count(tally.publications, "publication")
    if now.total:
        return f"{publications}, {now.finished:,} of {screen.count(now.total, 'Spark task')}"
    return f"{publications}, {screen.count(tally.matches, 'match')}"


def _complain(tally: Tally, rejected: list[RejectedFilter]) -> None:
    """Prints on standard error the numbers of bad filters and publications, with reasons."""
    err = screen.console(stderr=True)
    if rejected:
        err.print(f"{screen.count(len(rejected), 'filter')} left out:", soft_wrap=True)
        for bad in rejected[:_SHOWN_MAX]:
            err.print(f"  {bad.id!r}: {bad.error}", markup=False, soft_wrap=True)
    if tally.refused:
        err.print(f"{screen.count(tally.refused, 'publication')} refused:", soft_wrap=True)
        for letter in tally.dead_letters[:_SHOWN_MAX]:
            err.print(f"  row {letter.row + 1}: {letter.reason}", markup=False, soft_wrap=True)


@dataclass(frozen=True, slots=True)
class _Report:
    """The figures of a run; `spark` is None if this process matched."""

    output: Path
    filters: int
    rejected: int
    tally: Tally
    seconds: float
    spark: _StartedSpark | None

    def __str__(self) -> str:
        tally = self.tally
        refused = f" ({tally.refused:,} refused)" if tally.refused else ""
        bad = f" ({self.rejected:,} left out)" if self.rejected else ""
        where = "inline"
        if self.spark is not None:
            start = screen.seconds(self.spark.start_seconds)
            where = f"on {self.spark.where}, which took {start} more to start,"
        return (
            f"{screen.count(tally.publications, 'publication')}{refused},"
            f" {screen.count(self.filters, 'filter')}{bad}:"
            f" {screen.count(tally.matches, 'match')} in {screen.seconds(self.seconds)}"
            f" ({screen.rate(tally.publications, self.seconds)} publications/s,"
            f" {screen.rate(tally.matches, self.seconds)} matches/s) {where} -> {self.output}"
        )

    def to_json(self) -> str:
        """The same figures as a JSON object."""
        tally, spark = self.tally, self.spark
        report = {
            "publications": tally.publications,
            "publications_refused": tally.refused,
            "filters": self.filters,
            "filters_rejected": self.rejected,
            "matches": tally.matches,
            "seconds": round(self.seconds, 3),
            "publications_per_s": round(tally.publications / self.seconds, 1),
            "matches_per_s": round(tally.matches / self.seconds, 1),
            "runner": "inline" if spark is None else "spark",
            "spark_version": None if spark is None else spark.where.version,
            "spark_master": None if spark is None else spark.where.master,
            "spark_start_seconds": None if spark is None else round(spark.start_seconds, 3),
            "output": str(self.output),
        }
        return orjson.dumps(report).decode()
