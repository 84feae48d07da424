"""What a courier decides: the open queues, and what each connection has still to be sent.

A protocol without I/O, clocks or threads. Each method is an event; it returns what the shell is to
do. Two dispatchers that are given the same events do the same, in the same order.

Concurrency: none; the shell holds one lock around each event and its effects, so that what a queue
sends stays in order.
"""

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field

from wherecast.delivery.cursor import Cursor
from wherecast.delivery.effects import (
    Close,
    Effect,
    LoadNotifications,
    QueuedNotification,
    QueueFigures,
    SaveCursor,
    Send,
)
from wherecast.delivery.queue import Queue
from wherecast.delivery.queue_items import Item
from wherecast.delivery.queue_limits import DEFAULT_QUEUE_LIMITS, QueueLimits
from wherecast.delivery.queues import Queues
from wherecast.model import ConfigError


@dataclass(slots=True)
class DispatchEffects:
    """What the shell is to do after an event.

    Attributes:
        loads: what to read, with the subscriber; each is answered by `loaded` or `load_failed`.
        saves: subscribers whose cursors are to be stored.
        wakes: subscribers whose waiting receivers may find something new, as keys.
    """

    loads: list[tuple[str, LoadNotifications]] = field(default_factory=list)
    saves: list[str] = field(default_factory=list)
    wakes: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Outbox:
    """What the connection of one subscriber was sent and has not taken.

    Attributes:
        notifications: in the order in which they were sent.
        is_used: whether the queue was pulled from since idle queues were released last.
    """

    notifications: deque[QueuedNotification] = field(default_factory=deque)
    is_used: bool = True


