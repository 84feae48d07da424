"""`wherecast bench server`: throughput and latency of a server, over its own sockets."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter, process_time, sleep

from wherecast.bench.choice import CaseRows, rows_of
from wherecast.bench.pictures import Panel, bars_of
from wherecast.bench.progress import Doing, Row, View
from wherecast.bench.server import bulk_subscriptions, many_connections
from wherecast.bench.server.clients import PublishingConnection, receiving, subscribe_all
from wherecast.bench.server.cpu import cpu_columns
from wherecast.bench.server.hops import HOPS, hop_columns, hop_seconds
from wherecast.bench.server.process import MeasuredServer, measured_server
from wherecast.bench.server.server_latency import WARM_UP, latency, spark_latency
from wherecast.bench.server.server_load import SCHEMA, ServerLoad

TITLE = "The server: accepting over HTTP, matching, pushing and acknowledging publications"
VIEWS = (
    View("publications/s", {
        "what": "what", "publications": "pubs", "matches": "matches", "seconds": "s",
        "publications/s": "pubs/s", "target publications/s": "target", "lag most": "lag most",
        "server CPU s": "server CPU", "generator CPU s": "generator CPU",
    }),
    View("p50 ms", {
        "what": "what", "publications": "pubs", "matches": "matches", "rate/s": "pubs/s",
        "p50 ms": "p50 ms", "p99 ms": "p99 ms", "target p50 ms": "target p50",
        "target p99 ms": "target p99", "p50 ms ratio": "p50 ×", "p99 ms ratio": "p99 ×",
        "server CPU s": "server CPU", "generator CPU s": "generator CPU",
    }),
    View("subscriptions/s", {
        "what": "what", "subscriptions": "subscriptions", "seconds": "s",
        "target seconds": "target s", "subscriptions/s": "subscriptions/s",
        "publish p50 ms": "publish p50 ms", "publish worst ms": "worst ms",
        "server CPU s": "server CPU", "generator CPU s": "generator CPU",
    }),
    View("append µs", {"what": "µs a publication", **{f"{hop} µs": hop for hop in HOPS}}),
)  # fmt: skip

_BATCH = 1_000
_PUBLISHERS = 4
_ACCEPTED = 600_000
_DELIVERED = {"inline": 720_000, "spark": 480_000}  # a minute at the target
_LAG_MAX = 40_000  # sent publications without acknowledgement, beyond which publishers wait
_TARGETS_S = {"accept": 20_000, "inline": 12_000, "spark": 8_000}


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row | Doing]:
    """A row per case.

    Args:
        size: the largest number of publications per case; None is the size of the targets.
        seed: the seed of the workload.
        only: one case of `CASES`; None is all cases.

    Raises:
        WrongResult: a notification was lost, or came twice.
    """
    yield from rows_of(CASES, only, size, seed)


def _accept(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """Accepts batches of 1,000, each on disk before its answer; there are no subscribers."""
    count = max(_BATCH * _PUBLISHERS, min(size or _ACCEPTED, _ACCEPTED))
    yield Doing("accept: drawing")
    load = ServerLoad.drawn(count, seed)
    bodies = [load.body(first, _BATCH) for first in range(0, min(count, 100_000), _BATCH)]
    with measured_server("inline", home, SCHEMA) as server:
        yield Doing("accept")
        PublishingConnection(server.port).publish(bodies[0], _BATCH)
        hops = hop_seconds(server)
        before, own, started = server.cpu_seconds(), process_time(), perf_counter()
        share = count // _BATCH // _PUBLISHERS
        with ThreadPoolExecutor(_PUBLISHERS) as pool:
            list(pool.map(lambda _: _publish(server, bodies, share), range(_PUBLISHERS)))
        seconds = perf_counter() - started
        count = share * _PUBLISHERS * _BATCH
        yield {
            "what": "accept, 4 × 1,000",
            "publications": count,
            "seconds": seconds,
            "publications/s": count / seconds,
            "target publications/s": _TARGETS_S["accept"],
            **cpu_columns(server, before, process_time() - own),
            **hop_columns(server, hops, count),
        }


def _publish(server: MeasuredServer, bodies: list[bytes], count: int) -> None:
    publisher = PublishingConnection(server.port)
    for number in range(count):
        publisher.publish(bodies[number % len(bodies)], _BATCH)
    publisher.close()


def _deliver(runner: str) -> CaseRows:
    """The case that publishes as fast as subscribers acknowledge."""

    def case(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
        what = f"deliver, {runner}"
        yield Doing(f"{what}: drawing")
        count = min(size or _DELIVERED[runner], _DELIVERED[runner]) // _BATCH * _BATCH
        warm_up = min(size or WARM_UP[runner], WARM_UP[runner]) // _BATCH * _BATCH
        load = ServerLoad.drawn(count, seed)
        bodies = [load.body(first, _BATCH) for first in range(0, min(count, 100_000), _BATCH)]
        with measured_server(runner, home, SCHEMA) as server:
            subscribe_all(server, load)
            with receiving(server) as clients:
                publisher, lag_most = PublishingConnection(server.port), 0
                for part in (warm_up, count):
                    yield Doing(what)
                    hops = hop_seconds(server)
                    before, own, started = server.cpu_seconds(), process_time(), perf_counter()
                    begun = clients.total(1)
                    for sent in range(0, part, _BATCH):
                        while (lag := sent - (clients.total(1) - begun)) > _LAG_MAX:
                            sleep(0.001)
                        lag_most = max(lag_most, lag)
                        publisher.publish(bodies[sent // _BATCH % len(bodies)], _BATCH)
                    clients.wait(begun + part)
                    seconds = perf_counter() - started
                publisher.close()
                yield {
                    "what": what,
                    "publications": count,
                    "matches": clients.total(0) - warm_up,
                    "seconds": seconds,
                    "publications/s": count / seconds,
                    "target publications/s": _TARGETS_S[runner],
                    "lag most": lag_most,
                    **cpu_columns(server, before, process_time() - own),
                    **hop_columns(server, hops, count),
                }

    return case


CASES: dict[str, CaseRows] = {
    "accept": _accept,
    "subscriptions": bulk_subscriptions.rows,
    "connections": many_connections.rows,
    "inline": _deliver("inline"),
    "latency": latency,
    "spark": _deliver("spark"),
    "spark-latency": spark_latency,
}


def panels(rows: list[Row]) -> list[Panel]:
    """Publications per second and latencies, a bar per row, with the targets."""
    return [
        bars_of(rows, "publications/s", "throughput", "publications per second"),
        bars_of(rows, "p50 ms", "latency", "publish to push, median, milliseconds"),
    ]
