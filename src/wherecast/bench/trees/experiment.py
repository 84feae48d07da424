"""`wherecast bench trees`: the BE-Tree and the covering forest beside other kinds of index."""

from collections.abc import Iterator

import pyarrow as pa

from wherecast.bench.case import batch_of, filters_of
from wherecast.bench.choice import check_choice
from wherecast.bench.matching.updates import BULK, SINGLES, updates
from wherecast.bench.measured import Measured, WrongResult
from wherecast.bench.pictures import Panel, lines_of
from wherecast.bench.progress import Doing, Row, View
from wherecast.bench.trees.cases import CASES, TreesCase, cases
from wherecast.bench.trees.changes import tree_changes
from wherecast.bench.trees.engines import measure
from wherecast.bench.trees.published_figures import published_rows
from wherecast.bench.trees.singles import single_changes

TITLE = "Trees: publications matched and filters changed, by kind of index"
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
    """A row per case and kind of index, then a row per published figure.

    Args:
        size: the largest number of filters per case; None is 100,000.
        seed: the seed of the workloads.
        only: one workload; None is all of them.

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
    yield from published_rows(every)


def _case(case: TreesCase, seed: int) -> Iterator[Row | Doing]:
    """The rows of one case; all kinds must find the same matches."""
    workload = case.make(seed)
    drawn = filters_of(workload, case.filters + (BULK + SINGLES if case.changes else 0))
    filters, more = drawn.slice(0, case.filters), drawn.slice(case.filters)
    batch = batch_of(workload, case.publications)
    first: Measured | None = None
    for kind in case.kinds:
        yield Doing(f"{case.about}: {kind}")
        found = measure(case, kind, workload.schema, filters, batch)
        first = first or found
        _agree(case, first, found)
        row = {**found.row, "hash": found.hash_of(found.row["publications"])}
        row["expected"] = workload.matches_per_publication(case.filters)
        if case.changes and kind in ("betree", "forest"):
            yield Doing(f"{case.about}: changes of {kind}")
            row |= updates(workload.schema, filters, more, batch, kind)
            row |= tree_changes(kind, workload.schema, filters, more, batch)
            row |= single_changes(kind, workload.schema, filters, more, batch)
        yield row


def _agree(case: TreesCase, one: Measured, other: Measured) -> None:
    """Raises WrongResult if two kinds found different matches on their common publications."""
    rows = min(one.row["publications"], other.row["publications"])
    if one.hash_of(rows) != other.hash_of(rows):
        kinds = one.row["engine"], other.row["engine"]
        raise WrongResult(
            f"{case.about}, {rows:,} publications:"
            f" {kinds[0]} and {kinds[1]} found different matches"
        )


def panels(rows: list[Row]) -> list[Panel]:
    """Time per publication against the number of filters: a panel per workload."""
    timed = [row for row in rows if "µs/publication" in row]
    names = dict.fromkeys(row["what"] for row in timed)
    return [lines_of((row for row in timed if row["what"] == n), n, "engine") for n in names]
