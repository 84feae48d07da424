"""Single publications per second of one and of several threads, each call acknowledged."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from wherecast.bench.broker.broker_load import SUBSCRIBER
from wherecast.bench.broker.publish_rate import taken_matches
from wherecast.bench.latency.publish_to_take import DURABLE, MEMORY, drawn
from wherecast.bench.measured import WrongResult
from wherecast.bench.process_use import own_use
from wherecast.bench.progress import Row
from wherecast.broker.broker import Broker
from wherecast.broker.publisher import Publisher

THREADS = (1, 8)
_COUNT = 20_000
_WARM_UP = 500


def measure(threads: int, size: int | None, seed: int, data: Path | None) -> Row:
    """Publishes from several threads, one publication per call; then all are taken and counted.

    A call returns when its publication is accepted: durable ones are on disk then.
    """
    share = max(1, min(size or _COUNT, _COUNT) // threads)
    load = drawn(share * threads + _WARM_UP, seed)
    counted = load.publications[_WARM_UP:]
    what = f"{'memory' if data is None else 'durable'}, threads: {threads}"
    with Broker(load.schema, data=data) as broker:
        subscriber = broker.subscriber(SUBSCRIBER)
        subscriber.subscribe_all(load.filters)
        publishers = [broker.publisher(f"p{number}") for number in range(threads)]
        _publish(publishers[0], load.publications[:_WARM_UP])
        matches = taken_matches(subscriber, _WARM_UP)
        with ThreadPoolExecutor(threads) as pool:
            used, started = own_use(), perf_counter()
            shares = [counted[number::threads] for number in range(threads)]
            millis = np.concatenate(list(pool.map(_publish, publishers, shares)))
            seconds = perf_counter() - started
            used = own_use() - used
        load.check(what, matches + taken_matches(subscriber, len(counted)))
    p50, p99 = np.percentile(millis, [50, 99]).tolist()
    return {
        "what": what,
        "threads": threads,
        "publications": len(counted),
        "matches": int(load.matches[_WARM_UP:].sum()),
        "publications/s": len(counted) / seconds,
        "call p50 ms": p50,
        "call p99 ms": p99,
        **used.columns(len(counted)),
        **(MEMORY if data is None else DURABLE),
    }


def _publish(publisher: Publisher, given: Sequence[dict[str, Any]]) -> list[float]:
    """Publishes one by one; returns the milliseconds of each call."""
    millis = []
    for attributes in given:
        started = perf_counter()
        done = publisher.publish(attributes)
        millis.append((perf_counter() - started) * 1e3)
        if done.accepted != 1:
            raise WrongResult(f"{done.accepted} publications were accepted instead of 1")
    return millis
