"""`wherecast match`: files in, a file of matches and one line of figures out."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import orjson
import pyarrow as pa

from wherecast.cli import screen
from wherecast.model import ConfigError, Schema
from wherecast.pipeline import inline
from wherecast.pipeline.files import open_publications, read_filters
from wherecast.pipeline.filters import FilterPart, OnBad, RejectedFilter, compile_part, loaded
from wherecast.pipeline.match_files import Runner, Tally, match_files
from wherecast.pipeline.place import placed
from wherecast.pipeline.session import spark_session
from wherecast.pipeline.tasks import FilterSource

_SHOWN_MAX = 3


@dataclass(frozen=True, slots=True)
class MatchOptions:
    """The options of the command, as it documents them."""

    filters: Path
    publications: Path
    output: Path
    schema: Path | None
    runner: Literal["spark", "inline"]
    master: str
    skip_bad_filters: bool
    json: bool


def run_match(options: MatchOptions) -> None:
    """Matches files.

    Raises:
        WherecastError: an option or a file is wrong.
    """
    for path in (options.filters, options.publications):
        if path.resolve() == options.output.resolve():
            raise ConfigError(f"{path} is read and cannot be written to")
    schema = None if options.schema is None else Schema.load(options.schema)
    publications = open_publications(options.publications, schema)
    on_bad: OnBad = "skip" if options.skip_bad_filters else "raise"
    table = read_filters(options.filters)
    part, rejected = compile_part(table, publications.schema, on_bad)
    compiled = _Compiled(part, table.schema.field("id").type, publications.schema)
    tally = Tally()
    with (
        _runner(options, compiled) as (runner, source),
        screen.progress("Matching", lambda: _so_far(tally)),
    ):
        start = time.perf_counter()
        match_files(publications, source, options.output, runner, tally)
        duration = time.perf_counter() - start
    _complain(tally, rejected)
    report = _as_json if options.json else _as_line
    print(report(options, len(part.part), rejected, tally, duration))


@dataclass(frozen=True, slots=True)
class _Compiled:
    """Filters, and what it takes to load or to place them."""

    part: FilterPart
    id_type: pa.DataType
    schema: Schema


@contextmanager
def _runner(options: MatchOptions, given: _Compiled) -> Iterator[tuple[Runner, FilterSource]]:
    """What does the matching, and the filters as it takes them."""
    if options.runner == "inline":
        part = given.part
        yield inline.run, loaded([part.part], part.kept, given.id_type, given.schema, False)
        return
    with spark_session(options.master) as spark, tempfile.TemporaryDirectory() as scratch:
        from wherecast.pipeline.spark_runner import run_on_files

        where = Path(scratch)
        source = placed(given.part, given.id_type, given.schema, False, where / "filters")
        yield run_on_files(spark, where), source


def _so_far(tally: Tally) -> str:
    publications = screen.count(tally.publications, "publication")
    return f"{publications}, {screen.count(tally.matches, 'match')}"


def _complain(tally: Tally, rejected: list[RejectedFilter]) -> None:
    """Says on standard error what was left out, with the first reasons."""
    err = screen.console(stderr=True)
    if rejected:
        err.print(f"{screen.count(len(rejected), 'filter')} left out:", soft_wrap=True)
        for bad in rejected[:_SHOWN_MAX]:
            err.print(f"  {bad.id!r}: {bad.error}", markup=False, soft_wrap=True)
    if tally.refused:
        err.print(f"{screen.count(tally.refused, 'publication')} refused:", soft_wrap=True)
        for letter in tally.dead_letters[:_SHOWN_MAX]:
            err.print(f"  row {letter.row + 1}: {letter.reason}", markup=False, soft_wrap=True)


def _as_line(
    options: MatchOptions,
    filters: int,
    rejected: list[RejectedFilter],
    tally: Tally,
    duration: float,
) -> str:
    publications = screen.count(tally.publications, "publication")
    refused = f" ({tally.refused:,} refused)" if tally.refused else ""
    bad = f" ({len(rejected):,} left out)" if rejected else ""
    return (
        f"{publications}{refused}, {screen.count(filters, 'filter')}{bad}:"
        f" {screen.count(tally.matches, 'match')} in {screen.seconds(duration)}"
        f" ({screen.rate(tally.publications, duration)} publications/s,"
        f" {screen.rate(tally.matches, duration)} matches/s) -> {options.output}"
    )


def _as_json(
    options: MatchOptions,
    filters: int,
    rejected: list[RejectedFilter],
    tally: Tally,
    duration: float,
) -> str:
    report = {
        "publications": tally.publications,
        "publications_refused": tally.refused,
        "filters": filters,
        "filters_rejected": len(rejected),
        "matches": tally.matches,
        "seconds": round(duration, 3),
        "publications_per_s": round(tally.publications / duration, 1),
        "matches_per_s": round(tally.matches / duration, 1),
        "runner": options.runner,
        "output": str(options.output),
    }
    return orjson.dumps(report).decode()
