"""The registry as changes make it: a plain projection of the log, at any version.

Concurrency: one thread at a time.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import repeat

import pyarrow as pa
from typing_extensions import override

from wherecast.model import Schema, StoreError, Subscription
from wherecast.store.changes.change_batches import Row, runs_of
from wherecast.store.contracts import Log, Registry
from wherecast.store.records import ChangeEntry

_Held = tuple[str, str, int]  # stream, filter, when it was accepted
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def replay(log: Log, version: int) -> "Projection":
    """The registry as it was before a version; damaged changes are passed over.

    Raises:
        StoreError: the version lies in what was compacted.
    """
    projection = Projection()
    for entry in log.changes(0, version):
        if version < (entry.compacted_to or 0):
            raise StoreError(
                f"what stood before change {version} is not known any more: the changes before "
                f"{entry.compacted_to} were compacted"
            )
        projection.take(entry, version)
    return projection


def subscription_of(subscriber: str, id: str, held: _Held) -> Subscription:
    """The subscription of what a registry holds: stream, filter and microseconds."""
    stream, text, at = held
    return Subscription(id, text, subscriber, stream, _EPOCH + timedelta(microseconds=at))


def accepted_at(subscription: Subscription) -> int:
    """When a subscription of a registry was accepted, in microseconds."""
    assert subscription.starts_at is not None
    return (subscription.starts_at - _EPOCH) // timedelta(microseconds=1)


class Projection(Registry):
    """Streams, subscribers and subscriptions after some changes; empty before the first.

    A damaged change makes nothing. It may have defined a stream: so after it, a subscription to a
    stream that is not defined is passed over, as in matching, which needs the schema.

    Attributes:
        version: how many changes were applied.
    """

    def __init__(self) -> None:
        self.version = 0
        self._has_damage = False
        self._streams: dict[str, Schema] = {}
        self._held: dict[str, dict[str, _Held]] = {}  # subscriber → id
        self._sorted: dict[str | None, list[str]] = {}  # ids of a subscriber; None: the subscribers

    def take(self, entry: ChangeEntry, end: int | None = None) -> None:
        """Applies what an entry has before a version, or all of it; of a damaged one nothing."""
        if entry.version == 0:
            self._streams, self._held, self._sorted = {}, {}, {}
            self._has_damage = False
        self._has_damage |= entry.damage is not None
        end = entry.end if end is None else min(end, entry.end)
        cut = entry.changes.slice(0, end - entry.version)
        changes = entry.changes if end == entry.end else cut
        self._apply(changes, repeat(entry.at) if entry.times is None else entry.times.tolist())
        self.version = end

    def apply(self, changes: pa.RecordBatch, at: int) -> None:
        """Applies a batch of `CHANGES` that was accepted at a time."""
        self._apply(changes, repeat(at))
        self.version += changes.num_rows

    def _apply(self, changes: pa.RecordBatch, times: Iterable[int]) -> None:
        left = iter(times)
        for kind, run in runs_of(changes):
            columns = [run.column(name).to_pylist() for name in run.schema.names[1:]]
            for (stream, subscriber, id, text), at in zip(zip(*columns, strict=True), left):  # noqa: B905
                if kind == "stream":
                    self._streams[stream] = Schema.from_json(text)
                elif kind == "subscriber":
                    self._register(subscriber)
                elif kind == "forget":
                    self._forget(subscriber)
                elif kind == "subscribe":
                    held = None if self._passes_over(stream) else (stream, text, at)
                    self._subscribe(subscriber, id, held)
                else:
                    self._unsubscribe(subscriber, id)

    def rows(self) -> Iterator[tuple[Row, int]]:
        """Changes that make all this from nothing, each with the time of a subscription or 0."""
        for stream, schema in self._streams.items():
            yield ("stream", stream, "", "", schema.to_json()), 0
        for subscriber, held in self._held.items():
            yield ("subscriber", "", subscriber, "", ""), 0
            for id, (stream, text, at) in held.items():
                yield ("subscribe", stream, subscriber, id, text), at

    @override
    def streams(self) -> Mapping[str, Schema]:
        return dict(self._streams)

    @override
    def has_subscriber(self, name: str) -> bool:
        return name in self._held

    @override
    def subscribers(self, after: str = "", limit: int = 1000) -> list[str]:
        return self._page(None, self._held, after, limit)

    @override
    def subscription(self, subscriber: str, id: str) -> Subscription | None:
        held = self._held.get(subscriber, {}).get(id)
        return None if held is None else subscription_of(subscriber, id, held)

    @override
    def subscriptions(
        self, subscriber: str, after: str = "", limit: int = 1000
    ) -> list[Subscription]:
        held = self._held.get(subscriber, {})
        page = self._page(subscriber, held, after, limit)
        return [subscription_of(subscriber, id, held[id]) for id in page]

    @override
    def among(self, subscriber: str, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        held = self._held.get(subscriber, {})
        return {id: held[id][:2] for id in ids if id in held}

    @override
    def count(self, subscriber: str) -> int:
        return len(self._held.get(subscriber, {}))

    @override
    def counts(self) -> dict[str, int]:
        subscriptions = sum(map(len, self._held.values()))
        return {
            "streams": len(self._streams),
            "subscribers": len(self._held),
            "subscriptions": subscriptions,
        }

    def _register(self, subscriber: str) -> dict[str, _Held]:
        if subscriber not in self._held:
            self._held[subscriber] = {}
            self._sorted.pop(None, None)
        return self._held[subscriber]

    def _forget(self, subscriber: str) -> None:
        if self._held.pop(subscriber, None) is not None:
            self._sorted.pop(subscriber, None)
            self._sorted.pop(None, None)

    def _passes_over(self, stream: str) -> bool:
        return self._has_damage and stream not in self._streams

    def _subscribe(self, subscriber: str, id: str, held: _Held | None) -> None:
        ids = self._register(subscriber)
        if held is None:
            self._unsubscribe(subscriber, id)
            return
        if id not in ids:
            self._sorted.pop(subscriber, None)
        ids[id] = held

    def _unsubscribe(self, subscriber: str, id: str) -> None:
        if self._held.get(subscriber, {}).pop(id, None) is not None:
            self._sorted.pop(subscriber, None)

    def _page(
        self, of: str | None, names: Mapping[str, object], after: str, limit: int
    ) -> list[str]:
        """The next names; they are sorted when they are first asked for."""
        if not names:
            return []
        if of not in self._sorted:
            self._sorted[of] = sorted(names)
        start = bisect_right(self._sorted[of], after)
        return self._sorted[of][start : start + limit]
