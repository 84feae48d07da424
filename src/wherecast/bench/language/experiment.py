"""`wherecast bench language`: the speed of reading filters, by shape and one by one."""

from collections.abc import Iterator
from statistics import median, quantiles
from time import perf_counter, process_time

import pyarrow as pa

from wherecast.bench.pictures import Panel, bars_of
from wherecast.bench.progress import Row
from wherecast.language import Filter, PredicateTable, read_filters
from wherecast.workloads import Workload, bluedove, mixed

TITLE = "Reading filters: a column by shape, filters one by one, and new shapes"
_SIZE = 1_000_000
_ALONE = 5_000
_NEW_SHAPES = 1_000


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row]:
    """A row per way of reading, with the number of shapes and a checksum of the result."""
    pa.set_cpu_count(1)
    count = size or _SIZE
    for workload in (bluedove(seed=seed), mixed(seed=seed)):
        if only not in (None, workload.name):
            continue
        texts = _texts(workload, count)
        yield _by_shape(workload, texts)
        yield _alone(workload, texts.slice(0, min(_ALONE, count)))
    if only in (None, "mixed"):
        yield _new_shapes(mixed(seed=seed), min(_NEW_SHAPES, count))


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
    row = _row("never seen", read_filters(texts, workload.schema), sum(millis) / 1e3, cpu_seconds)
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
