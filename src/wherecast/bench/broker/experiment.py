"""`wherecast bench broker`: publish rates and storage in process, latency on Spark."""

from collections.abc import Iterator
from pathlib import Path

from wherecast.bench.broker import (
    grouping_cost,
    publish_rate,
    segment_merging,
    spark_latency,
    worker_cost,
)
from wherecast.bench.broker.broker_load import BrokerLoad
from wherecast.bench.choice import CaseRows, rows_of
from wherecast.bench.pictures import Panel, bars_of
from wherecast.bench.progress import Doing, Row, View

TITLE = "The broker: accepting, delivering and storing publications"
VIEWS = (
    View("publications/s", {
        "what": "what", "threads": "threads", "batch": "batch", "publications": "pubs",
        "matches": "matches", "publications/s": "pubs/s", "target publications/s": "target",
    }),
    View("p50 ms", {
        "what": "what", "publications": "pubs", "matches": "matches", "p50 ms": "p50 ms",
        "p99 ms": "p99 ms", "target p50 ms": "target", "rate/s": "pubs/s",
    }),
    View("segments written/s", {
        "what": "what", "notifications": "notified", "rate/s": "pubs/s",
        "segments written/s": "written/s", "segments merged/s": "merged/s",
        "segments left": "left", "busy share": "busy",
    }),
    View("grouping ratio", {
        "what": "what", "publications": "pubs", "matches": "matches",
        "twin µs/publication": "twin µs/pub", "grouping µs/publication": "µs/pub",
        "grouping ratio": "ratio",
    }),
    View("own bytes/subscription", {
        "what": "what", "subscriptions": "subs", "own bytes/subscription": "own B/sub",
        "first match s": "match s", "task ms": "task ms", "frozen task ms": "frozen ms",
    }),
)  # fmt: skip


def rows(size: int | None, seed: int, only: str | None = None) -> Iterator[Row | Doing]:
    """A row per case.

    Args:
        size: the largest number of publications per case; None is the size of the targets.
        seed: the seed of the workload.
        only: one case of `CASES`; None is all cases.

    Raises:
        WrongResult: the delivered matches differ from those of an index.
    """
    yield from rows_of(CASES, only, size, seed)


def _publish(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    for publishing in publish_rate.cases(size):
        yield Doing(f"{publishing.what}: drawing")
        load = BrokerLoad.drawn(publishing.publications, seed)
        yield Doing(publishing.what)
        yield publish_rate.measure(publishing, load, home / publishing.what)


def _spark(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    yield Doing("Spark: starting")
    yield spark_latency.on_spark(size, seed, home / "spark")


def _segments(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    for matches in (1, 100):
        yield Doing(f"segments, × {matches}")
        yield segment_merging.measure(size, matches, home / str(matches))


def _grouping(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    yield Doing("grouping")
    yield from grouping_cost.measure(size, seed)


def _worker(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    yield Doing("worker: saving a snapshot")
    yield worker_cost.measure(size, seed, home)


CASES: dict[str, CaseRows] = {
    "publish": _publish,
    "spark": _spark,
    "segments": _segments,
    "grouping": _grouping,
    "worker": _worker,
}


def panels(rows: list[Row]) -> list[Panel]:
    """Publications per second and latencies, a bar per row, with the targets."""
    return [
        bars_of(rows, "publications/s", "throughput", "publications per second, durable"),
        bars_of(rows, "p50 ms", "latency", "publish to take, median, milliseconds"),
    ]
