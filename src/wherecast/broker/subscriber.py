"""Subscribers of a broker in this process, and what they receive."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import count
from math import isnan

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.registrar.registrar import DEFAULT_STREAM, new_id
from wherecast.delivery import QueuedNotification, decode_cursor, encode_cursor
from wherecast.model import (
    AcknowledgementError,
    ConfigError,
    FilterError,
    Publication,
    StoreError,
    Subscription,
)
from wherecast.model.values import describe

_connections = count(1)
_TIMEOUT_MAX_S = 1e9  # threads cannot wait for ever
_TAKEN_MAX = 1 << 31


@dataclass(frozen=True, slots=True)
class Notification:
    """A publication that matched, for a subscriber.

    Attributes:
        publication: the publication, with its id and time filled in.
        subscription_ids: the subscriptions that matched, sorted.
        stream: the stream of the publication.
        cursor: names this notification; cursors sort as notifications came.
        redelivered: whether the subscriber may have received it before.
    """

    publication: Publication
    subscription_ids: tuple[str, ...]
    stream: str
    cursor: str
    redelivered: bool
    _owner: "Subscriber" = field(repr=False, compare=False)

    def ack(self) -> None:
        """Acknowledges this notification: it is not delivered again."""
        self._owner.ack(self)


class Subscriber:
    """A registered subscriber: its subscriptions and its queue.

    Raises:
        ConfigError: nobody of this name is registered.
    """

    def __init__(self, name: str, core: BrokerCore) -> None:
        self.name = name
        self._core = core
        if not core.open_queue(name):
            raise ConfigError(f"subscriber {name} is not registered")

    def subscribe(
        self, filter: str, id: str | None = None, stream: str = DEFAULT_STREAM
    ) -> Subscription:
        """Adds a subscription, which acts on everything that is published after this returns.

        A second call with the same id replaces the filter. Without an id the subscription gets
        one. `warnings` of the result says, for instance, that the filter can never match.

        Raises:
            FilterError: the filter cannot be accepted.
        """
        self._core.check()
        wanted = Subscription(new_id() if id is None else id, filter, self.name, stream)
        read = self._core.registrar.subscribe(wanted, self._core.clock()).filter
        return replace(wanted, warnings=read.warnings)

    def subscribe_all(
        self, filters: Mapping[str, str] | Iterable[tuple[str, str]], stream: str = DEFAULT_STREAM
    ) -> list[tuple[str, FilterError]]:
        """Adds or replaces many subscriptions, given as pairs of id and filter, in one step.

        Returns:
            The ids of subscriptions with a bad filter, which are left out, each with its error.

        Raises:
            ConfigError: these are no pairs, or an id is no name.
        """
        self._core.check()
        pairs = filters.items() if isinstance(filters, Mapping) else filters
        wanted = [Subscription(id, filter, self.name, stream) for id, filter in _checked(pairs)]
        return self._core.registrar.subscribe_all(self.name, wanted, self._core.clock())

    def unsubscribe(self, id: str) -> bool:
        """Ends a subscription; its queued notifications stay. False where there is none."""
        self._core.check()
        return self._core.registrar.unsubscribe(self.name, id, self._core.clock())

    def subscriptions(self) -> list[Subscription]:
        """The subscriptions of this subscriber, sorted by id."""
        self._core.check()
        found: list[Subscription] = []
        registry = self._core.store.registry
        while page := registry.subscriptions(self.name, found[-1].id if found else ""):
            found += page
        return found

    def take(self, most: int = 1, timeout: float = 0.0) -> list[Notification]:
        """The oldest notifications that are not acknowledged; waits for the first one.

        Notifications that were taken before come again, marked, until they are acknowledged.

        Args:
            most: the largest number of notifications.
            timeout: how long to wait for the first one, in seconds.
        """
        check_take(most, timeout)
        self._core.check()
        while True:
            handed = self._core.courier.take(
                self.name, min(most, _TAKEN_MAX), min(timeout, _TIMEOUT_MAX_S)
            )
            self._core.raise_failure()
            found = self.notifications(handed)
            if found or not handed:  # else all were lost, and others may follow
                return found

    def ack(self, notification: Notification) -> None:
        """Acknowledges a notification: it is not delivered again."""
        sequence = self._own(notification)
        self._core.ack(self.name, Acknowledgement(sequences=(sequence,)))

    def ack_through(self, notification: Notification) -> None:
        """Acknowledges a notification and all that came before it."""
        sequence = self._own(notification)
        self._core.ack(self.name, Acknowledgement(sequence))

    def _own(self, notification: Notification) -> int:
        """The sequence of a notification of this subscriber."""
        self._core.check()
        if not isinstance(notification, Notification):
            raise ConfigError(f"a notification is acknowledged, not {describe(notification)}")
        if notification._owner.name != self.name:
            text = f"{notification.cursor} is a notification of {notification._owner.name}"
            raise AcknowledgementError(text, notification.cursor, "not_queued")
        return decode_cursor(notification.cursor)

    def __iter__(self) -> Iterator[Notification]:
        """Notifications as they come, each once, until the broker is closed.

        No more than a thousand are ahead of their acknowledgement. What is not acknowledged when
        the iteration ends is delivered again.
        """
        with self.feed() as feed:
            while (found := feed.read()) is not None:
                yield from found

    def feed(self) -> "Feed":
        """A connection that notifications are sent over, in place of an earlier one."""
        return Feed(self, self._core)

    def listening(self, listener: Callable[[], None]) -> AbstractContextManager[None]:
        """Has a function called by any thread whenever there may be something new.

        It must not wait, and must not call back.
        """
        return self._core.courier.listening(self.name, listener)

    @property
    def lost(self) -> int:
        """Number of notifications that were removed before they were acknowledged.

        They passed a limit of age or size, or their publications are damaged in the log.
        """
        self._core.check()
        return self._core.courier.figures(self.name).lost

    @property
    def queued(self) -> int:
        """Number of notifications that are not acknowledged."""
        self._core.check()
        return self._core.queued(self.name)

    def notifications(self, handed: Sequence[QueuedNotification]) -> list[Notification]:
        """The notifications that a queue handed out, with their publications.

        A notification whose publication is damaged in the log is left out, and counted as lost.
        """
        received = self._core.publications([one.sequence for one in handed])
        lost = [one.sequence for one, got in zip(handed, received, strict=True) if got is None]
        if lost:
            self._core.lose(self.name, lost)
        return [
            Notification(
                got.publication,
                one.subscription_ids,
                got.stream,
                encode_cursor(one.sequence),
                one.redelivered,
                self,
            )
            for one, got in zip(handed, received, strict=True)
            if got is not None
        ]


def _checked(pairs: object) -> Iterator[tuple[str, str]]:
    """Pairs of id and filter; whether both are texts is checked later."""
    for pair in pairs if isinstance(pairs, Iterable) else [pairs]:
        if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
            what = describe(pair)
            raise ConfigError(f"subscribe_all takes pairs of id and filter, not {what}")
        yield pair[0], pair[1]


def check_take(most: object, timeout: object) -> None:
    """Raises ConfigError unless the arguments of `take` are a count and a time."""
    if not isinstance(most, int) or most < 1:
        raise ConfigError(f"take a whole number of notifications, at least 1, not {most}")
    if not isinstance(timeout, int | float) or isnan(timeout):
        raise ConfigError(f"a timeout is a number of seconds, not {timeout}")


class Feed:
    """A connection over which a subscriber is sent its notifications, from `enter` to `exit`.

    No more than a thousand are ahead of their acknowledgement. What is not acknowledged at the end
    is delivered again.
    """

    def __init__(self, subscriber: Subscriber, core: BrokerCore) -> None:
        self._subscriber = subscriber
        self._core = core
        self._connection = next(_connections)

    def __enter__(self) -> "Feed":
        self._core.check()
        self._core.courier.connect(self._subscriber.name, self._connection)
        return self

    def __exit__(self, *_: object) -> None:
        self._core.courier.disconnect(self._subscriber.name, self._connection)

    def read(self, timeout: float | None = None) -> list[Notification] | None:
        """What was sent since the last call; None where the connection has ended.

        Args:
            timeout: how long to wait for the first one, in seconds; None is as long as it takes.
        """
        name = self._subscriber.name
        handed = self._core.courier.sent(name, self._connection, timeout)
        self._core.raise_failure()
        try:
            return None if handed is None else self._subscriber.notifications(handed)
        except StoreError:
            if self._core.is_closed:  # meanwhile
                return None
            raise
