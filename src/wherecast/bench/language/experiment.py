"""`wherecast bench language`: the speed of reading filters, by shape and one by one."""

from collections.abc import Callable, Iterator
from functools import partial
from statistics import median, quantiles
from time import perf_counter, process_time

import pyarrow as pa

from wherecast.bench.case import batch_of, filters_of
from wherecast.bench.choice import check_choice
from wherecast.bench.matching.peers import is_installed, numbered
from wherecast.bench.matching.peers import pairs_of as peer_pairs
from wherecast.bench.matching.text_peers import TEXT_PEERS, TextForm
from wherecast.bench.measured import WrongResult, pair_hash, pairs_of
from wherecast.bench.pictures import Panel, bars_of
from wherecast.bench.progress import Row
from wherecast.language import Filter, PredicateTable, read_filters
from wherecast.matching import Index
from wherecast.workloads import Workload, alerts_or, bluedove, mixed, rules

TITLE = "Reading filters: a column by shape, filters one by one, and new shapes"
_SIZE = 1_000_000
_ALONE = 5_000
_NEW_SHAPES = 1_000
_FIRST = 100  # publications of a first match
_WORKLOADS: dict[str, Callable[[int], Workload]] = {
    "bluedove": bluedove,
    "mixed": mixed,
    "alerts_or": partial(alerts_or, cities=2_500),
    "rules": rules,
}
_MANY_SHAPES = ("mixed", "rules")
_FORMS: dict[str, TextForm] = {"alerts_or": "either", "rules": "rules"}
"""The form in which DuckDB judges the first matches of a workload."""


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row]:
    """A row per way of reading, with the number of shapes and a checksum of the result.

    Args:
        size: the number of filters; None is the size of the targets.
        seed: the seed of the workloads.
        only: one workload; None is all that the language reads.

    Raises:
        WrongResult: the first matches are not those of the peer.
    """
    pa.set_cpu_count(1)
    count = size or _SIZE
    check_choice("workload", only, _WORKLOADS)
    for name, make in _WORKLOADS.items():
        if only not in (None, name):
            continue
        workload = make(seed)
        texts = _texts(workload, count)
        yield _by_shape(workload, texts)
        yield _alone(workload, texts.slice(0, min(_ALONE, count)))
        if name in _FORMS:
            yield to_first_match(workload, count)
        if name in _MANY_SHAPES:
            yield _new_shapes(workload, min(_NEW_SHAPES, count))


def _texts(workload: Workload, count: int) -> pa.ChunkedArray:
    return pa.Table.from_batches(workload.filters(count)).column("filter")


def _by_shape(workload: Workload, texts: pa.ChunkedArray) -> Row:
    started, used = perf_counter(), process_time()
    table = read_filters(texts, workload.schema)
    seconds, cpu_seconds = perf_counter() - started, process_time() - used
    return _row(f"{workload.name}, by shape", table, seconds, cpu_seconds)


def _alone(workload: Workload, texts: pa.ChunkedArray) -> Row:
    """The same filters one by one, to show the gain of reading by shape."""
    plain = texts.to_pylist()
    started, used = perf_counter(), process_time()
    for text in plain:
        Filter(text, workload.schema)
    seconds, cpu_seconds = perf_counter() - started, process_time() - used
    table = read_filters(plain, workload.schema)
    return _row(f"{workload.name}, one by one", table, seconds, cpu_seconds)


def to_first_match(workload: Workload, count: int) -> Row:
    """Filters from text into an index, and the matches of some publications, proved by DuckDB.

    Raises:
        WrongResult: DuckDB finds other matches.
    """
    filters, batch = filters_of(workload, count), batch_of(workload, _FIRST)
    started, used = perf_counter(), process_time()
    index = Index(workload.schema)
    index.add_all(filters)
    read = perf_counter()
    matches = index.match(batch)
    seconds, cpu_seconds = perf_counter() - started, process_time() - used
    pairs = pairs_of(matches.offsets, matches.indices.astype("int64"))  # an id is a number
    row = {
        "what": f"{workload.name}, to the first match",
        "filters": count,
        "seconds": seconds,
        "cpu seconds": cpu_seconds,
        "filters/s": count / seconds,
        "add seconds": read - started,
        "publications": _FIRST,
        "matches": len(matches.indices),
        "expected": workload.matches_per_publication(count) * _FIRST,
        "hash": pair_hash(*pairs),
    }
    if not is_installed("duckdb"):
        return {**row, "note": "not proved: duckdb is not installed"}
    peer = TEXT_PEERS[_FORMS[workload.name]]["duckdb"](filters.column("filter"))
    expected = pair_hash(*peer_pairs(peer.match(numbered(batch))))
    if row["hash"] != expected:
        raise WrongResult(f"{row['what']}: {row['hash']} of {row['matches']:,} is not {expected}")
    return {**row, "agrees with": "duckdb"}


def _new_shapes(workload: Workload, count: int) -> Row:
    """Filters of different shapes, each read into a table of its own."""
    texts = _texts(workload, count).to_pylist()
    read_filters(["TRUE"], workload.schema)  # loads modules and tables before the measurement
    millis, used = [], process_time()
    for text in texts:
        started = perf_counter()
        read_filters([text], workload.schema)
        millis.append((perf_counter() - started) * 1e3)
    cpu_seconds = process_time() - used
    what = "never seen" if workload.name == "mixed" else f"{workload.name}, never seen"
    row = _row(what, read_filters(texts, workload.schema), sum(millis) / 1e3, cpu_seconds)
    p95 = quantiles(millis, n=20)[-1] if count > 1 else millis[0]
    return {**row, "ms per shape, p50": median(millis), "ms, p95": p95, "ms, worst": max(millis)}


def _row(what: str, table: PredicateTable, seconds: float, cpu_seconds: float) -> Row:
    return {
        "what": what,
        "filters": len(table),
        "seconds": seconds,
        "cpu seconds": cpu_seconds,
        "filters/s": len(table) / seconds,
        "shapes": table.shapes,
        "predicates": len(table.low),
        "rejected": len(table.rejected),
        "bytes/filter": table.nbytes / len(table),
        "checksum": table.checksum(),
    }


def panels(rows: list[Row]) -> list[Panel]:
    """Filters read per second, a bar per row."""
    return [bars_of(rows, "filters/s", "reading filters", "filters read per second, one core")]
