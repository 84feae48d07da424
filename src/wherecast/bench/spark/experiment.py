"""`wherecast bench spark`: `match` beside the joins that users write today, on two cores."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from wherecast.bench.choice import check_choice
from wherecast.bench.progress import Doing, Row, View
from wherecast.bench.spark import engines as engines
from wherecast.bench.spark.cases import NAMES, SCALE, Case, cases
from wherecast.pipeline.spark.session import spark_session
from wherecast.pipeline.spark.warm_up import warm_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TITLE = "Spark: match beside the joins that users write, two cores, into Spark's noop sink"
MASTER = "local[2]"
_OPTIONS = {"spark.driver.memory": "6g"}  # joins broadcast millions of rows
VIEWS = (
    View("first result seconds", {
        "what": "what", "filters": "filters", "publications": "pubs", "matches": "matches",
        "compile seconds": "compile s", "first result seconds": "first result s",
        "index bytes/filter": "index B/filter",
    }),
    View("transfer seconds", {
        "what": "what", "output": "output", "seconds": "s", "best seconds": "best s",
        "transfer seconds": "transfer s", "transfer share": "share", "read seconds": "read s",
        "sent bytes/publication": "B out/pub", "received bytes/publication": "B in/pub",
        "worker MiB": "worker MiB", "worker private MiB": "private",
    }),
    View("publications/s", {
        "what": "what", "engine": "engine", "output": "output", "filters": "filters",
        "publications": "pubs", "matches/publication": "match/pub", "publications/s": "pubs/s",
        "match rows/s": "rows/s", "times arrays": "× arrays", "times rows": "× rows",
    }),
)  # fmt: skip
_COLOURS = {"match": "#4477aa", "range": "#ee6677", "cells": "#ccbb44"}


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row | Doing]:
    """A row per case and engine; one that found other matches than `match` ends the run.

    Args:
        size: the most filters of a case, with at most 50 times as many publications; None is
            the size that its targets are stated for.
        seed: of the workloads.
        only: one workload or case, or `scale`; None is all but that.

    Raises:
        WrongResult: two results differ.
    """
    check_choice("workload", only, NAMES)
    for case in cases(size, only):
        yield Doing(f"{_about(case)}: starting Spark")
        with (
            TemporaryDirectory(prefix="wherecast-bench-") as home,
            spark_session(MASTER, options=_OPTIONS) as spark,  # new workers, so their memory is too
        ):
            warm_up(spark, Path(home))  # what the start takes is no part of a first result
            for step in _case(case, spark, Path(home), seed):
                yield step if isinstance(step, Doing) else {**step, **_ran_on(spark)}


def _case(case: Case, spark: "SparkSession", home: Path, seed: int) -> Iterator[Row | Doing]:
    """The rows of one case, `match` first."""
    yield Doing(f"{_about(case)}: drawing")
    bench = engines.bench_of(case, spark, home, seed)
    yield Doing(f"{_about(case)}: first result")
    row, filters = engines.first_result(bench)
    yield row
    matching = engines.Matching(bench, filters)
    for output in case.outputs:
        yield Doing(f"{_about(case)}: match, {output}")
        yield matching.measure(output)
    for join in case.joins:
        yield Doing(f"{_about(case)}: {join.name}")
        yield engines.joined(bench, join, matching)


def _about(case: Case) -> str:
    return f"{case.what}, {case.filters:,} filters"


def _ran_on(spark: "SparkSession") -> Row:
    context = spark.sparkContext
    jvm: Any = context._jvm
    return {
        "spark": spark.version,
        "java": jvm.java.lang.System.getProperty("java.version"),
        "master": context.master,
    }


def draw(rows: list[Row], path: Path) -> None:
    """Publications per second: a bar per engine and output, and lines for the scale series."""
    from matplotlib.figure import Figure

    timed = [row for row in rows if "publications/s" in row]
    series = [row for row in timed if row["what"].startswith(SCALE)]
    names = dict.fromkeys(row["what"] for row in timed)
    figure = Figure(figsize=(5.5 * max(1, len(names)), 4), layout="constrained")
    for place, what in enumerate(names):
        axes = figure.add_subplot(1, len(names), place + 1)
        some = [row for row in timed if row["what"] == what]
        (_lines if some[0] in series else _bars)(axes, some)
        axes.set_title(what, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def _bars(axes: Any, rows: list[Row]) -> None:
    shown = [(f"{row['engine']}, {row['output']}", row["publications/s"]) for row in rows][::-1]
    names, rates = zip(*shown, strict=True)
    colours = [_colour(name) for name in names]
    axes.bar_label(axes.barh(names, rates, color=colours), [f" {rate:,.0f}" for rate in rates])
    axes.set_xscale("log")
    axes.set_xlim(min(rates) / 4, max(rates) * 8)
    axes.set_xlabel("publications per second")


def _lines(axes: Any, rows: list[Row]) -> None:
    for name in dict.fromkeys(row["engine"] for row in rows):
        points = [(row["filters"], row["publications/s"]) for row in rows if row["engine"] == name]
        axes.plot(*zip(*points, strict=True), marker="o", label=name, color=_colour(name))
    axes.set(xscale="log", yscale="log", xlabel="filters", ylabel="publications per second")
    axes.legend(frameon=False, fontsize="small")


def _colour(name: str) -> str:
    return next((shade for start, shade in _COLOURS.items() if name.startswith(start)), "#228833")
