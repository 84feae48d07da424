"""`wherecast bench server`: two thousand push connections, of which a hundred stop reading."""

import asyncio
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, process_time, sleep
from typing import Any

import orjson

from wherecast.bench.measured import WrongResult
from wherecast.bench.progress import Doing, Row
from wherecast.bench.server.clients import PATH
from wherecast.bench.server.cpu import cpu_columns
from wherecast.bench.server.hops import hop_columns, hop_seconds
from wherecast.bench.server.process import MeasuredServer, measured_server
from wherecast.bench.server.server_latency import Clock, publish_at_rate

_CONNECTIONS, _SILENT = 2_000, 100
_COUNT = 10_000
_LOUD = 200  # publications for the silent connections
_PAYLOAD = "A" * 40_000
_WAIT_S = 120.0
# Settings with which the server neither closes silent connections nor pings.
_PATIENT = {"WHERECAST__PUSH__STALL": "1h", "WHERECAST__PUSH__PING": "1h"}


class PushConnections:
    """Push connections of this process, in an event loop of their own.

    Concurrency: the loop has a thread of its own.

    Args:
        server: the server that pushes.
        count: number of connections.
        silent: number of connections, from the first, that never read.
        clock: the clock that notes the arrivals at the other connections.
    """

    def __init__(self, server: MeasuredServer, count: int, silent: int, clock: Clock) -> None:
        self._server = server
        self._count = count
        self._silent = silent
        self._clock = clock
        # A daemon thread, since a refused connection leaves the loop running.
        self._thread = Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._is_open = Event()

    def __enter__(self) -> "PushConnections":
        self._thread.start()
        if not self._is_open.wait(_WAIT_S):
            raise WrongResult("not all connections were opened")
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._ended is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()

    async def _run(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        opened: list[int] = []
        tasks = [
            asyncio.create_task(self._receive(number, opened)) for number in range(self._count)
        ]
        while len(opened) < self._count:
            await asyncio.sleep(0.05)
        self._is_open.set()
        await self._ended.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _receive(self, number: int, opened: list[int]) -> None:
        from websockets.asyncio.client import connect

        address = f"ws://127.0.0.1:{self._server.port}/v1/subscribers/r{number}/push"
        options: dict[str, Any] = {"compression": None, "ping_interval": None, "max_queue": 1}
        async with connect(address, open_timeout=_WAIT_S, close_timeout=0.1, **options) as socket:
            opened.append(number)
            if number < self._silent:  # reads nothing beyond the buffer of the socket
                await asyncio.Event().wait()
            async for message in socket:
                got = orjson.loads(message)
                self._clock.arrived(got["publication"]["id"], perf_counter())
                await socket.send(orjson.dumps({"through": got["cursor"]}).decode())


def rows(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """The latency of reading connections, before and after a hundred others stop reading.

    Raises:
        WrongResult: a notification did not come.
    """
    del seed  # the load is not random
    share = min(1.0, (size or _COUNT) / _COUNT)
    connections = max(20, int(_CONNECTIONS * share))
    silent, count = max(2, int(_SILENT * share)), max(100, int(_COUNT * share))
    yield Doing("connections: subscribing")
    with _many_files(), measured_server("inline", home, "", _PATIENT) as server:
        _subscribe(server, connections, silent)
        clock = Clock()
        yield Doing("connections: connecting")
        with PushConnections(server, connections, silent, clock):
            reading = range(silent, connections)
            yield Doing("connections: all read")
            yield _measure(server, f"{connections:,} connections", clock, count, reading)
            yield Doing("connections: some stop reading")
            _stall(server, silent)
            yield _measure(server, f"{silent} of them silent", clock, count, reading)


def _measure(server: MeasuredServer, what: str, clock: Clock, count: int, reading: range) -> Row:
    """A row: publications at a steady rate, each for one of the reading connections."""
    prefix = f"{what} "

    def body_of(number: int) -> bytes:
        receiver = reading[number % len(reading)]
        return orjson.dumps({"attributes": {"n": receiver}, "id": f"{prefix}{number}"})

    before, own, hops = server.cpu_seconds(), process_time(), hop_seconds(server)
    clock.start(count, prefix)
    rate = publish_at_rate(server, clock.due, body_of)
    _await("notifications", lambda: len(clock.millis) >= len(clock.due))
    return {
        "what": what,
        **clock.columns(),
        "rate/s": rate,
        "held bytes most": server.metric("push_held_bytes_most"),
        "connections waiting": server.metric("push_waiting"),
        **cpu_columns(server, before, process_time() - own),
        **hop_columns(server, hops, count),
    }


def _subscribe(server: MeasuredServer, connections: int, silent: int) -> None:
    """Subscribes the silent connections to `loud = true`, each other one to its number."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=_WAIT_S)
    kind = {"Content-Type": "application/json"}
    for number in range(connections):
        filter = "loud = true" if number < silent else f"n = {number}"
        name = f"/v1/subscribers/r{number}"
        for path, body in ((name, None), (f"{name}/subscriptions/s", {"filter": filter})):
            given = None if body is None else orjson.dumps(body)
            connection.request("PUT", path, given, kind if given else {})
            answer = connection.getresponse()
            answer.read()
            if answer.status != 201:
                raise WrongResult(f"{path} was answered with {answer.status}")
    connection.close()


def _stall(server: MeasuredServer, silent: int) -> None:
    """Publishes until all silent connections have full buffers."""
    loud = {"attributes": {"loud": True}, "payload": _PAYLOAD}
    for _ in range(0, _LOUD, 5):
        server.call("POST", PATH, [loud] * 5)
    _await("connections to wait", lambda: server.metric("push_waiting") >= silent)


def _await(what: str, is_so: Callable[[], bool]) -> None:
    end = perf_counter() + _WAIT_S
    while not is_so():
        if perf_counter() > end:
            raise WrongResult(f"waited {_WAIT_S:g} s in vain for {what}")
        sleep(0.01)


@contextmanager
def _many_files() -> Iterator[None]:
    """Raises the limit of open files to its maximum while the body runs."""
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))
