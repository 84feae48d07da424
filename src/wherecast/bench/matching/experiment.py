"""`wherecast bench matching`: publications matched per second, by workload, size and engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from wherecast.bench.choice import check_choice
from wherecast.bench.matching import engines as engines
from wherecast.bench.matching.cases import (
    SAMPLE,
    SCALE,
    SMALL,
    Case,
    batch_of,
    cases,
    filters_of,
    scale,
)
from wherecast.bench.matching.peers import PEERS
from wherecast.bench.matching.start import START, starts
from wherecast.bench.matching.updates import BULK, SINGLES, updates
from wherecast.bench.progress import Doing, Row, View
from wherecast.workloads import WORKLOADS

TITLE = "Matching: from a record batch to matches, one core; peers side by side"
_CASE = {"what": "what", "filters": "filters"}
VIEWS = (
    View("process seconds", {
        **_CASE, "publications": "pubs", "matches": "matches",
        "text to first match, s": "text to first match s", "process seconds": "process s",
    }),
    View("read seconds", {
        **_CASE, "read seconds": "read s", "first build seconds": "first build s",
        "build seconds": "build s", "bytes/filter": "index B/filter",
        "table bytes/filter": "table B/filter", "blocks/publication": "blocks/pub",
        "checked/publication": "checked/pub",
    }),
    View("bulk adds/s", {
        **_CASE, "text to first match, s": "text to first match s",
        "bulk adds/s": "bulk adds/s", "bulk removes/s": "bulk removes/s",
        "single adds/s": "single adds/s", "single removes/s": "single removes/s",
    }),
    View("workload", {
        "what": "what", "engine": "engine", "filters": "filters", "publications": "pubs",
        "matches/publication": "matches/pub", "publications/s": "pubs/s", "matches/s": "matches/s",
        "µs/publication": "µs/pub", "times columnar": "× columnar", "note": "note",
    }),
)  # fmt: skip
_COLOURS = {"columnar": "#4477aa", "duckdb": "#ee6677", "polars": "#228833", "scan": "#999999"}


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row | Doing]:
    """A row per case and engine; one that found other matches than the index ends the run.

    Args:
        size: the most filters of a case; None is the size that its targets are stated for.
        seed: of the workloads.
        only: one workload, `scale` or `start`; None is all.

    Raises:
        WrongResult: two engines disagree.
    """
    check_choice("workload", only, (*WORKLOADS, SCALE, START))
    pa.set_cpu_count(1)
    if only in (None, START):
        yield Doing("starting two processes, the first without compiled code")
        yield from starts(seed)
    for case in cases(size, only):
        yield from _case(case, seed)
    if only in (None, SCALE):
        for case in scale(size):
            yield from _case(case, seed)


def _case(case: Case, seed: int) -> Iterator[Row | Doing]:
    """The rows of one case, the index first."""
    about = f"{case.what}, {case.filters:,} filters"
    yield Doing(f"{about}: drawing")
    workload = case.make(seed)
    extra = BULK + SINGLES if case.whole else 0
    drawn = filters_of(workload, case.filters + extra)
    filters, more = drawn.slice(0, case.filters), drawn.slice(case.filters)
    publications = batch_of(workload, SAMPLE + case.publications)
    sample, batch = publications.slice(0, SAMPLE), publications.slice(SAMPLE)
    yield Doing(f"{about}: columnar")
    index = engines.columnar(case, workload.schema, filters.column("filter"), sample, batch)
    row = {**index.row, "expected": workload.matches_per_publication(case.filters)}
    if case.whole:
        yield Doing(f"{about}: adding and removing")
        row.update(updates(workload.schema, filters, more, batch))
    yield row
    if case.filters <= SMALL:
        yield Doing(f"{about}: scan")
        yield engines.scan(case, workload.schema, filters, batch, index)
    for name in PEERS if case.form else ():
        yield Doing(f"{about}: {name}")
        yield engines.peer(case, name, batch, index)


def draw(rows: list[Row], path: Path) -> None:
    """Time per publication against the number of filters: by workload, and by engine."""
    from matplotlib.figure import Figure

    timed = [row for row in rows if "µs/publication" in row]
    own = [row for row in timed if row["engine"] == "columnar" and row["what"] != SCALE]
    series = [row for row in timed if row["what"] == SCALE]
    panels = [
        (title, by, some)
        for title, by, some in (
            ("columnar, by workload", "what", own),
            ("bluedove at equal matches, by engine", "engine", series),
        )
        if some
    ]
    figure = Figure(figsize=(5.5 * max(1, len(panels)), 4.6), layout="constrained")
    for place, (title, by, some) in enumerate(panels):
        axes = figure.add_subplot(1, len(panels), place + 1)
        axes.set_title(title, loc="left")
        for name in dict.fromkeys(row[by] for row in some):
            _line(axes, [row for row in some if row[by] == name], name)
        _finish(axes)
    figure.savefig(path, dpi=150)


def _line(axes: Any, rows: list[Row], label: str) -> None:
    points = sorted((row["filters"], row["µs/publication"]) for row in rows)
    axes.plot(*zip(*points, strict=True), marker="o", label=label, color=_COLOURS.get(label))


def _finish(axes: Any) -> None:
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("subscriptions")
    axes.set_ylabel("µs per publication, one core")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.10g}")
        axis.set_minor_formatter("")
    axes.grid(which="major", color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
