"""`wherecast bench server`: the time from when a publication is due to its push."""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

from wherecast.bench.latencies import latency_columns
from wherecast.bench.process_use import own_use
from wherecast.bench.progress import Doing, Row
from wherecast.bench.server.clients import PublishingConnection, Receiving, receiving, subscribe_all
from wherecast.bench.server.cpu import cpu_columns
from wherecast.bench.server.hops import hop_columns, hop_seconds
from wherecast.bench.server.process import MeasuredServer, measured_server
from wherecast.bench.server.publishing_socket import numbered, publishing_socket
from wherecast.bench.server.server_load import SCHEMA, ServerLoad

RATE_S = 500
WARM_UP = {"inline": 20_000, "spark": 60_000}
_PUBLISHERS = 16
PROMISE = {"on disk": "synced", "filter by": "content"}
_COMPARED = ("p50 ms", "p99 ms")
_LATENCIES = 10_000
_TARGETS_MS = {"inline": (5.0, 60.0), "batches": (400.0, 2_000.0), "slices": (50.0, 200.0)}


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
        return latency_columns(list(self.millis.values()))


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


def publish_over_socket(
    server: MeasuredServer, due: Mapping[str, float], body_of: Callable[[int], bytes]
) -> float:
    """The same over one WebSocket, one per message."""
    started = perf_counter()
    with publishing_socket(server.port, len(due)) as socket:
        for number, at in enumerate(due.values()):
            message = numbered(number, body_of(number))
            sleep(max(0.0, at - perf_counter()))
            socket.send(message)
    return len(due) / (perf_counter() - started)


_PUBLISH = {"": publish_at_rate, "WebSocket": publish_over_socket}


@contextmanager
def _receiving(
    case: "_Case", home: Path, load: ServerLoad, clock: Clock
) -> Iterator[tuple[MeasuredServer, Receiving]]:
    """A server with connected subscribers."""
    with measured_server(case.runner, home, SCHEMA, case.environ) as server:
        subscribe_all(server, load)
        with receiving(server, clock.arrived) as clients:
            yield server, clients


@dataclass(frozen=True, slots=True)
class _Case:
    """What one row measures.

    Attributes:
        runner: of the server.
        how: the trigger of a runner that has one, or else the runner.
        over: `WebSocket`, or else requests.
    """

    runner: str
    how: str
    over: str = ""

    @property
    def what(self) -> str:
        """The name of the row."""
        parts = dict.fromkeys(("latency", self.runner, self.how, self.over))
        return ", ".join(part for part in parts if part)

    @property
    def environ(self) -> dict[str, str]:
        """The settings of the server."""
        return {} if self.how == self.runner else {"WHERECAST__PIPELINE__TRIGGER": self.how}


def latency(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """Publishes one by one at a steady rate to a server that matches by itself."""
    yield from _measured(_Case("inline", "inline"), size, seed, home)


def socket_latency(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """The same over one WebSocket."""
    yield from _measured(_Case("inline", "inline", "WebSocket"), size, seed, home)


def spark_latency(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """The same to a server with Spark, with batches and with slices, and the ratios of the two.

    The load, the seed and the machine are the same for both.
    """
    batches: Row = {}
    for how in ("batches", "slices"):
        for found in _measured(_Case("spark", how), size, seed, home / how):
            if isinstance(found, Doing):
                yield found
            elif how == "batches":
                batches = found
                yield found
            else:
                ratios = {f"{name} ratio": batches[name] / found[name] for name in _COMPARED}
                yield {**found, **ratios}


def _measured(case: _Case, size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    yield Doing(f"{case.what}: drawing")
    count = min(size or _LATENCIES, _LATENCIES)
    warm_up = min(2 * count, WARM_UP[case.runner]) // 100 * 100
    load = ServerLoad.drawn(count, seed)
    clock = Clock()
    with _receiving(case, home, load, clock) as (server, clients):
        yield Doing(f"{case.what}: warming up")
        publisher = PublishingConnection(server.port)
        for first in range(0, warm_up, 100):
            publisher.publish(load.body(first, 100), 100)
            sleep(0.02)
        clients.wait(warm_up)
        publisher.close()
        yield Doing(case.what)
        before, hops = server.cpu_seconds(), hop_seconds(server)
        server_use, own = server.use(), own_use()
        clock.start(count)
        publish = _PUBLISH[case.over]
        rate = publish(server, clock.due, lambda n: load.body(n, 1, is_named=True))
        clients.wait(warm_up + count)
        server_use, own = server.use() - server_use, own_use() - own
        target_p50, target_p99 = _TARGETS_MS[case.how]
        yield {
            "what": case.what,
            **clock.columns(),
            "matches": clients.total(0) - warm_up,
            "rate/s": rate,
            "target p50 ms": target_p50,
            "target p99 ms": target_p99,
            **server_use.columns(count),
            **own.columns(count, "client "),
            **PROMISE,
            **cpu_columns(server, before, own.cpu_s),
            **hop_columns(server, hops, count),
        }