class Dispatcher:
    """The queues of all subscribers that were opened.

    Args:
        end: the sequence up to which the pipeline has committed.
        delivered_before: an earlier process may have delivered everything before this sequence.
        limits: the limits of each queue.
    """

    def __init__(
        self,
        end: int,
        delivered_before: int | None = None,
        limits: QueueLimits = DEFAULT_QUEUE_LIMITS,
    ) -> None:
        self._queues = Queues(end, delivered_before, limits)
        self._outboxes: dict[str, _Outbox] = {}

    def __contains__(self, name: str) -> bool:
        """Whether the queue of a subscriber is open."""
        return name in self._outboxes

    @property
    def notified_end(self) -> int:
        """The queues have heard of all publications before this sequence."""
        return self._queues.notified_end

    def open(self, name: str, cursor: Cursor) -> None:
        """Opens the queue of a subscriber, unless it is open."""
        if name not in self._outboxes:
            self._queues.open(name, cursor)
            self._outboxes[name] = _Outbox()

    def forget(self, name: str) -> None:
        """Ends the queue of a subscriber, if it is open."""
        if self._outboxes.pop(name, None) is not None:
            self._queues.forget(name)

    # Events of the pipeline and of the store.

    def notified(
        self, first: int, end: int, items: Mapping[str, Sequence[Item]]
    ) -> DispatchEffects:
        """Gives queues all notifications for publications of a range, by subscriber."""
        effects = self._merged(self._queues.notified(first, end, items))
        for name in items:
            effects.wakes[name] = None
        return effects

    def committed(self, sequence: int) -> DispatchEffects:
        """Tells queues that everything before a sequence is stored."""
        by_name = self._queues.committed(sequence)
        effects = self._merged(by_name)
        for name in by_name:
            effects.wakes[name] = None
        return effects

    def loaded(
        self,
        name: str,
        start: int,
        sequences: Sequence[int],
        ids: Sequence[Sequence[str]],
        end: int,
    ) -> DispatchEffects:
        """Takes the answer to a load: all notifications of a subscriber from its start to an end.

        The answer to a queue that is closed meanwhile is dropped.
        """
        effects = DispatchEffects()
        if name in self._outboxes:
            self._add(effects, name, self._queues[name].loaded(start, sequences, ids, end))
            effects.wakes[name] = None
        return effects

    def load_failed(self, name: str) -> DispatchEffects:
        """Gives up a load that failed; another receiver who waits may try it."""
        effects = DispatchEffects()
        if name in self._outboxes:
            self._queues[name].load_failed()
            effects.wakes[name] = None
        return effects

    def trimmed(self, name: str, start: int, lost: int) -> DispatchEffects:
        """Lets an open queue begin at a sequence, and counts what it lost."""
        return self._merged(self._queues.trimmed(start, {name: lost}))

    def undeliverable(self, name: str, sequences: Collection[int]) -> DispatchEffects:
        """Takes notifications off a queue that cannot be delivered, and counts them as lost.

        Those that are not in the queue any more, as they were trimmed or acknowledged meanwhile,
        are not counted.
        """
        queue, effects = self._open_queue(name), DispatchEffects()
        before = queue.figures.acknowledged
        self._add(effects, name, queue.ack(sequences))
        lost = queue.figures.acknowledged - before
        for todo in self._queues.trimmed(0, {name: lost}).values():
            self._add(effects, name, todo)
        return effects

    def release_idle(self) -> None:
        """Gives back the memory of queues that nobody pulled from since the last call."""
        for name, outbox in self._outboxes.items():
            if not outbox.is_used:
                self._queues.release(name)
            outbox.is_used = False

    # Events of subscribers.

    def take(self, name: str, most: int) -> tuple[QueuedNotification, ...] | LoadNotifications:
        """The oldest notifications that are not acknowledged, or what must be read before."""
        queue = self._open_queue(name)
        self._outboxes[name].is_used = True
        return queue.take(most)

    def wait(self, name: str) -> None:
        """Has `committed` wake a subscriber when a pull is worth while, until `leave`."""
        self._open_queue(name)
        self._queues.wait(name)

    def leave(self, name: str) -> None:
        """Ends one `wait`; the queue may be gone by then."""
        self._queues.leave(name)

    def ack(self, name: str, sequences: Collection[int]) -> DispatchEffects:
        """Acknowledges single notifications, all or none.

        Raises:
            AcknowledgementError: one was never delivered or is not in the queue.
            ConfigError: the subscriber has no queue.
        """
        effects = DispatchEffects()
        self._add(effects, name, self._open_queue(name).ack(sequences))
        return effects

    def ack_through(self, name: str, sequence: int) -> DispatchEffects:
        """Acknowledges everything up to a notification, and that one.

        Raises:
            AcknowledgementError: it was never delivered.
            ConfigError: the subscriber has no queue.
        """
        effects = DispatchEffects()
        self._add(effects, name, self._open_queue(name).ack_through(sequence))
        return effects

    def connect(self, name: str, connection: int, window: int | None = None) -> DispatchEffects:
        """Has notifications sent over a connection, in place of the one before it."""
        self._open_queue(name)
        effects = DispatchEffects()
        todo = self._queues.connect(name, connection, window)
        self._outboxes[name].notifications.clear()
        self._add(effects, name, todo)
        effects.wakes[name] = None
        return effects

    def disconnect(self, name: str, connection: int) -> None:
        """Ends a connection; what was not acknowledged stays in the queue."""
        self._queues.disconnect(name, connection)

    def sent(self, name: str, connection: int) -> tuple[QueuedNotification, ...] | None:
        """What a connection was sent since the last call; None where the connection ended."""
        outbox = self._outboxes.get(name)
        if outbox is None or self._queues[name].connection != connection:
            return None
        sent = tuple(outbox.notifications)
        outbox.notifications.clear()
        return sent

    # What is known.

    def is_behind(self, name: str) -> bool:
        """Whether a queue waits for notifications to be stored, since it has them not in memory."""
        return self._queues.is_behind(name)

    def cursor(self, name: str) -> Cursor | None:
        """The cursor of a subscriber as it is now; None where it has no queue."""
        return self._queues[name].cursor if name in self._outboxes else None

    def figures(self, name: str) -> QueueFigures:
        """What a queue has done.

        Raises:
            ConfigError: the subscriber has no queue.
        """
        return self._open_queue(name).figures

    def totals(self) -> QueueFigures:
        """What all open queues have done, together."""
        each = [astuple(self._queues[name].figures) for name in self._outboxes]
        sums = map(sum, zip(*each, strict=True)) if each else (0, 0, 0, 0, 0, 0)
        return QueueFigures(*sums)

    def _open_queue(self, name: str) -> Queue:
        if name not in self._outboxes:
            raise ConfigError(f"subscriber {name} is not registered")
        return self._queues[name]

    def _merged(self, by_name: Mapping[str, Iterable[Effect]]) -> DispatchEffects:
        effects = DispatchEffects()
        for name, todo in by_name.items():
            self._add(effects, name, todo)
        return effects

    def _add(self, effects: DispatchEffects, name: str, todo: Iterable[Effect]) -> None:
        """Adds what one queue asks for; what it sends goes to the outbox of its subscriber."""
        for effect in todo:
            match effect:
                case Send():
                    self._outboxes[name].notifications.extend(effect.notifications)
                    effects.wakes[name] = None
                case SaveCursor():
                    effects.saves.append(name)
                case Close():  # who waits there sees that the connection is another
                    effects.wakes[name] = None
                case LoadNotifications():
                    effects.loads.append((name, effect))
