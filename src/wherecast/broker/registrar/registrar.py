"""Streams, subscribers and subscriptions: checked, then written to the log as changes.

Concurrency: any number of threads; changes are made one after the other.
"""

import secrets
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from threading import Lock

from wherecast.broker.core_limits import SUBSCRIPTIONS_MAX
from wherecast.broker.door.door import Door
from wherecast.broker.registrar.keep_duration import read_keep
from wherecast.broker.registrar.names import checked_name
from wherecast.broker.registrar.schema_changes import refusal_of
from wherecast.broker.registrar.subscribe_outcome import PutOutcome, SubscribeOutcome, Verdict
from wherecast.delivery import Cursor
from wherecast.language import Filter, read_filters
from wherecast.model import (
    ConfigError,
    FilterError,
    Schema,
    StreamSpec,
    Subscription,
    SubscriptionSpec,
)
from wherecast.model.names import did_you_mean
from wherecast.model.values import describe
from wherecast.store.changes.change_batches import (
    Row,
    batch_of,
    forget_row,
    stream_row,
    subscribe_row,
    subscriber_row,
    unsubscribe_row,
)
from wherecast.store.changes.projection import replay
from wherecast.store.contracts import Store
from wherecast.store.records import Accepted
from wherecast.store.store_items import PendingChanges, PendingCursors

DEFAULT_STREAM = "default"
_PAGE = 10_000


