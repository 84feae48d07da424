"""The speed of inserting and removing filters, read beforehand, between matches of a tree."""

from time import perf_counter

import pyarrow as pa

from wherecast.bench.matching.updates import ROUND
from wherecast.bench.progress import Row
from wherecast.matching.ids import Ids
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.forest.index import ForestIndex
from wherecast.model import Schema

TREES = {"betree": BETreeIndex, "forest": ForestIndex}
_ROUNDS_MAX = 50
_SECONDS_MAX = 2.0


def tree_changes(
    kind: str, schema: Schema, filters: pa.Table, more: pa.Table, batch: pa.RecordBatch
) -> Row:
    """The rates of insertion and removal; the time of a round includes a match.

    Args:
        kind: `betree` or `forest`.
        schema: the schema of filters and publications.
        filters: the filters that stay in the tree.
        more: filters with other ids, which are inserted and removed one by one within a round.
        batch: the publications of a match.
    """
    tree = TREES[kind](schema)
    tree.add_all(_ids(filters), tree.read(filters.column("filter").combine_chunks()), None)
    few = batch.slice(0, ROUND)
    tree.match(few)
    rounds = [more.slice(start, ROUND) for start in range(0, more.num_rows, ROUND)][:_ROUNDS_MAX]
    read = [tree.read(part.column("filter").combine_chunks()) for part in rounds]
    started, done = perf_counter(), 0
    for part, filters_read in zip(rounds, read, strict=True):
        tree.add_all(_ids(part), filters_read, None)
        tree.match(few)
        done += 1
        if perf_counter() - started > _SECONDS_MAX:
            break
    inserted = perf_counter() - started
    started = perf_counter()
    for part in rounds[:done]:
        for id in part.column("id").to_pylist():
            tree.remove_all([id])
        tree.match(few)
    removed = perf_counter() - started
    count = sum(part.num_rows for part in rounds[:done])
    return {"inserts/s": count / inserted, "removes/s": count / removed}


def _ids(filters: pa.Table) -> Ids:
    return Ids(filters.column("id").combine_chunks())
