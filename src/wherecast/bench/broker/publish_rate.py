"""The rate at which a durable broker accepts publications, by threads and batches."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from wherecast.bench.broker.broker_load import SUBSCRIBER, BrokerLoad
from wherecast.bench.progress import Row
from wherecast.broker.broker import Broker
from wherecast.broker.subscriber import Subscriber

_TARGET_PUBLICATIONS_S = 50_000
_PUBLICATIONS = 400_000
_BATCH = 1_000
_TAKEN_AT_ONCE = 1_000
_WAIT_S = 60.0


@dataclass(frozen=True, slots=True)
class PublishingThreads:
    """A case: threads that publish in batches.

    Attributes:
        threads: number of threads.
        batch: number of publications per call.
        publications: number of publications of all threads.
    """

    threads: int
    batch: int
    publications: int

    @property
    def what(self) -> str:
        """The name of the case."""
        return f"publish {self.threads} × {self.batch:,}"


def cases(size: int | None) -> Iterator[PublishingThreads]:
    """One and eight threads, in batches of 1,000."""
    for threads in (1, 8):
        unit = threads * _BATCH
        publications = max(1, min(size or _PUBLICATIONS, _PUBLICATIONS) // unit) * unit
        yield PublishingThreads(threads, _BATCH, publications)


def measure(case: PublishingThreads, load: BrokerLoad, data: Path) -> Row:
    """The row of a case; times publishing while matching runs beside it, and checks matches."""
    batches = [
        load.publications[start : start + case.batch]
        for start in range(0, case.publications, case.batch)
    ]
    with Broker(load.schema, data=data) as broker:
        subscriber = broker.subscriber(SUBSCRIBER)
        subscriber.subscribe_all(load.filters)
        with ThreadPoolExecutor(case.threads) as pool:
            publishers = [broker.publisher(f"p{number}") for number in range(case.threads)]
            shares = [batches[number :: case.threads] for number in range(case.threads)]
            started = perf_counter()
            accepted = sum(pool.map(_publish, publishers, shares))
            seconds = perf_counter() - started
        matches = load.check(case.what, taken_matches(subscriber, accepted))
        matched_seconds = perf_counter() - started
    return {
        "what": case.what,
        "threads": case.threads,
        "batch": case.batch,
        "publications": accepted,
        "matches": matches,
        "seconds": seconds,
        "publications/s": accepted / seconds,
        "taken publications/s": accepted / matched_seconds,
        "target publications/s": _TARGET_PUBLICATIONS_S,
    }


def _publish(publisher: Any, batches: list[list[dict[str, Any]]]) -> int:
    return sum(publisher.publish_all(batch).accepted for batch in batches)


def taken_matches(subscriber: Subscriber, publications: int) -> int:
    """Takes `publications` publications of a subscriber; returns the number of their matches."""
    matches = 0
    while publications:
        some = subscriber.take(_TAKEN_AT_ONCE, timeout=_WAIT_S)
        if not some:
            break
        matches += sum(len(one.subscription_ids) for one in some)
        publications -= len(some)
        subscriber.ack_through(some[-1])
    return matches
