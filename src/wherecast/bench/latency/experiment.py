"""`wherecast bench latency`: single publications, from publishing until their matches are there."""

from collections.abc import Iterator
from pathlib import Path

from wherecast.bench.choice import CaseRows, rows_of
from wherecast.bench.latencies import distributions
from wherecast.bench.latency import publish_to_take, publishing_threads, socket_publishing
from wherecast.bench.latency.bare_sync import bare_syncs, sync_columns
from wherecast.bench.latency.peers import measure as peers
from wherecast.bench.pictures import Distributions, Panel, bars_of
from wherecast.bench.progress import Doing, Row, View
from wherecast.bench.server import server_latency

TITLE = "Latency: single publications, from publishing to their matches"
VIEWS = (
    View("p50 ms", {
        "what": "what", "publications": "pubs", "p50 ms": "p50 ms", "p99 ms": "p99 ms",
        "target p50 ms": "target", "sync p50 ms": "sync p50", "sync p99 ms": "sync p99",
    }),
    View("publications/s", {
        "what": "what", "publications": "pubs", "publications/s": "pubs/s",
        "target publications/s": "target", "call p50 ms": "call p50 ms",
        "call p99 ms": "call p99 ms",
    }),
    View("CPU µs/publication", {
        "what": "what", "CPU µs/publication": "CPU µs", "switches/publication": "switches",
        "client CPU µs/publication": "client CPU µs", "client switches/publication": "switches",
    }),
    View("on disk", {
        "what": "what", "matches": "matches", "on disk": "on disk", "filter by": "filter by",
    }),
    View("skipped", {"what": "what", "skipped": "skipped"}),
)  # fmt: skip
_MEMORY_TARGET_MS = 0.2
_BESIDE_SYNC_MS = 0.5  # the target of a durable publication is a sync and this


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row | Doing]:
    """A row per case.

    Args:
        size: the largest number of publications per case; None is the size of the targets.
        seed: the seed of the workload.
        only: one case of `CASES`; None is all cases.

    Raises:
        WrongResult: the delivered matches differ from those of an index, or a publication of a
            peer was lost.
    """
    yield from rows_of(CASES, only, size, seed)


def _memory(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    yield Doing("memory")
    row = publish_to_take.measure("memory", size, seed, None)
    yield {**row, "target p50 ms": _MEMORY_TARGET_MS}


def _durable(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    yield Doing("bare sync")
    syncs = bare_syncs(size, home)
    yield syncs
    yield Doing("durable")
    row = publish_to_take.measure("durable", size, seed, home / "store")
    yield {**row, **sync_columns(syncs), "target p50 ms": syncs["p50 ms"] + _BESIDE_SYNC_MS}


def _threads(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    for threads in publishing_threads.THREADS:
        for data in (None, home / str(threads)):
            yield Doing(f"threads: {threads}")
            yield publishing_threads.measure(threads, size, seed, data)


def _server(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """The case `latency` of the experiment `server`, with bare syncs beside."""
    yield from _beside_syncs(server_latency.latency, size, seed, home)


def _socket(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """The same over a WebSocket, then as fast as the server acknowledges."""
    yield from _beside_syncs(server_latency.socket_latency, size, seed, home / "latency")
    yield from socket_publishing.rows(size, seed, home / "rate")


def _beside_syncs(case: CaseRows, size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """The rows of a case, each with the times of bare syncs right before it."""
    yield Doing("bare sync")
    home.mkdir(exist_ok=True)
    beside = sync_columns(bare_syncs(size, home))
    for step in case(size, seed, home):
        yield step if isinstance(step, Doing) else {**step, **beside}


CASES: dict[str, CaseRows] = {
    "memory": _memory,
    "durable": _durable,
    "threads": _threads,
    "server": _server,
    "websocket": _socket,
    "spark": server_latency.spark_latency,
    "peers": peers.rows,
}


def panels(rows: list[Row]) -> list[Panel]:
    """The distribution of each case, its median, and publications per second."""
    lines = distributions(rows)
    return [
        Distributions("distribution", "milliseconds", "% of publications within", lines),
        bars_of(rows, "p50 ms", "latency", "median, milliseconds"),
        bars_of(rows, "publications/s", "throughput", "publications per second, one per call"),
    ]
