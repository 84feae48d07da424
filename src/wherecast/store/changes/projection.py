"""The registry as changes make it: a plain projection of the log, at any version.

Concurrency: one thread at a time.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
import pyarrow as pa
from typing_extensions import override

from wherecast.model import Schema, StoreError, StreamSpec, Subscription, SubscriptionSpec
from wherecast.store.changes.change_batches import (
    Row,
    runs_of,
    stream_row,
    subscriber_row,
)
from wherecast.store.contracts import Log, Registry
from wherecast.store.records import KNOWN_KINDS, ChangeEntry

_Origin = tuple[int, int]  # version of a change, and when it was accepted
_Held = tuple[str, str, str, int, int]  # stream, filter, options, version, when accepted
_Fields = tuple[str, str, str, str, str]
_FIELDS = ("stream", "subscriber", "id", "text", "options")


@dataclass(frozen=True, slots=True)
class StandingChange:
    """A change that was not superseded.

    Attributes:
        version: of the change.
        at: time of its acceptance.
        row: its content.
    """

    version: int
    at: int
    row: Row


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
        self._streams: dict[str, tuple[StreamSpec, _Origin]] = {}
        self._subscribers: dict[str, _Origin] = {}
        self._held: dict[str, dict[str, _Held]] = {}  # subscriber → id
        self._sorted: dict[str | None, list[str]] = {}  # ids of a subscriber; None: the subscribers

    def take(self, entry: ChangeEntry, end: int | None = None) -> None:
        """Applies what an entry has before a version, or all of it; of a damaged one nothing."""
        if entry.version == 0:
            self._streams, self._subscribers, self._held, self._sorted = {}, {}, {}, {}
            self._has_damage = False
        self._has_damage |= entry.damage is not None
        end = entry.end if end is None else min(end, entry.end)
        versions = entry.row_versions
        count = int(np.searchsorted(versions, end))
        changes = entry.changes if end == entry.end else entry.changes.slice(0, count)
        times = repeat(entry.at) if entry.times is None else entry.times.tolist()
        self._apply(changes, versions.tolist(), times)
        self.version = end

    def apply(self, changes: pa.RecordBatch, at: int) -> None:
        """Applies a batch of `CHANGES` that was accepted at a time."""
        end = self.version + changes.num_rows
        self._apply(changes, range(self.version, end), repeat(at))
        self.version = end

    def _apply(
        self, changes: pa.RecordBatch, versions: Iterable[int], times: Iterable[int]
    ) -> None:
        """Applies changes, each with its version and its time; other kinds are passed over."""
        left = zip(versions, times)  # noqa: B905
        for kind, run in runs_of(changes):
            columns = [run.column(name).to_pylist() for name in _FIELDS]
            for fields, origin in zip(zip(*columns, strict=True), left):  # noqa: B905
                if kind == "subscribe":
                    stream, subscriber, id, *texts = fields
                    self._subscribe(subscriber, id, (stream, *texts, *origin))
                elif kind in KNOWN_KINDS:
                    self._change(kind, fields, origin)

    def rows(self) -> Iterator[StandingChange]:
        """Changes that make all this from nothing, once they are sorted by version.

        A stream has the version of its first definition, which comes before its subscriptions.
        """
        for stream, (definition, origin) in self._streams.items():
            yield StandingChange(*origin, stream_row(stream, definition))
        for subscriber, held in self._held.items():
            registered = self._subscribers[subscriber]
            if all(version != registered[0] for *_, version, _ in held.values()):
                yield StandingChange(*registered, subscriber_row(subscriber))
            for id, (stream, text, options, version, at) in held.items():
                row = ("subscribe", stream, subscriber, id, text, options)
                yield StandingChange(version, at, row)

    @override
    def streams(self) -> Mapping[str, Schema]:
        return {name: spec.schema for name, (spec, _) in self._streams.items()}

    @override
    def stream_specs(self) -> Mapping[str, StreamSpec]:
        return {name: spec for name, (spec, _) in self._streams.items()}

    @override
    def has_subscriber(self, name: str) -> bool:
        return name in self._held

    @override
    def subscribers(self, after: str = "", limit: int = 1000) -> list[str]:
        return self._page(None, self._held, after, limit)

    @override
    def subscription(self, subscriber: str, id: str) -> Subscription | None:
        held = self._held.get(subscriber, {}).get(id)
        return None if held is None else _subscription(subscriber, id, held)

    @override
    def subscriptions(
        self, subscriber: str, after: str = "", limit: int = 1000
    ) -> list[Subscription]:
        held = self._held.get(subscriber, {})
        page = self._page(subscriber, held, after, limit)
        return [_subscription(subscriber, id, held[id]) for id in page]

    @override
    def among(self, subscriber: str, ids: Sequence[str]) -> dict[str, SubscriptionSpec]:
        held = self._held.get(subscriber, {})
        return {id: SubscriptionSpec.read(*held[id][:3]) for id in ids if id in held}

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

    def _change(self, kind: str, fields: _Fields, origin: _Origin) -> None:
        """Applies a change of a known kind that is no subscription."""
        stream, subscriber, id, text, options = fields
        if kind == "stream":
            _, first = self._streams.get(stream, (None, origin))
            self._streams[stream] = StreamSpec.read(text, options), first
        elif kind == "subscriber":
            self._register(subscriber, origin)
        elif kind == "forget":
            self._forget(subscriber)
        else:
            self._unsubscribe(subscriber, id)

    def _register(self, subscriber: str, origin: _Origin) -> dict[str, _Held]:
        if subscriber not in self._held:
            self._held[subscriber] = {}
            self._subscribers[subscriber] = origin
            self._sorted.pop(None, None)
        return self._held[subscriber]

    def _forget(self, subscriber: str) -> None:
        if self._held.pop(subscriber, None) is not None:
            del self._subscribers[subscriber]
            self._sorted.pop(subscriber, None)
            self._sorted.pop(None, None)

    def _passes_over(self, stream: str) -> bool:
        return self._has_damage and stream not in self._streams

    def _subscribe(self, subscriber: str, id: str, held: _Held) -> None:
        ids = self._register(subscriber, held[3:])
        if self._passes_over(held[0]):
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


def _subscription(subscriber: str, id: str, held: _Held) -> Subscription:
    return Subscription.accepted(subscriber, id, SubscriptionSpec.read(*held[:3]), held[4])
