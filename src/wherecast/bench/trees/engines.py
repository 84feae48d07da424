"""Measures one kind of index on one case, through the public index."""

from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.bench.measured import Measured, timed_row
from wherecast.bench.progress import Row
from wherecast.bench.trees.cases import TreesCase
from wherecast.matching import Index
from wherecast.model import Schema

_REPEATS = 5
_SCANNED = 50  # publications that the scan matches


def measure(
    case: TreesCase, kind: str, schema: Schema, filters: pa.Table, batch: pa.RecordBatch
) -> Measured:
    """The result of a kind of index; the times of matches do not include compilation."""
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
    row = timed_row(case, kind, given.num_rows, seconds, matches.offsets[-1])
    figures = _tree_figures(index.stats(), before, case.filters, given.num_rows * len(seconds))
    numbers = np.array(list(matches.ids), np.int64)[matches.indices]
    return Measured(matches.offsets, numbers, {**row, "build/s": case.filters / build, **figures})


def _tree_figures(stats: dict[str, Any], before: dict[str, Any], filters: int, done: int) -> Row:
    """The figures of a tree from its statistics; empty for other kinds."""
    if "filters_checked" not in stats:
        return {}
    size = stats.get("tree_bytes", stats.get("forest_bytes"))
    return {
        "checked/publication": (stats["filters_checked"] - before["filters_checked"]) / done,
        "bytes/filter": (size + stats["store_bytes"]) / filters,
        "depth": stats["depth"],
        "covering ratio": stats.get("covering_ratio"),
    }
