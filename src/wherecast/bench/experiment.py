"""Running an experiment: rows on screen, JSON lines and a picture in a directory."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from wherecast.bench import language
from wherecast.bench.machine import facts
from wherecast.model import ConfigError
from wherecast.model.names import did_you_mean

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Options:
    """How an experiment is run.

    Attributes:
        size: how many filters it reads; None is the size that its targets are stated for.
        seed: the seed of its workloads.
        directory: where its JSON lines and its picture go.
        as_json: whether standard output gets JSON lines instead of a table.
    """

    size: int | None = None
    seed: int = 1
    directory: Path = Path("bench-results")
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class Experiment:
    """A named measurement: what it shows, its rows one by one, and its picture."""

    title: str
    rows: Callable[[int | None, int], Iterator[Row]]
    draw: Callable[[list[Row], Path], None]


EXPERIMENTS = {"language": Experiment(language.TITLE, language.rows, language.draw)}


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
    common = {"experiment": name, "seed": options.seed, "at": _now(), **facts()}
    console = Console(stderr=options.as_json)
    console.print(f"[bold]{experiment.title}[/bold]")
    rows: list[Row] = []
    lines = options.directory / f"{name}.jsonl"
    with lines.open("a", encoding="utf-8") as out:
        for row in experiment.rows(options.size, options.seed):
            rows.append(row)
            line = json.dumps({**row, **common})
            out.write(line + "\n")
            if options.as_json:
                print(line, flush=True)
            else:
                console.print(f"  {row['what']} …done", style="dim", highlight=False)
    picture = _picture(experiment, rows, options.directory / f"{name}.png", console)
    if not options.as_json:
        console.print(_table(rows))
        console.print(f"{common['cpu']}, {common['cores']} cores, seed {options.seed}")
        console.print(f"written to {lines}{picture}", highlight=False)
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


def _table(rows: list[Row]) -> Table:
    """The rows as a table, numbers to the right; units are in the column names."""
    table = Table()
    names = list(dict.fromkeys(name for row in rows for name in row))
    for name in names:
        numeric = any(isinstance(row.get(name), int | float) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_shown(row.get(name)) for name in names))
    return table


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
