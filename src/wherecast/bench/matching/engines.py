"""Measures the columnar index, the scan and the peers on one case."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.bench.matching.cases import MatchingCase
from wherecast.bench.matching.peers import Peer, is_installed, numbered
from wherecast.bench.matching.peers import pairs_of as peer_pairs
from wherecast.bench.measured import (
    Ints,
    Measured,
    WrongResult,
    pair_hash,
    pairs_of,
    repeated,
    timed,
    timed_row,
)
from wherecast.bench.progress import Row
from wherecast.language import PredicateTable, read_filters
from wherecast.matching import Index
from wherecast.matching.columnar.snapshot import Snapshot, compiles
from wherecast.model import Schema

_REPEATS, _PEER_REPEATS = 7, 3
_SCANNED = 50  # publications that the scan matches
_OR = r"^(.*? AND )?\(?([^()]*) OR ([^()]*?)\)?$"
Batches = tuple[pa.RecordBatch, pa.RecordBatch]
"""Publications for the planner, and those that are matched."""


def read_table(texts: pa.ChunkedArray, schema: Schema) -> tuple[PredicateTable, float]:
    """The table of the filters, and the seconds that reading them took.

    Raises:
        WrongResult: a filter was refused.
    """
    seconds, table = timed(lambda: read_filters(texts, schema))
    if table.rejected:
        number, error = table.rejected[0]
        refused = f"{len(table.rejected):,} of {len(texts):,} filters were refused"
        raise WrongResult(f"{refused}, the first: {texts[number].as_py()}: {error}")
    return table, seconds


def columnar(
    case: MatchingCase, table: PredicateTable, sample: pa.RecordBatch, batch: pa.RecordBatch
) -> Measured:
    """Measures the columnar index, from the table to the matches; a sample guides the planner."""
    first_seconds, snapshot = timed(lambda: _build(table, sample))
    build_seconds, snapshot = timed(lambda: _build(table, sample))
    snapshot.match(batch)  # compiles and pages in before the measurement
    seconds, found = repeated(lambda: snapshot.match(batch), _REPEATS)
    rows = batch.num_rows
    numbers = found.numbers.astype("int64")
    tree_bytes = snapshot.packed_trees().nbytes if compiles() else None
    row = {
        **timed_row(case, "columnar", rows, seconds, found.offsets[rows]),
        "hash": pair_hash(*pairs_of(found.offsets, numbers)),
        "build seconds": build_seconds,
        "first build seconds": first_seconds,
        "bytes/filter": None if tree_bytes is None else tree_bytes / len(table),
        "table bytes/filter": table.nbytes / len(table),
        "blocks/publication": (found.inner + found.leaf) / rows,
        "inner/publication": found.inner / rows,
        "leaf/publication": found.leaf / rows,
        "checked/publication": found.checked / rows,
    }
    return Measured(found.offsets, numbers, row)


def scan(
    case: MatchingCase, schema: Schema, filters: pa.Table, batch: pa.RecordBatch, index: Measured
) -> Row:
    """The row of the reference index on the first publications.

    Raises:
        WrongResult: the matches differ from those of the columnar index.
    """
    reference = Index(schema, "scan")
    reference.add_all(filters)  # the id of a filter is its number
    first = batch.slice(0, _SCANNED)
    seconds, matches = repeated(lambda: reference.match(first), _PEER_REPEATS)
    pairs = pairs_of(matches.offsets, matches.indices.astype("int64"))
    row = timed_row(case, "scan", first.num_rows, seconds, len(pairs[0]))
    return {**row, **_compare(case, "scan", first.num_rows, pairs, index), **_ratio(row, index)}


def conjunctions(
    case: MatchingCase, texts: pa.ChunkedArray, schema: Schema, batches: Batches, index: Measured
) -> Row:
    """The row of the two conjunctions of each OR as filters of their own, both counted.

    Raises:
        WrongResult: the matched filters differ from those of the columnar index.
    """
    table, _ = read_table(split_either(texts), schema)
    sample, batch = batches
    found = columnar(case, table, sample, batch)
    publications, numbers = found.pairs(batch.num_rows)
    owners = np.unique(publications * len(texts) + numbers % len(texts))
    pairs = owners // len(texts), owners % len(texts)
    row = {**found.row, "engine": "conjunctions", "filters": case.filters}
    compared = _compare(case, "conjunctions", batch.num_rows, pairs, index)
    return {**row, **compared, **_ratio(row, index)}


def split_either(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The first conjunction of each `[… AND (]a OR b[)]`, and then the second of each."""
    parts = [pc.replace_substring_regex(texts, _OR, kept) for kept in (r"\1\2", r"\1\3")]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks])


def peer(
    case: MatchingCase, name: str, load: Callable[[], Peer], batch: pa.RecordBatch, index: Measured
) -> Row:
    """The row of another engine, once loaded, on the first publications.

    Raises:
        WrongResult: the matches differ from those of the columnar index.
    """
    if not is_installed(name):
        return {"what": case.what, "workload": case.workload, "engine": name,
                "filters": case.filters, "note": "not installed"}  # fmt: skip
    load_seconds, engine = timed(load)
    first = numbered(batch.slice(0, case.sample))
    engine.match(first)
    seconds, found = repeated(lambda: engine.match(first), _PEER_REPEATS)
    pairs = peer_pairs(found)
    row = timed_row(case, name, first.num_rows, seconds, found.num_rows)
    more = {"build seconds": load_seconds, "threads": engine.threads}
    return {
        **row, **_compare(case, name, first.num_rows, pairs, index), **more, **_ratio(row, index)
    }  # fmt: skip


def _compare(
    case: MatchingCase, name: str, rows: int, pairs: tuple[Ints, Ints], index: Measured
) -> Row:
    """The hash of the matches on the first publications.

    Raises:
        WrongResult: the matches differ from those of the columnar index.
    """
    expected = index.pairs(rows)
    hashes = pair_hash(*pairs), pair_hash(*expected)
    if len(pairs[0]) != len(expected[0]) or hashes[0] != hashes[1]:
        raise WrongResult(
            f"{case.what}, {case.filters:,} filters, {rows:,} publications: {name} found"
            f" {len(pairs[0]):,} matches ({hashes[0]}), columnar {len(expected[0]):,} ({hashes[1]})"
        )
    return {"hash": hashes[0], "agrees with": "columnar"}


def _ratio(row: Row, index: Measured) -> Row:
    """The time per publication, as a multiple of that of the columnar index."""
    return {"times columnar": row["µs/publication"] / index.row["µs/publication"]}


def _build(table: PredicateTable, sample: pa.RecordBatch) -> Snapshot:
    snapshot = Snapshot.of(table)
    if compiles():
        snapshot.packed_trees([sample])
    return snapshot
