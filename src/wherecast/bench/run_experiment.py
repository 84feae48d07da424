"""Runs an experiment: rows on screen, JSON lines and a picture in a directory."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import randbelow
from typing import TextIO

from rich.console import Console

from wherecast.bench.choice import check_choice
from wherecast.bench.experiments import EXPERIMENTS, Experiment
from wherecast.bench.machine import facts
from wherecast.bench.pictures import save_picture
from wherecast.bench.progress import Doing, Row
from wherecast.bench.row_tables import show_tables
from wherecast.model import ConfigError
from wherecast.model.errors import reason_of

_SEED_END = 2**31
_NAMED = ("what", "engine", "output")  # the columns that identify a row
_FILE_COLUMNS = 160  # width of tables that do not go to a terminal


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a run.

    Attributes:
        size: the largest number of filters or publications; None is the size of the targets.
        seed: the seed of the workloads; None draws a random seed.
        directory: the directory for JSON lines and the picture.
        as_json: whether standard output gets JSON lines instead of tables.
        only: the one case or workload to measure; None is all.
    """

    size: int | None = None
    seed: int | None = None
    directory: Path = Path("bench-results")
    as_json: bool = False
    only: str | None = None


def run(name: str, options: Options = Options()) -> list[Row]:  # noqa: B008
    """Runs an experiment; shows and stores each row as it comes.

    Raises:
        ConfigError: the experiment is unknown, or the directory cannot be written.
    """
    check_choice("experiment", name, EXPERIMENTS)
    experiment = EXPERIMENTS[name]
    if options.size is not None and options.size < 1:
        raise ConfigError("the size is at least 1")
    _make_directory(options.directory)
    seed = randbelow(_SEED_END) if options.seed is None else options.seed
    at = datetime.now(UTC).isoformat(timespec="seconds")
    common = {"experiment": name, "seed": seed, "at": at, **facts()}
    console = _console(options.as_json)
    console.print(f"[bold]{experiment.title}[/bold], seed {seed}", highlight=False)
    lines = options.directory / f"{name}.jsonl"
    steps = experiment.rows(options.size, seed, options.only)
    with lines.open("a", encoding="utf-8") as out:
        rows = _store_rows(steps, common, out, options.as_json, console)
    picture = _picture(experiment, rows, common, options.directory / f"{name}.png", console)
    if not options.as_json:
        show_tables(console, rows, experiment.views)
        console.print(_machine(common))
        console.print(f"written to {lines}{picture}", highlight=False)
    return rows


def _make_directory(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write to {directory}: {reason_of(error)}") from None


def _console(as_json: bool) -> Console:
    """The console on standard output, or on standard error if JSON lines go to the output."""
    console = Console(stderr=as_json)
    return console if console.is_terminal else Console(stderr=as_json, width=_FILE_COLUMNS)


def _store_rows(
    steps: Iterator[Row | Doing], common: Row, out: TextIO, as_json: bool, console: Console
) -> list[Row]:
    """Writes each row as it comes; a terminal shows the current step. Returns the rows."""
    rows: list[Row] = []
    with console.status("") as status:
        for step in steps:
            if isinstance(step, Doing):
                status.update(step.what)
                continue
            rows.append(step)
            line = json.dumps({**step, **common})
            out.write(line + "\n")
            out.flush()
            if as_json:
                print(line, flush=True)
            else:
                about = ", ".join(str(step[key]) for key in _NAMED if key in step)
                console.print(f"  {about} …done", style="dim", highlight=False)
    return rows


def _machine(common: Row) -> str:
    return f"{common['cpu']}, {common['cores']} cores, seed {common['seed']}"


def _picture(
    experiment: Experiment, rows: list[Row], common: Row, path: Path, console: Console
) -> str:
    """Draws the picture if matplotlib is installed; returns the end of a message about it."""
    panels = experiment.panels(rows)
    if not panels:
        return ""
    caption = f"{_machine(common)}, {common['at'][:10]}, commit {common['commit'] or 'unknown'}"
    try:
        save_picture(panels, caption, path)
    except ImportError:
        missing = "no picture: matplotlib is not installed; pip install 'wherecast[bench]'"
        console.print(missing, style="yellow", markup=False)
        return ""
    return f" and {path}"
