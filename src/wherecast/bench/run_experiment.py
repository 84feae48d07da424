"""Running an experiment: rows on screen, JSON lines and a picture in a directory."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import randbelow
from typing import Any, Literal, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from wherecast.bench.broker import experiment as broker
from wherecast.bench.language import experiment as language
from wherecast.bench.machine import facts
from wherecast.bench.matching import experiment as matching
from wherecast.bench.progress import Doing, Row, View
from wherecast.bench.server import experiment as server
from wherecast.bench.spark import experiment as spark
from wherecast.bench.trees import experiment as trees
from wherecast.model import ConfigError
from wherecast.model.names import did_you_mean

_SEED_END = 2**31
_NAMED = ("what", "engine", "output")  # what tells a row from the others

_FILE_COLUMNS = 160  # where no screen limits a table


@dataclass(frozen=True, slots=True)
class Options:
    """How an experiment is run.

    Attributes:
        size: how many filters it reads; None is the size that its targets are stated for.
        seed: the seed of its workloads; None draws one.
        directory: where its JSON lines and its picture go.
        as_json: whether standard output gets JSON lines instead of a table.
        only: the one workload that is measured; None is all.
    """

    size: int | None = None
    seed: int | None = None
    directory: Path = Path("bench-results")
    as_json: bool = False
    only: str | None = None


@dataclass(frozen=True, slots=True)
class Experiment:
    """A named measurement.

    Attributes:
        title: what it shows.
        rows: its rows one by one, by size, seed and workload.
        draw: its picture.
        views: its tables on screen; one with all columns where there are none.
    """

    title: str
    rows: Callable[[int | None, int, str | None], Iterator[Row | Doing]]
    draw: Callable[[list[Row], Path], None]
    views: tuple[View, ...] = ()


EXPERIMENTS = {
    "language": Experiment(language.TITLE, language.rows, language.draw),
    "matching": Experiment(matching.TITLE, matching.rows, matching.draw, matching.VIEWS),
    "trees": Experiment(trees.TITLE, trees.rows, trees.draw, trees.VIEWS),
    "spark": Experiment(spark.TITLE, spark.rows, spark.draw, spark.VIEWS),
    "broker": Experiment(broker.TITLE, broker.rows, broker.draw, broker.VIEWS),
    "server": Experiment(server.TITLE, server.rows, server.draw, server.VIEWS),
}


def run(name: str, options: Options = Options()) -> list[Row]:  # noqa: B008
    """Runs an experiment, shows its rows as they come and stores them.

    Raises:
        ConfigError: there is no such experiment, or the directory cannot be written.
    """
    experiment = EXPERIMENTS.get(name)
    if experiment is None:
        hint = did_you_mean(name, EXPERIMENTS) or f"there is {', '.join(EXPERIMENTS)}"
        raise ConfigError(f"unknown experiment {name}; {hint}")
    if options.size is not None and options.size < 1:
        raise ConfigError("the size is at least 1")
    try:
        options.directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write to {options.directory}: {error.strerror}") from None
    seed = randbelow(_SEED_END) if options.seed is None else options.seed
    common = {"experiment": name, "seed": seed, "at": _now(), **facts()}
    console = Console(stderr=options.as_json)
    if not console.is_terminal:
        console = Console(stderr=options.as_json, width=_FILE_COLUMNS)
    console.print(f"[bold]{experiment.title}[/bold], seed {seed}", highlight=False)
    lines = options.directory / f"{name}.jsonl"
    steps = experiment.rows(options.size, seed, options.only)
    with lines.open("a", encoding="utf-8") as out:
        rows = _stored(steps, common, out, options.as_json, console)
    picture = _picture(experiment, rows, options.directory / f"{name}.png", console)
    if not options.as_json:
        names = dict.fromkeys(name for row in rows for name in row)
        for view in experiment.views or (View("what", {name: name for name in names}),):
            shown = [row for row in rows if view.needs in row]
            if shown:
                console.print(_table(shown, view))
        console.print(f"{common['cpu']}, {common['cores']} cores, seed {seed}")
        console.print(f"written to {lines}{picture}", highlight=False)
    return rows


def _stored(
    steps: Iterator[Row | Doing], common: Row, out: TextIO, as_json: bool, console: Console
) -> list[Row]:
    """The rows, each written when it comes; a terminal shows what is done meanwhile."""
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


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _picture(experiment: Experiment, rows: list[Row], path: Path, console: Console) -> str:
    """Draws the picture where matplotlib is installed."""
    try:
        experiment.draw(rows, path)
    except ImportError:
        console.print("no picture: matplotlib is not installed", style="yellow")
        return ""
    return f" and {path}"


def _table(rows: list[Row], view: View) -> Table:
    """The rows as a table, numbers to the right; units are in the column names."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    names = [name for name in view.columns if any(row.get(name) is not None for row in rows)]
    for name in names:
        numeric = any(isinstance(row.get(name), int | float) for row in rows)
        justify: Literal["left", "right"] = "right" if numeric else "left"
        table.add_column(view.columns[name], justify=justify, overflow="fold", no_wrap=numeric)
    for row in rows:
        table.add_row(*(_shown(row.get(name)) for name in names))
    return table


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
