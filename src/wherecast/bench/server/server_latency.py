"""`wherecast bench server`: the time from when a publication is due to its push."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time, sleep

import numpy as np

from wherecast.bench.choice import CaseRows
from wherecast.bench.progress import Doing, Row
from wherecast.bench.server.clients import PublishingConnection, Receiving, receiving, subscribe_all
from wherecast.bench.server.cpu import cpu_columns
from wherecast.bench.server.hops import hop_columns, hop_seconds
from wherecast.bench.server.process import MeasuredServer, measured_server
from wherecast.bench.server.server_load import SCHEMA, ServerLoad

RATE_S = 500
WARM_UP = {"inline": 20_000, "spark": 60_000}
_PUBLISHERS = 16
_LATENCIES = 10_000
_TARGETS_MS = {"inline": (15.0, 60.0), "spark": (400.0, 2_000.0)}


class Clock:
    """The times at which publications are due, and their latencies.

    Attributes:
        due: when each publication is due, by id.
        millis: milliseconds from then to the arrival, by id.
    """

    def __init__(self) -> None:
        self.due: dict[str, float] = {}
        self.millis: dict[str, float] = {}

    def start(self, count: int, prefix: str = "") -> None:
        """Makes `count` publications due from now on, at a steady rate, with numbers as ids."""
        started = perf_counter()
        self.due = {f"{prefix}{number}": started + number / RATE_S for number in range(count)}
        self.millis = {}

    def arrived(self, id: str, at: float) -> None:
        """Notes the arrival of a publication."""
        if id in self.due:
            self.millis[id] = (at - self.due[id]) * 1e3

    def columns(self) -> Row:
        """The columns with the number of publications and their latencies."""
        millis = list(self.millis.values())
        p50, p99 = np.percentile(millis, [50, 99]).tolist()
        return {"publications": len(millis), "p50 ms": p50, "p99 ms": p99, "worst ms": max(millis)}


def publish_at_rate(
    server: MeasuredServer, due: Mapping[str, float], body_of: Callable[[int], bytes]
) -> float:
    """Publishes each publication when it is due, one per request, over several connections.

    Returns:
        The number of publications per second.
    """
    started, times = perf_counter(), list(due.values())

    def publish(first: int) -> None:
        publisher = PublishingConnection(server.port)
        for number in range(first, len(times), _PUBLISHERS):
            sleep(max(0.0, times[number] - perf_counter()))
            publisher.publish(body_of(number), 1)
        publisher.close()

    with ThreadPoolExecutor(_PUBLISHERS) as pool:
        list(pool.map(publish, range(_PUBLISHERS)))
    return len(due) / (perf_counter() - started)


@contextmanager
def _receiving(
    runner: str, home: Path, load: ServerLoad, clock: Clock
) -> Iterator[tuple[MeasuredServer, Receiving]]:
    """A server with connected subscribers."""
    with measured_server(runner, home, SCHEMA) as server:
        subscribe_all(server, load)
        with receiving(server, clock.arrived) as clients:
            yield server, clients


def latency(runner: str) -> CaseRows:
    """The case that publishes one by one at a steady rate."""

    def case(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
        what = f"latency, {runner}"
        yield Doing(f"{what}: drawing")
        count = min(size or _LATENCIES, _LATENCIES)
        warm_up = min(2 * count, WARM_UP[runner]) // 100 * 100
        load = ServerLoad.drawn(count, seed)
        clock = Clock()
        with _receiving(runner, home, load, clock) as (server, clients):
            yield Doing(f"{what}: warming up")
            publisher = PublishingConnection(server.port)
            for first in range(0, warm_up, 100):
                publisher.publish(load.body(first, 100), 100)
                sleep(0.02)
            clients.wait(warm_up)
            publisher.close()
            yield Doing(what)
            before, own, hops = server.cpu_seconds(), process_time(), hop_seconds(server)
            clock.start(count)
            rate = publish_at_rate(server, clock.due, lambda n: load.body(n, 1, is_named=True))
            clients.wait(warm_up + count)
            target_p50, target_p99 = _TARGETS_MS[runner]
            yield {
                "what": what,
                **clock.columns(),
                "rate/s": rate,
                "target p50 ms": target_p50,
                "target p99 ms": target_p99,
                **cpu_columns(server, before, process_time() - own),
                **hop_columns(server, hops, count),
            }

    return case
