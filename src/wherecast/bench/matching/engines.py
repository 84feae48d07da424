"""Measuring one engine on one case: times, and the matches that prove them right."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.bench.matching.cases import Case
from wherecast.bench.matching.peers import PEERS, is_installed, numbered, pairs_of
from wherecast.language import PredicateTable, read_filters
from wherecast.matching import Index
from wherecast.matching.columnar.snapshot import Snapshot, SnapshotMatches, compiles
from wherecast.model import Schema

_REPEATS, _PEER_REPEATS = 7, 3
_SCANNED = 50  # publications that the scan is given
_T = TypeVar("_T")
Row = dict[str, Any]
Ints = npt.NDArray[np.int64]


class WrongResult(AssertionError):
    """An engine found other matches than the index."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """The index on a case: what the other engines are compared with.

    Attributes:
        table: the filters, read.
        found: the matches of the whole batch.
        row: its figures.
    """

    table: PredicateTable
    found: SnapshotMatches
    row: Row


def columnar(
    case: Case,
    schema: Schema,
    texts: pa.ChunkedArray,
    sample: pa.RecordBatch,
    batch: pa.RecordBatch,
) -> Measured:
    """The columnar index, planned with a sample, from text to the matches of a batch."""
    started = perf_counter()
    table = read_filters(texts, schema)
    read_seconds = perf_counter() - started
    assert not table.rejected
    first_seconds, snapshot = _timed(lambda: _built(table, sample))
    build_seconds, snapshot = _timed(lambda: _built(table, sample))
    snapshot.match(batch)  # what is compiled or paged in once is not the cost of a match
    seconds, found = _repeated(lambda: snapshot.match(batch), _REPEATS)
    rows = batch.num_rows
    tree_bytes = snapshot.packed_trees().nbytes if compiles() else None
    row = {
        **_figures(case, "columnar", rows, seconds, found.offsets[rows]),
        "hash": pair_hash(*_pairs(found.offsets, found.numbers)),
        "read seconds": read_seconds,
        "build seconds": build_seconds,
        "first build seconds": first_seconds,
        "bytes/filter": None if tree_bytes is None else tree_bytes / len(table),
        "table bytes/filter": table.nbytes / len(table),
        "blocks/publication": (found.inner + found.leaf) / rows,
        "inner/publication": found.inner / rows,
        "leaf/publication": found.leaf / rows,
        "checked/publication": found.checked / rows,
    }
    return Measured(table, found, row)


def scan(
    case: Case, schema: Schema, filters: pa.Table, batch: pa.RecordBatch, index: Measured
) -> Row:
    """The reference index on the first publications.

    Raises:
        WrongResult: it found other matches.
    """
    reference = Index(schema, "scan")
    reference.add_all(filters)  # their ids are their numbers
    first = batch.slice(0, _SCANNED)
    seconds, matches = _repeated(lambda: reference.match(first), _PEER_REPEATS)
    pairs = _pairs(matches.offsets, matches.indices)
    row = _figures(case, "scan", first.num_rows, seconds, len(pairs[0]))
    return {**row, **_compared(case, "scan", first.num_rows, pairs, index), **_ratio(row, index)}


def peer(case: Case, name: str, batch: pa.RecordBatch, index: Measured) -> Row:
    """Another engine on the first publications.

    Raises:
        WrongResult: it found other matches.
    """
    form = case.form
    assert form is not None
    if not is_installed(name):
        return {"what": case.what, "workload": case.workload, "engine": name,
                "filters": case.filters, "note": "not installed"}  # fmt: skip
    load_seconds, engine = _timed(lambda: PEERS[name](form, index.table, batch))
    first = numbered(batch.slice(0, case.sample))
    engine.match(first)
    seconds, found = _repeated(lambda: engine.match(first), _PEER_REPEATS)
    pairs = pairs_of(found)
    row = _figures(case, name, first.num_rows, seconds, found.num_rows)
    more = {"build seconds": load_seconds, "threads": engine.threads}
    return {
        **row, **_compared(case, name, first.num_rows, pairs, index), **more, **_ratio(row, index)
    }  # fmt: skip


def pair_hash(publications: Ints, numbers: Ints) -> str:
    """A hash of pairs of publication and filter number that does not depend on their order."""
    with np.errstate(over="ignore"):
        mixed = (publications.astype(np.uint64) << np.uint64(32)) | numbers.astype(np.uint64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        total = (mixed ^ (mixed >> np.uint64(31))).sum(dtype=np.uint64)
    return f"{int(total):016x}"


def _compared(case: Case, name: str, rows: int, pairs: tuple[Ints, Ints], index: Measured) -> Row:
    """The hash of what an engine found on the first publications; the index found the same."""
    ends = index.found.offsets[: rows + 1]
    expected = _pairs(ends, index.found.numbers[: ends[rows]])
    hashes = pair_hash(*pairs), pair_hash(*expected)
    if len(pairs[0]) != len(expected[0]) or hashes[0] != hashes[1]:
        raise WrongResult(
            f"{case.what}, {case.filters:,} filters, {rows:,} publications: {name} found"
            f" {len(pairs[0]):,} matches ({hashes[0]}), columnar {len(expected[0]):,} ({hashes[1]})"
        )
    return {"hash": hashes[0], "agrees with": "columnar"}


def _figures(case: Case, engine: str, rows: int, seconds: list[float], matches: int) -> Row:
    middle = median(seconds)
    return {
        "what": case.what,
        "workload": case.workload,
        "options": dict(case.options),
        "engine": engine,
        "filters": case.filters,
        "publications": rows,
        "matches": int(matches),
        "matches/publication": int(matches) / rows,
        "publications/s": rows / middle,
        "matches/s": int(matches) / middle,
        "µs/publication": middle / rows * 1e6,
        "best µs/publication": min(seconds) / rows * 1e6,
        "repeats": len(seconds),
    }


def _ratio(row: Row, index: Measured) -> Row:
    """How many times as long an engine takes per publication."""
    return {"times columnar": row["µs/publication"] / index.row["µs/publication"]}


def _pairs(offsets: Ints, numbers: npt.NDArray[np.int32]) -> tuple[Ints, Ints]:
    publications = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return publications, numbers.astype(np.int64)


def _built(table: PredicateTable, sample: pa.RecordBatch) -> Snapshot:
    snapshot = Snapshot.of(table)
    if compiles():
        snapshot.packed_trees([sample])
    return snapshot


def _timed(call: Callable[[], _T]) -> tuple[float, _T]:
    started = perf_counter()
    result = call()
    return perf_counter() - started, result


def _repeated(call: Callable[[], _T], times: int) -> tuple[list[float], _T]:
    """The seconds of each call, and the result of the last."""
    seconds, result = _timed(call)
    every = [seconds]
    for _ in range(times - 1):
        seconds, result = _timed(call)
        every.append(seconds)
    return every, result
