"""The CPU time of single changes of a tree, with matches in between."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from time import thread_time

import pyarrow as pa

from wherecast.bench.matching.updates import ROUND
from wherecast.bench.progress import Row
from wherecast.matching import Index
from wherecast.model import Schema

_ROUNDS_MAX = 50


def single_changes(
    kind: str, schema: Schema, filters: pa.Table, more: pa.Table, batch: pa.RecordBatch
) -> Row:
    """The time of a change through the public index, and of the match after each round.

    The match after an addition inserts the filter into the tree. The rates include the matches,
    one publication per change.

    Args:
        kind: `betree` or `forest`.
        schema: the schema of filters and publications.
        filters: the filters that stay in the index.
        more: filters with other ids, which are added and removed.
        batch: the publications of a match.
    """
    index, few = Index(schema, kind), batch.slice(0, ROUND)
    index.add_all(filters)
    index.match(few)
    ids, texts = more.column("id").to_pylist(), more.column("filter").to_pylist()
    parts = [slice(start, start + ROUND) for start in range(0, len(ids) - ROUND + 1, ROUND)]
    match = partial(index.match, few)
    found: Row = {}
    for name, changes in (
        ("add", [partial(index.add, *pair) for pair in zip(ids, texts, strict=True)]),
        ("remove", [partial(index.remove, id) for id in ids]),
    ):
        rounds = [(_seconds(changes[part]), _seconds([match])) for part in parts[:_ROUNDS_MAX]]
        both = sorted(sum(pair) for pair in rounds)
        found[f"{name}, CPU µs"] = median(own for own, _ in rounds) / ROUND * 1e6
        found[f"match after {name}, CPU µs"] = median(after for _, after in rounds) / ROUND * 1e6
        found[f"{name}s/CPU s"] = ROUND / median(both)
        found[f"best {name}s/CPU s"] = ROUND / both[0]
    return found


def _seconds(steps: Sequence[Callable[[], object]]) -> float:
    """The CPU seconds of several steps."""
    started = thread_time()
    for step in steps:
        step()
    return thread_time() - started
