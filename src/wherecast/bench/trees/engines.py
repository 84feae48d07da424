"""Measuring one kind of index on one case, through the public index."""

from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.bench.matching.engines import pair_hash
from wherecast.bench.progress import Row
from wherecast.bench.trees.cases import Case
from wherecast.matching import Index, Matches
from wherecast.model import Schema

_REPEATS = 5
_SCANNED = 50  # publications that the scan is given


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A kind of index on a case.

    Attributes:
        matches: of its publications.
        row: its figures.
    """

    matches: Matches
    row: Row

    def hash_of(self, rows: int) -> str:
        """A hash of the matches of the first publications."""
        ends = self.matches.offsets[: rows + 1]
        publications = np.repeat(np.arange(rows), np.diff(ends))
        ids = np.array(list(self.matches.ids), np.int64)
        return pair_hash(publications, ids[self.matches.indices[: int(ends[-1])]])


def measured(
    case: Case, kind: str, schema: Schema, filters: pa.Table, batch: pa.RecordBatch
) -> Measured:
    """The figures of a kind of index; compiling and reading of texts are outside of the times."""
    index = Index(schema, kind)
    given = batch.slice(0, _SCANNED) if kind == "scan" else batch
    warm = Index(schema, kind)
    warm.add_all(filters.slice(0, 200))
    warm.match(given.slice(0, 10))
    started = perf_counter()
    index.add_all(filters)
    index.match(given.slice(0, 10))
    build = perf_counter() - started
    before = index.stats()
    seconds = []
    for _ in range(_REPEATS if kind != "scan" else 1):
        started = perf_counter()
        matches = index.match(given)
        seconds.append(perf_counter() - started)
    row = _timed_row(case, kind, seconds, matches)
    figures = _tree_figures(index.stats(), before, case.filters, given.num_rows * len(seconds))
    return Measured(matches, {**row, "build/s": case.filters / build, **figures})


def _timed_row(case: Case, kind: str, seconds: list[float], matches: Matches) -> Row:
    middle, rows, found = median(seconds), len(matches), int(matches.offsets[-1])
    return {
        "what": case.what,
        "workload": case.workload,
        "options": dict(case.options),
        "engine": kind,
        "filters": case.filters,
        "publications": rows,
        "matches": found,
        "matches/publication": found / rows,
        "publications/s": rows / middle,
        "matches/s": found / middle,
        "µs/publication": middle / rows * 1e6,
        "best µs/publication": min(seconds) / rows * 1e6,
        "repeats": len(seconds),
    }


def _tree_figures(stats: dict[str, Any], before: dict[str, Any], filters: int, done: int) -> Row:
    """What a tree tells of itself; nothing for other kinds."""
    if "filters_checked" not in stats:
        return {}
    size = stats.get("tree_bytes", stats.get("forest_bytes"))
    return {
        "checked/publication": (stats["filters_checked"] - before["filters_checked"]) / done,
        "bytes/filter": (size + stats["store_bytes"]) / filters,
        "depth": stats["depth"],
        "covering ratio": stats.get("covering_ratio"),
    }
