"""What the server counts, for Prometheus."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from typing_extensions import override

from wherecast.broker.intake.publish_outcome import PublishOutcome
from wherecast.model import WherecastError
from wherecast.server.http.messages.error_messages import Refused, error_of
from wherecast.server.http.metric_catalog import METRICS


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a metric that other parts of the server keep.

    Attributes:
        name: of the metric.
        value: now; or the values by label.
    """

    name: str
    value: float | Mapping[str, float]


Look = Callable[[], Iterable[Figure]]
"""Gives figures as they are now."""


class Counters:
    """The counters of a server.

    Attributes:
        registry: has all metrics, those that other parts of the server keep included.
        pulled: number of notifications delivered by pull.
        pushed: number of notifications delivered by push.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._accepted = self._counter("publications_accepted")
        self._duplicates = self._counter("publications_duplicate")
        self._rejected = self._counter("publications_rejected")
        self._refused = self._counter("publish_requests_refused")
        delivered = self._counter("notifications_delivered")
        self.pulled, self.pushed = delivered.labels("pull"), delivered.labels("push")

    def published(self, done: PublishOutcome) -> None:
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
        """Adds figures, which are asked for whenever somebody reads the metrics."""
        self.registry.register(_Watched(look))

    def _counter(self, name: str) -> Counter:
        entry = METRICS[name]
        labels = [entry.label] if entry.label else []
        return Counter(f"wherecast_{name}", entry.help, labels, registry=self.registry)


class _Watched(Collector):
    """Figures that other parts of the server keep."""

    def __init__(self, look: Look) -> None:
        self._look = look

    @override
    def collect(self) -> Iterator[Metric]:
        for figure in self._look():
            entry = METRICS[figure.name]
            family = GaugeMetricFamily if entry.kind == "gauge" else CounterMetricFamily
            labels = [entry.label] if entry.label else []
            metric = family(f"wherecast_{entry.name}", entry.help, labels=labels)
            if isinstance(figure.value, Mapping):
                for label, value in figure.value.items():
                    metric.add_metric([label], value)
            else:
                metric.add_metric([], figure.value)
            yield metric

    def describe(self) -> Iterator[Metric]:
        """No metrics: their values are asked for only when somebody reads them."""
        return iter(())
