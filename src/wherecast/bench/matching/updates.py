"""The speed of adding and removing filters between matches, through the public index."""

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import Any

import pyarrow as pa

from wherecast.matching import Index
from wherecast.model import Schema

BULK = 10_000
ROUND = 100  # single changes before each match, and publications in it
SINGLES = 10_000
_SECONDS_MAX = 2.0


def updates(
    schema: Schema,
    filters: pa.Table,
    more: pa.Table,
    batch: pa.RecordBatch,
    kind: str = "columnar",
) -> Any:
    """The rates of changes to an index; times include the match that shows the change.

    Args:
        schema: the schema of filters and publications.
        filters: the filters that stay in the index.
        more: filters with other ids, which are added and removed.
        batch: the publications of a match.
        kind: the kind of the index.
    """
    few = batch.slice(0, ROUND)
    index = Index(schema, kind)
    started = perf_counter()
    index.add_all(filters)
    index.match(few)
    first = perf_counter() - started
    bulk, singles = more.slice(0, BULK), more.slice(BULK, SINGLES)
    added = _seconds(lambda: index.add_all(bulk), index, few)
    removed = _seconds(lambda: index.remove_all(bulk.column("id").to_pylist()), index, few)
    pairs = list(
        zip(singles.column("id").to_pylist(), singles.column("filter").to_pylist(), strict=True)
    )
    adds, add_seconds = _singles([partial(index.add, *pair) for pair in pairs], index, few)
    gone = [partial(index.remove, id) for id, _ in pairs[:adds]]
    removes, remove_seconds = _singles(gone, index, few)
    return {
        "text to first match, s": first,
        "bulk adds/s": len(bulk) / added,
        "bulk removes/s": len(bulk) / removed,
        "single adds/s": adds / add_seconds,
        "single removes/s": removes / remove_seconds,
    }


def _seconds(change: Callable[[], object], index: Index, batch: pa.RecordBatch) -> float:
    started = perf_counter()
    change()
    index.match(batch)
    return perf_counter() - started


def _singles(
    changes: Sequence[Callable[[], None]], index: Index, batch: pa.RecordBatch
) -> tuple[int, float]:
    """Makes changes with a match after every `ROUND`; returns their number and the seconds."""
    started, done = perf_counter(), 0
    while done < len(changes) and (not done or perf_counter() - started < _SECONDS_MAX):
        for change in changes[done : done + ROUND]:
            change()
        done = min(len(changes), done + ROUND)
        index.match(batch)
    return done, perf_counter() - started
