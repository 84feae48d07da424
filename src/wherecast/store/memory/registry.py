"""The registry in memory.

Concurrency: a lock, since the log changes it while others read it.
"""

import threading
from collections.abc import Mapping, Sequence

import pyarrow as pa

from wherecast.model import Schema, Subscription
from wherecast.store.changes.projection import Projection


class MemoryRegistry:
    """A projection of the log that is kept up to date by it."""

    def __init__(self) -> None:
        self._projection = Projection()
        self._lock = threading.Lock()

    @property
    def version(self) -> int:
        """How many changes were applied."""
        return self._projection.version

    def apply(self, changes: pa.RecordBatch, at: int) -> None:
        """Applies a batch of `CHANGES` that was accepted at a time."""
        with self._lock:
            self._projection.apply(changes, at)

    def streams(self) -> Mapping[str, Schema]:
        """The streams and their schemas."""
        with self._lock:
            return self._projection.streams()

    def has_subscriber(self, name: str) -> bool:
        """Whether a subscriber is registered."""
        with self._lock:
            return self._projection.has_subscriber(name)

    def subscribers(self, after: str = "", limit: int = 1000) -> list[str]:
        """The next registered subscribers in the order of their names."""
        with self._lock:
            return self._projection.subscribers(after, limit)

    def subscription(self, subscriber: str, id: str) -> Subscription | None:
        """A subscription, if it is there."""
        with self._lock:
            return self._projection.subscription(subscriber, id)

    def subscriptions(
        self, subscriber: str, after: str = "", limit: int = 1000
    ) -> list[Subscription]:
        """The next subscriptions of a subscriber in the order of their ids."""
        with self._lock:
            return self._projection.subscriptions(subscriber, after, limit)

    def among(self, subscriber: str, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The stream and the filter of those of some subscriptions that are there, by id."""
        with self._lock:
            return self._projection.among(subscriber, ids)

    def count(self, subscriber: str) -> int:
        """How many subscriptions a subscriber has."""
        with self._lock:
            return self._projection.count(subscriber)

    def counts(self) -> dict[str, int]:
        """How many `streams`, `subscribers` and `subscriptions` there are."""
        with self._lock:
            return self._projection.counts()
