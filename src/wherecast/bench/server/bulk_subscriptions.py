"""Loads subscriptions by bulk PUT requests while another client publishes."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, process_time

import numpy as np
import orjson
import pyarrow as pa

from wherecast.bench.measured import WrongResult
from wherecast.bench.progress import Doing, Row
from wherecast.bench.server.clients import NDJSON, PublishingConnection
from wherecast.bench.server.cpu import cpu_columns
from wherecast.bench.server.process import measured_server
from wherecast.bench.server.server_load import SCHEMA
from wherecast.workloads import alerts

_SUBSCRIPTIONS = 1_000_000
_LINES = 100_000  # per request
_SYMBOLS = 2_000
_TARGET_S = 120.0


def rows(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """One row: the subscriptions of one subscriber, in requests of 100,000 lines."""
    count = min(size or _SUBSCRIPTIONS, _SUBSCRIPTIONS)
    yield Doing("subscriptions: drawing")
    workload = alerts(seed=seed, symbols=_SYMBOLS)
    texts = pa.Table.from_batches(workload.filters(count)).column("filter").to_pylist()
    bodies = [
        b"\n".join(
            orjson.dumps({"id": f"s{first + place}", "filter": text})
            for place, text in enumerate(texts[first : first + _LINES])
        )
        for first in range(0, count, _LINES)
    ]
    lines = next(iter(workload.publications(100))).to_pylist()
    body = b"\n".join(orjson.dumps({"attributes": line}) for line in lines)
    with measured_server("inline", home, SCHEMA) as server:
        yield Doing("subscriptions")
        server.call("PUT", "/v1/subscribers/ana")
        beside = _Beside(server.port, body, len(lines))
        before, own, started = server.cpu_seconds(), process_time(), perf_counter()
        beside.start()
        for part in bodies:
            path = "/v1/subscribers/ana/subscriptions"
            status, done = server.call("PUT", path, part, NDJSON)
            if status != 200 or done["created"] != min(_LINES, count):
                raise WrongResult(f"subscriptions were refused: {str(done)[:200]}")
        seconds = perf_counter() - started
        millis = beside.end()
        there = server.call("GET", "/v1/streams/default")[1]["counts"]["subscriptions"]
        if there != count:
            raise WrongResult(f"{count:,} subscriptions were loaded, {there:,} are there")
        yield {
            "what": "subscriptions, bulk",
            "subscriptions": count,
            "seconds": seconds,
            "subscriptions/s": count / seconds,
            "target seconds": _TARGET_S * count / _SUBSCRIPTIONS,
            "publish p50 ms": float(np.percentile(millis, 50)),
            "publish worst ms": max(millis),
            **cpu_columns(server, before, process_time() - own),
        }


class _Beside(Thread):
    """A thread that publishes all the time and measures each call."""

    def __init__(self, port: int, body: bytes, count: int) -> None:
        super().__init__(daemon=True)
        self._publishing = PublishingConnection(port)
        self._body = body
        self._count = count
        self._ended = Event()
        self._millis: list[float] = []

    def run(self) -> None:
        """Publishes until `end` is called."""
        while not self._ended.wait(0.05):
            started = perf_counter()
            self._publishing.publish(self._body, self._count)
            self._millis.append((perf_counter() - started) * 1e3)

    def end(self) -> list[float]:
        """Ends the thread; returns the milliseconds of each call."""
        self._ended.set()
        self.join()
        return self._millis
