"""`wherecast bench trees`: the BE-Tree and the covering forest beside the other kinds of index."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from wherecast.bench.choice import check_choice
from wherecast.bench.matching.cases import batch_of, filters_of
from wherecast.bench.matching.engines import WrongResult
from wherecast.bench.matching.updates import BULK, SINGLES, updates
from wherecast.bench.progress import Doing, Row, View
from wherecast.bench.trees.cases import CASES, Case, cases
from wherecast.bench.trees.changes import tree_changes
from wherecast.bench.trees.engines import Measured, measured
from wherecast.bench.trees.published import compared
from wherecast.bench.trees.singles import single_changes

TITLE = "Trees: publications matched and filters changed, by kind of index"
_COLOURS = {"betree": "#4477aa", "forest": "#228833", "columnar": "#ccbb44", "scan": "#999999"}
VIEWS = (
    View("publications/s", {
        "what": "what", "engine": "engine", "filters": "filters", "publications": "pubs",
        "matches/publication": "matches/pub", "publications/s": "pubs/s", "matches/s": "matches/s",
        "µs/publication": "µs/pub", "checked/publication": "checked/pub",
        "bytes/filter": "B/filter", "note": "note",
    }),
    View("depth", {
        "what": "what", "engine": "engine", "filters": "filters", "build/s": "build/s",
        "bulk adds/s": "bulk adds/s", "bulk removes/s": "bulk removes/s",
        "single adds/s": "single adds/s", "single removes/s": "single removes/s",
        "inserts/s": "inserts/s", "removes/s": "removes/s", "depth": "depth",
        "covering ratio": "covered",
    }),
    View("add, CPU µs", {
        "what": "what", "engine": "engine", "filters": "filters", "add, CPU µs": "add, CPU µs",
        "match after add, CPU µs": "match after it", "remove, CPU µs": "remove, CPU µs",
        "match after remove, CPU µs": "match after it ", "adds/CPU s": "adds/CPU s",
        "best adds/CPU s": "best", "removes/CPU s": "removes/CPU s", "best removes/CPU s": "best ",
    }),
    View("figure", {
        "figure": "figure", "what": "what", "filters": "filters", "published": "published",
        "measured": "measured", "differs": "what differs",
    }),
)  # fmt: skip


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row | Doing]:
    """A row per case and kind of index, then the published figures beside the measured ones.

    Args:
        size: the most filters of a case; None is 100,000.
        seed: of the workloads.
        only: one workload; None is all.

    Raises:
        WrongResult: two kinds of index disagree.
    """
    check_choice("workload", only, [case.what for case in CASES])
    pa.set_cpu_count(1)
    every: list[Row] = []
    for case in cases(size, only):
        for step in _case(case, seed):
            if isinstance(step, dict):
                every.append(step)
            yield step
    yield from compared(every)


def _case(case: Case, seed: int) -> Iterator[Row | Doing]:
    """The rows of one case; all kinds find the same."""
    workload = case.make(seed)
    drawn = filters_of(workload, case.filters + (BULK + SINGLES if case.changes else 0))
    filters, more = drawn.slice(0, case.filters), drawn.slice(case.filters)
    batch = batch_of(workload, case.publications)
    first: Measured | None = None
    for kind in case.kinds:
        yield Doing(f"{case.what}, {case.filters:,} filters: {kind}")
        found = measured(case, kind, workload.schema, filters, batch)
        first = first or found
        _agree(case, first, found)
        row = {**found.row, "hash": found.hash_of(found.row["publications"])}
        row["expected"] = workload.matches_per_publication(case.filters)
        if case.changes and kind in ("betree", "forest"):
            yield Doing(f"{case.what}, {case.filters:,} filters: changes of {kind}")
            row |= updates(workload.schema, filters, more, batch, kind)
            row |= tree_changes(kind, workload.schema, filters, more, batch)
            row |= single_changes(kind, workload.schema, filters, more, batch)
        yield row


def _agree(case: Case, one: Measured, other: Measured) -> None:
    """Raises where two kinds found other matches on the publications that both were given."""
    rows = min(one.row["publications"], other.row["publications"])
    if one.hash_of(rows) != other.hash_of(rows):
        kinds = one.row["engine"], other.row["engine"]
        raise WrongResult(
            f"{case.what}, {case.filters:,} filters, {rows:,} publications: {kinds[0]} and"
            f" {kinds[1]} found other matches"
        )


def draw(rows: list[Row], path: Path) -> None:
    """Time per publication against the number of filters: a panel per workload."""
    from matplotlib.figure import Figure

    timed = [row for row in rows if "µs/publication" in row]
    names = list(dict.fromkeys(row["what"] for row in timed))
    figure = Figure(figsize=(4.2 * max(1, len(names)), 3.8), layout="constrained")
    for place, name in enumerate(names):
        axes = figure.add_subplot(1, len(names), place + 1)
        axes.set_title(name, loc="left")
        for kind, colour in _COLOURS.items():
            own = sorted(
                (row["filters"], row["µs/publication"])
                for row in timed
                if row["what"] == name and row["engine"] == kind
            )
            if own:
                axes.plot(*zip(*own, strict=True), marker="o", label=kind, color=colour)
        _finish(axes, place == 0)
    figure.savefig(path, dpi=150)


def _finish(axes: Any, first: bool) -> None:
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("subscriptions")
    if first:
        axes.set_ylabel("µs per publication, one core")
        axes.legend(frameon=False, fontsize="small")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.10g}")
        axis.set_minor_formatter("")
    axes.grid(which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
