"""Every metric of a server: its name, its kind and its help text, which an operator reads alone."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """A metric as Prometheus shows it.

    Attributes:
        name: without the prefix `wherecast_`, and without the `_total` of a counter.
        kind: a counter only grows; a gauge has the value of the moment.
        help: one sentence.
        label: what the values of the metric are told apart by, if there are several.
    """

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    label: str = ""

    @property
    def shown(self) -> str:
        """The name as Prometheus shows it, without the prefix."""
        total = "_total" if self.kind == "counter" else ""
        return f"{self.name}{total}" + (f"{{{self.label}}}" if self.label else "")


_ENTRIES = (
    MetricEntry(
        "publications_accepted",
        "counter",
        "Number of publications that the gateway has stored since it started.",
    ),
    MetricEntry(
        "publications_duplicate",
        "counter",
        "Number of publications that were not stored again, since the same id and body were there.",
    ),
    MetricEntry(
        "publications_rejected",
        "counter",
        "Number of publications that were refused, by the first cause of each.",
        "cause",
    ),
    MetricEntry(
        "publish_requests_refused",
        "counter",
        "Number of publish requests that were refused as a whole, by cause.",
        "cause",
    ),
    MetricEntry(
        "publish_requests",
        "counter",
        "Number of publish requests whose bodies were handed to the log.",
    ),
    MetricEntry(
        "publish_batches",
        "counter",
        "Number of writes to the log; whatever arrives together shares one.",
    ),
    MetricEntry(
        "publications_matched",
        "counter",
        "Number of publications that were matched since the store was made.",
    ),
    MetricEntry(
        "lag_publications",
        "gauge",
        "Number of publications that are stored and not yet matched.",
    ),
    MetricEntry(
        "lag_seconds",
        "gauge",
        "Age in seconds of the oldest publication that is stored and not yet matched.",
    ),
    MetricEntry(
        "batches",
        "counter",
        "Number of batches that were matched and committed since the matching process started.",
    ),
    MetricEntry(
        "matches",
        "counter",
        "Number of pairs of a publication and a subscription that matched since the matching "
        "process started.",
    ),
    MetricEntry(
        "candidates",
        "counter",
        "Number of filters that were tested one by one since the matching process started; divided "
        "by publications, the work that the index leaves.",
    ),
    MetricEntry(
        "row_errors",
        "counter",
        "Number of results in filters that were unknown since Spark would fail on them, such as a "
        "division by zero, since the matching process started, by reason.",
        "reason",
    ),
    MetricEntry(
        "index_filters", "gauge", "Number of filters in the index of the matching process."
    ),
    MetricEntry("index_bytes", "gauge", "Size in bytes of the index of the matching process."),
    MetricEntry(
        "stage_seconds",
        "counter",
        "Seconds that each stage of the path of a publication took since its process started.",
        "stage",
    ),
    MetricEntry(
        "notifications_delivered",
        "counter",
        "Number of notifications that were handed to subscribers by pull or by push, repeated ones "
        "included.",
        "way",
    ),
    MetricEntry(
        "notifications_acknowledged",
        "counter",
        "Number of notifications that subscribers acknowledged since the gateway started.",
    ),
    MetricEntry(
        "notifications_lost",
        "counter",
        "Number of notifications that were dropped since they passed a limit of age or size, or "
        "could not be read or written.",
    ),
    MetricEntry(
        "notifications_unwritable",
        "counter",
        "Number of notifications that were dropped since JSON has no form for a value of their "
        "publication.",
    ),
    MetricEntry(
        "notifications_queued",
        "gauge",
        "Number of notifications in all queues at the last check of limits (retention.every).",
    ),
    MetricEntry(
        "notifications_held",
        "gauge",
        "Number of notifications in the memory of the gateway that are not acknowledged.",
    ),
    MetricEntry(
        "notifications_in_flight",
        "gauge",
        "Number of notifications that were pushed and are not acknowledged.",
    ),
    MetricEntry(
        "push_connections",
        "gauge",
        "Number of open WebSocket connections.",
    ),
    MetricEntry(
        "push_waiting", "gauge", "Number of push connections that take no more bytes at the moment."
    ),
    MetricEntry(
        "push_stalled",
        "counter",
        "Number of push connections that were closed since they took no bytes for too long "
        "(push.stall).",
    ),
    MetricEntry(
        "push_replaced",
        "counter",
        "Number of push connections that were closed since their subscriber opened another one.",
    ),
    MetricEntry(
        "push_held_bytes_most",
        "gauge",
        "Largest number of bytes that one push connection ever held to be sent.",
    ),
    MetricEntry(
        "threads_read_waiting", "gauge", "Number of calls that wait for a thread to read the disk."
    ),
    MetricEntry(
        "threads_write_waiting",
        "gauge",
        "Number of calls that wait for a thread to write to the disk.",
    ),
    MetricEntry("streams", "gauge", "Number of streams."),
    MetricEntry("subscribers", "gauge", "Number of registered subscribers."),
    MetricEntry("subscriptions", "gauge", "Number of subscriptions of all subscribers."),
    MetricEntry(
        "damaged_changes",
        "gauge",
        "Number of changes of subscriptions in the log that cannot be read, counted at the start; "
        "wherecast store check names them.",
    ),
    MetricEntry(
        "pipeline_running", "gauge", "1 while publications are being matched, 0 otherwise."
    ),
    MetricEntry(
        "pipeline_restarts",
        "counter",
        "Number of times that the matching process was started again.",
    ),
)

METRICS = {entry.name: entry for entry in _ENTRIES}
"""Every metric of a server by its name, in the order of the reference page."""
