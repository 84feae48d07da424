"""The time from publishing to taking with a pipeline on Spark."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

from wherecast.bench.broker.broker_load import SUBSCRIBER, BrokerLoad
from wherecast.bench.latencies import latency_columns
from wherecast.bench.measured import WrongResult
from wherecast.bench.progress import Row
from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.publisher import Publisher
from wherecast.broker.registrar.registrar import Registrar
from wherecast.broker.subscriber import Subscriber
from wherecast.model import StoreError
from wherecast.store.open_store import open_store

_COUNT = 30_000
_WARM_UP = 20_000
_RATE_S = 1_000  # publications per second
_STEP = 10  # publications per call
_TAKEN_AT_ONCE = 1_000
_WAIT_S = 120.0
_TARGET_MS = 350.0


def on_spark(size: int | None, seed: int, data: Path) -> Row:
    """Publishes at a steady rate, with the pipeline in a process of its own."""
    count = min(size or _COUNT, _COUNT)
    warm_up = min(size or _WARM_UP, _WARM_UP)
    load = BrokerLoad.drawn(count + warm_up, seed)
    core = BrokerCore(open_store(data), load.schema, runs_pipeline=False)
    try:
        Registrar(core.store).register(SUBSCRIBER, 0)
        subscriber, publisher = Subscriber(SUBSCRIBER, core), Publisher("p", core)
        subscriber.subscribe_all(load.filters)
        with _pipeline(data), ThreadPoolExecutor(1) as pool:
            matches = 0
            for part in (load.publications[:warm_up], load.publications[warm_up:]):
                taking = pool.submit(_receive, subscriber, len(part))
                due, seconds = _publish(publisher, part)
                ends, found = taking.result()
                matches += found
    finally:
        core.close()
    load.check("Spark", matches)
    millis = [(end - start) * 1e3 for start, end in zip(due, ends, strict=True)]
    return {
        "what": "Spark",
        **latency_columns(millis),
        "matches": int(load.matches[-len(millis) :].sum()),
        "rate/s": count / seconds,
        "target p50 ms": _TARGET_MS,
    }


def _publish(publisher: Publisher, given: list[dict[str, Any]]) -> tuple[list[float], float]:
    """Publishes at the rate; returns when each publication was due, and the total seconds."""
    begun = perf_counter()
    due: list[float] = []
    for start in range(0, len(given), _STEP):
        some = given[start : start + _STEP]
        due += [begun + start / _RATE_S] * len(some)
        sleep(max(0.0, due[-1] - perf_counter()))
        publisher.publish_all(some)
    return due, perf_counter() - begun


def _receive(subscriber: Subscriber, count: int) -> tuple[list[float], int]:
    """Takes `count` publications; returns the time of each take, and the number of matches."""
    ends: list[float] = []
    matches = 0
    while len(ends) < count:
        some = subscriber.take(_TAKEN_AT_ONCE, timeout=_WAIT_S)
        if not some:
            raise WrongResult(f"Spark: {count - len(ends):,} publications did not come")
        ends += [perf_counter()] * len(some)
        matches += sum(len(one.subscription_ids) for one in some)
        subscriber.ack_through(some[-1])
    return ends, matches


@contextmanager
def _pipeline(data: Path) -> Iterator[None]:
    """A live pipeline on two cores; the body runs when it is ready."""
    command = [sys.executable, "-m", "wherecast.pipeline.live.pipeline_process", str(data)]
    process = subprocess.Popen(
        [*command, "--master", "local[2,4]"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if process.stdout.readline().strip() != "ready":
            raise StoreError("the pipeline did not start")
        with ThreadPoolExecutor(1) as reading:
            reading.submit(process.stdout.read)  # a full pipe would stop the process
            try:
                yield
            finally:
                process.stdin.close()
                process.wait(_WAIT_S)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
