"""The registry in memory.

Concurrency: a lock, since the log changes it while others read it.
"""

import threading
from collections.abc import Mapping, Sequence

import pyarrow as pa
from typing_extensions import override

from wherecast.model import Schema, StreamSpec, Subscription, SubscriptionSpec
from wherecast.store.changes.projection import Projection
from wherecast.store.contracts import Registry


class MemoryRegistry(Registry):
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

    @override
    def streams(self) -> Mapping[str, Schema]:
        with self._lock:
            return self._projection.streams()

    @override
    def stream_specs(self) -> Mapping[str, StreamSpec]:
        with self._lock:
            return self._projection.stream_specs()

    @override
    def has_subscriber(self, name: str) -> bool:
        with self._lock:
            return self._projection.has_subscriber(name)

    @override
    def subscribers(self, after: str = "", limit: int = 1000) -> list[str]:
        with self._lock:
            return self._projection.subscribers(after, limit)

    @override
    def subscription(self, subscriber: str, id: str) -> Subscription | None:
        with self._lock:
            return self._projection.subscription(subscriber, id)

    @override
    def subscriptions(
        self, subscriber: str, after: str = "", limit: int = 1000
    ) -> list[Subscription]:
        with self._lock:
            return self._projection.subscriptions(subscriber, after, limit)

    @override
    def among(self, subscriber: str, ids: Sequence[str]) -> dict[str, SubscriptionSpec]:
        with self._lock:
            return self._projection.among(subscriber, ids)

    @override
    def count(self, subscriber: str) -> int:
        with self._lock:
            return self._projection.count(subscriber)

    @override
    def counts(self) -> dict[str, int]:
        with self._lock:
            return self._projection.counts()
