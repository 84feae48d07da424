"""What the server counts, for Prometheus."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from wherecast.broker.intake.published import Published
from wherecast.model import WherecastError
from wherecast.server.http.messages.errors import Refused, error_of


@dataclass(frozen=True, slots=True)
class Figure:
    """A value that others keep.

    Attributes:
        kind: whether it only grows.
        name: of it.
        text: what it is.
        value: now; or values by what they are of.
        label: what values are told apart by.
    """

    kind: Literal["gauge", "counter"]
    name: str
    text: str
    value: float | Mapping[str, float]
    label: str = ""


Look = Callable[[], Iterable[Figure]]
"""Gives values as they are now."""


class Counters:
    """The counters of a server.

    Attributes:
        registry: has them all.
        pulled: notifications.
        pushed: notifications.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._accepted = self._counter("publications_accepted", "Publications stored.")
        self._duplicates = self._counter("publications_duplicate", "Publications stored before.")
        self._rejected = Counter(
            "wherecast_publications_rejected",
            "Publications refused, by the first cause of each.",
            ["cause"],
            registry=self.registry,
        )
        self._refused = Counter(
            "wherecast_publish_requests_refused",
            "Requests of publishers that were refused as a whole.",
            ["cause"],
            registry=self.registry,
        )
        delivered = Counter(
            "wherecast_notifications_delivered",
            "Notifications handed to subscribers, those handed again too.",
            ["way"],
            registry=self.registry,
        )
        self.pulled, self.pushed = delivered.labels("pull"), delivered.labels("push")

    def published(self, done: Published) -> None:
        """Counts what became of publications."""
        self._accepted.inc(done.accepted)
        self._duplicates.inc(done.duplicates)
        rows: set[int] = set()
        for bad in done.rejections:
            if bad.row not in rows:
                rows.add(bad.row)
                self._rejected.labels(bad.code).inc()

    def refused(self, error: Refused | WherecastError) -> None:
        """Counts a request of a publisher that was refused as a whole."""
        self._refused.labels(error_of(error)[1]["code"]).inc()

    def watch(self, look: Look) -> None:
        """Has figures asked for whenever someone looks."""
        self.registry.register(_Watched(look))

    def _counter(self, name: str, text: str) -> Counter:
        return Counter(f"wherecast_{name}", text, registry=self.registry)


class _Watched(Collector):
    """Figures that others keep."""

    def __init__(self, look: Look) -> None:
        self._look = look

    def collect(self) -> Iterator[Metric]:
        """The figures now."""
        for one in self._look():
            family = GaugeMetricFamily if one.kind == "gauge" else CounterMetricFamily
            labels = [one.label] if one.label else []
            metric = family(f"wherecast_{one.name}", one.text, labels=labels)
            if isinstance(one.value, Mapping):
                for label, value in one.value.items():
                    metric.add_metric([label], value)
            else:
                metric.add_metric([], one.value)
            yield metric

    def describe(self) -> Iterator[Metric]:
        """Nothing before someone looks."""
        return iter(())