class Registrar:
    """Changes the registry of a store.

    Args:
        store: has the registry and the log.
        door: writes to the log; None makes one.
        subscriptions_max: number of subscriptions of one subscriber.
    """

    def __init__(
        self,
        store: Store,
        door: Door | None = None,
        subscriptions_max: int = SUBSCRIPTIONS_MAX,
    ) -> None:
        self._store = store
        self._door = Door(store) if door is None else door
        self._most = subscriptions_max
        self._counts: dict[str, int] = {}  # subscriptions, of subscribers that changed some
        self._lock = Lock()

    def schema(self, stream: str) -> Schema:
        """The schema of a stream.

        Raises:
            ConfigError: there is no such stream; the text names those there are.
        """
        streams = self._store.registry.streams()
        checked_name("stream", stream)
        if stream not in streams:
            known = ", ".join(sorted(streams)[:10]) or "none"
            hint = did_you_mean(stream, tuple(streams)) or f"there are: {known}"
            raise ConfigError(f"unknown stream {stream}; {hint}")
        return streams[stream]

    def define(
        self, stream: str, schema: Schema, now: int, keep: str | timedelta | None = None
    ) -> None:
        """Makes a stream, or changes how long its log is kept; the same again changes nothing.

        Args:
            stream: its name.
            schema: of its publications.
            now: the time.
            keep: how long the log is kept beyond what queues need, such as `1h`; `0s`: no longer.
                None leaves an existing stream as it is.

        Raises:
            ConfigError: the stream exists with another schema, or `keep` is no duration.
        """
        checked_name("stream", stream)
        if not isinstance(schema, Schema):
            raise ConfigError(f"a stream needs a Schema, not {describe(schema)}")
        keep_us = None if keep is None else read_keep(keep)
        with self._lock:
            there = self._store.registry.stream_specs().get(stream)
            if there is not None and there.schema.to_json() != schema.to_json():
                raise ConfigError(refusal_of(self._store.registry, stream, schema))
            kept_us = 0 if there is None else there.keep_us
            wanted = StreamSpec(schema, kept_us if keep_us is None else keep_us)
            if there is None or wanted.keep_us != there.keep_us:
                self._change([stream_row(stream, wanted)], now)

    def register(self, subscriber: str, now: int) -> bool:
        """Registers a subscriber; False where it is registered already."""
        checked_name("subscriber", subscriber)
        with self._lock:
            if self._store.registry.has_subscriber(subscriber):
                return False
            is_new = not self._was_lost(subscriber)
            if is_new:
                # First, so that a queue of an earlier one of this name is never taken up again.
                begin = {subscriber: Cursor(self._next_sequence())}
                self._door.write(PendingCursors(begin))
            self._change([subscriber_row(subscriber)], now)
            return is_new

    def forget(self, subscriber: str, now: int) -> bool:
        """Ends a subscriber with its subscriptions; False where it is not registered."""
        checked_name("subscriber", subscriber)
        with self._lock:
            if not self._store.registry.has_subscriber(subscriber):
                return False
            self._change([forget_row(subscriber)], now)
            self._counts.pop(subscriber, None)
            return True

    def subscribe(self, wanted: Subscription, now: int) -> SubscribeOutcome:
        """Adds a subscription, or replaces the one of its id; the same again changes nothing.

        Raises:
            ConfigError: the stream or the subscriber is unknown, or the id is no name.
            FilterError: the filter cannot be accepted; nothing changed.
        """
        checked_name("subscription id", wanted.id)
        refuse_validity(wanted.valid_for)
        read = Filter(wanted.filter, self.schema(wanted.stream))
        done = self.put(wanted.subscriber, [wanted], now)
        return SubscribeOutcome(read, done.verdicts[0], done.acts_from)

    def subscribe_all(
        self, subscriber: str, wanted: Iterable[Subscription], now: int
    ) -> list[tuple[str, FilterError]]:
        """Adds or replaces many subscriptions in one step, but for those with a bad filter.

        Returns:
            The ids of the bad ones, each with its error.
        """
        given = list(wanted)
        for one in given:
            checked_name("subscription id", one.id)
            refuse_validity(one.valid_for)
        bad = self._bad_filters(given)
        self.put(subscriber, [one for row, one in enumerate(given) if row not in bad], now)
        return [(given[row].id, error) for row, error in sorted(bad.items())]

    def put(
        self,
        subscriber: str,
        wanted: Sequence[Subscription],
        now: int,
        replace: bool = False,
        changes_max: int = sys.maxsize,
    ) -> PutOutcome:
        """Stores subscriptions whose filters were read; every way to subscribe ends here.

        Args:
            subscriber: has the subscriptions.
            wanted: the subscriptions; the last one of an id counts.
            now: the time.
            replace: whether all other subscriptions of the subscriber end.
            changes_max: number of changes of one transaction; other calls may come in between.

        Raises:
            ConfigError: the subscriber is not registered, or would have too many.
        """
        checked_name("subscriber", subscriber)
        with self._lock:
            self._check_registered(subscriber)
            ids = dict.fromkeys(one.id for one in wanted)
            stored = self.stored_specs(subscriber, None if replace else list(ids))
            specs = [one.spec(now) for one in wanted]
            verdicts = _verdicts([one.id for one in wanted], specs, stored)
            changes = [
                subscribe_row(subscriber, one.id, spec)
                for one, spec, verdict in zip(wanted, specs, verdicts, strict=True)
                if verdict != "unchanged"
            ]
            ended = sorted(stored.keys() - ids.keys()) if replace else []
            changes += [unsubscribe_row(subscriber, id, stored[id].stream) for id in ended]
            if not changes:
                return PutOutcome(verdicts, 0, None)
            self._make_room(subscriber, len(ids.keys() - stored.keys()) - len(ended))
            for start in range(0, len(changes), changes_max):
                accepted = self._change(changes[start : start + changes_max], now)
            return PutOutcome(verdicts, len(ended), accepted.acts_from)

    def stored_specs(
        self, subscriber: str, ids: Sequence[str] | None = None
    ) -> dict[str, SubscriptionSpec]:
        """What a subscriber's subscriptions ask for, all or some, by id."""
        registry = self._store.registry
        if ids is not None:
            return registry.among(subscriber, ids)
        found: dict[str, SubscriptionSpec] = {}
        after = ""
        while page := registry.subscriptions(subscriber, after, _PAGE):
            found |= {one.id: one.spec(one.accepted_at or 0) for one in page}
            after = page[-1].id
        return found

    def _make_room(self, subscriber: str, more: int) -> None:
        """Counts subscriptions that are about to be added, or fewer where they end.

        Raises:
            ConfigError: the subscriber would have too many.
        """
        if subscriber not in self._counts:
            self._counts[subscriber] = self._store.registry.count(subscriber)
        count = self._counts[subscriber] + more
        if more > 0 and count > self._most:
            raise ConfigError(
                f"subscriber {subscriber} would have {count} subscriptions; the limit"
                f" limits.subscriptions_max is {self._most}"
            )
        self._counts[subscriber] = count

    def _bad_filters(self, given: Sequence[Subscription]) -> dict[int, FilterError]:
        """The rows of filters that cannot be accepted; those of a stream are read as a column."""
        rows: dict[str, list[int]] = {}
        for row, one in enumerate(given):
            rows.setdefault(one.stream, []).append(row)
        return {
            own[number]: error
            for stream, own in rows.items()
            for number, error in read_filters(
                [given[row].filter for row in own], self.schema(stream)
            ).rejected
        }

    def unsubscribe(self, subscriber: str, id: str, now: int) -> bool:
        """Ends a subscription; its queued notifications stay. False where there is none."""
        checked_name("subscriber", subscriber)
        checked_name("subscription id", id)
        with self._lock:
            there = self._store.registry.subscription(subscriber, id)
            if there is None:
                return False
            self._make_room(subscriber, -1)
            self._change([unsubscribe_row(subscriber, id, there.stream)], now)
            return True

    def _was_lost(self, subscriber: str) -> bool:
        """Whether the registry lost a subscriber by damage, so that its cursor still holds.

        A subscriber that was forgotten has no cursor, as a rule: so the changes are seldom read. A
        damaged change may have registered anybody who has a cursor.
        """
        if self._store.cursors.read(subscriber) is None:
            return False
        log = self._store.log
        is_registered = replay(log, log.changes_end()).has_subscriber(subscriber)
        return is_registered or log.damaged_changes() > 0

    def _next_sequence(self) -> int:
        """A sequence that the next publication reaches, and none that is in the log."""
        batches = self._store.batches
        return batches.numbering.next(batches.progress(), self._store.log)

    def _check_registered(self, subscriber: str) -> None:
        """Raises ConfigError unless a subscriber is registered."""
        if not self._store.registry.has_subscriber(subscriber):
            raise ConfigError(f"subscriber {subscriber} is not registered")

    def _change(self, changes: Sequence[Row], now: int) -> Accepted:
        """Writes changes to the log; the lock is held."""
        try:
            accepted: Accepted = self._door.write(PendingChanges(batch_of(changes), now))
            return accepted
        except BaseException:
            self._counts.clear()  # they counted on it
            raise


def _verdicts(
    ids: Sequence[str],
    specs: Sequence[SubscriptionSpec],
    stored: Mapping[str, SubscriptionSpec],
) -> tuple[Verdict, ...]:
    """What becomes of subscriptions, one after the other."""
    current, verdicts = dict(stored), list[Verdict]()
    for id, after in zip(ids, specs, strict=True):
        before = current.get(id)
        verdicts.append(
            "created" if before is None else "unchanged" if before == after else "changed"
        )
        current[id] = after
    return tuple(verdicts)


def new_id() -> str:
    """An id for a subscription that was made without one."""
    return secrets.token_hex(8)


def refuse_validity(valid_for: timedelta | None) -> None:
    """Raises ConfigError where a validity is given, which is not supported yet."""
    if valid_for is not None:
        raise ConfigError("valid_for is not supported yet; leave it out")
