"""The queue of one subscriber: what it has still to receive, and what it acknowledged.

A queue does no I/O and knows no time. Each method is an event; it returns the effects that the
shell is to perform. A queue is not safe for several threads: whoever shares it locks it.

Notifications are handed out from the oldest to the newest, by pull and by push alike. So all that
were ever handed out and are not acknowledged lie before one sequence: notifications before it are
marked as redelivered.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import islice

from wherecast.delivery.backlog import Backlog
from wherecast.delivery.cursor import Cursor, encode_cursor
from wherecast.delivery.effects import (
    Close,
    Effect,
    LoadNotifications,
    QueuedNotification,
    QueueFigures,
    SaveCursor,
    Send,
)
from wherecast.delivery.queue_items import Item
from wherecast.delivery.queue_limits import DEFAULT_QUEUE_LIMITS, QueueLimits
from wherecast.model import AcknowledgementError

REPLACED = "replaced by a newer connection of the same subscriber"
"""Why a connection is closed when a second one comes."""


class Queue:
    """The state of one subscriber.

    Args:
        cursor: the stored cursor.
        end: the sequence up to which the pipeline has committed.
        delivered_before: an earlier process may have delivered all notifications before this
            sequence. The default is `end`; where notifications are pushed before they are
            committed, it is the sequence of the next publication.
        limits: the limits of the queue.
    """

    __slots__ = (
        "_acknowledged",
        "_backlog",
        "_committed",
        "_connection",
        "_delivered",
        "_handed_before",
        "_is_attended",
        "_is_loading",
        "_limits",
        "_lost",
        "_notified_end",
        "_redelivered",
        "_window",
    )

    def __init__(
        self,
        cursor: Cursor,
        end: int,
        delivered_before: int | None = None,
        limits: QueueLimits = DEFAULT_QUEUE_LIMITS,
    ) -> None:
        self._limits = limits
        self._backlog = Backlog(cursor.through, cursor.beyond)
        self._committed = self._notified_end = end
        delivered = end if delivered_before is None else delivered_before
        self._handed_before = max(delivered, cursor.through)
        self._is_attended = False
        self._is_loading = False
        self._connection: int | None = None
        self._window = 0
        self._delivered = self._redelivered = self._acknowledged = 0
        self._lost = cursor.lost

    @property
    def cursor(self) -> Cursor:
        """What is acknowledged now. The cursor also moves over publications for others."""
        return Cursor(self._backlog.through, self._backlog.beyond(), self._lost)

    @property
    def known(self) -> int:
        """Notifications before this sequence are in memory or acknowledged."""
        return self._backlog.known

    @property
    def notified_end(self) -> int:
        """The queue has heard of all publications before this sequence."""
        return self._notified_end

    @property
    def connection(self) -> int | None:
        """The connection over which notifications are pushed; None where there is none."""
        return self._connection

    @property
    def is_ready(self) -> bool:
        """Whether a pull may give something, at once or after a load."""
        return bool(self._backlog.held) or self._backlog.known < self._committed

    @property
    def figures(self) -> QueueFigures:
        """What the queue has done since it was opened."""
        return QueueFigures(
            queued=len(self._backlog.held),
            in_flight=self._backlog.held.in_flight,
            delivered=self._delivered,
            redelivered=self._redelivered,
            acknowledged=self._acknowledged,
            lost=self._lost,
        )

    # Events of the pipeline and of the store.

    def notified(self, first: int, end: int, items: Iterable[Item]) -> tuple[Effect, ...]:
        """Takes all notifications of this subscriber for publications of a range.

        They need not be committed yet. Notifications for which there is no room, which follow
        others that were not read, or which nobody receives are loaded later, once `committed` says
        that the store has them.
        """
        self._extend(first, items, end)
        self._notified_end = max(self._notified_end, end)
        return self._push()

    def committed(self, end: int) -> tuple[Effect, ...]:
        """Learns that the store has all notifications before a sequence."""
        self.advance(self._notified_end, end)
        return self._push()

    def advance(self, notified_end: int, committed: int) -> None:
        """Takes over how far pipeline and store are; the next event acts on it.

        Args:
            notified_end: none of the publications from `Queue.notified_end` to this sequence was
                for this subscriber.
            committed: the store has all notifications before this sequence.
        """
        self._extend(self._notified_end, (), notified_end)
        self._committed = max(self._committed, committed)
        self._notified_end = max(self._notified_end, notified_end, committed)

    def loaded(
        self, start: int, sequences: Sequence[int], ids: Sequence[Sequence[str]], end: int
    ) -> tuple[Effect, ...]:
        """Takes the answer to a `LoadNotifications`: all notifications from its start to an end."""
        self._is_loading = False
        self._extend(start, zip(sequences, ids, strict=True), end)
        return self._push()

    def load_failed(self) -> None:
        """Gives up a `LoadNotifications` that failed; the next event that needs it asks again."""
        self._is_loading = False

    def trimmed(self, before: int, lost: int) -> tuple[Effect, ...]:
        """Drops everything before a sequence, which was removed from the store.

        Args:
            before: the first sequence that is still there.
            lost: number of removed notifications that the subscriber had not acknowledged.
        """
        if before <= self._backlog.through and not lost:
            return ()
        self._backlog.remove_before(before)
        self._lost += lost
        return (SaveCursor(), *self._push())

    # Events of the subscriber.

    def take(self, most: int) -> tuple[QueuedNotification, ...] | LoadNotifications:
        """The oldest notifications that are not acknowledged, at most so many: a pull.

        Where more must be read first, the result is a `LoadNotifications`: answer it, then take
        again. While a load is under way, the result is what the queue holds.
        """
        self._is_attended = True
        if len(self._backlog.held) < most and self._may_load():
            return self._load()
        return self._hand_out(islice(self._backlog.held, most))

    def connect(self, connection: int, window: int | None = None) -> tuple[Effect, ...]:
        """Pushes over a connection from now on, in place of the one before it.

        Args:
            connection: a number that no other connection has.
            window: how many may be in flight, from 1 up to the limit, which is also the default.
        """
        most = self._limits.in_flight_max
        replaced = self._connection
        assert connection != replaced
        if window is not None and not 1 <= window <= most:
            raise ValueError(f"in flight may be from 1 to {most} notifications, not {window}")
        self._backlog.held.take_back()
        self._connection = connection
        self._window = most if window is None else window
        self._is_attended = True
        effects = self._push()
        return effects if replaced is None else (Close(replaced, REPLACED), *effects)

    def disconnect(self, connection: int) -> None:
        """Takes back what was in flight over a connection, unless it was replaced already."""
        if connection == self._connection:
            self._backlog.held.take_back()
            self._connection = None

    def release(self) -> None:
        """Gives memory back where nothing is connected; notifications are loaded again later."""
        if self._connection is None:
            self._backlog.release()
            self._is_attended = False

    def ack(self, sequences: Collection[int]) -> tuple[Effect, ...]:
        """Acknowledges single notifications, all or none; a second time does no harm.

        An acknowledgement of a notification that is not in memory, but may have been delivered by
        an earlier process, is taken on trust.

        Raises:
            AcknowledgementError: one was never delivered or is not in the queue, or there are too
                many beyond the cursor.
        """
        for sequence in sequences:
            self._check_delivered(sequence)
        most = self._limits.acknowledgements_max
        is_news, count = self._backlog.acknowledge(sequences, most)
        self._acknowledged += count
        return (SaveCursor(), *self._push()) if is_news else ()

    def ack_through(self, sequence: int) -> tuple[Effect, ...]:
        """Acknowledges every notification up to a sequence, and that one.

        Raises:
            AcknowledgementError: it was never delivered.
        """
        self._check_delivered(sequence)
        if sequence < self._backlog.through:
            return ()
        self._acknowledged += self._backlog.remove_before(sequence + 1)
        return (SaveCursor(), *self._push())

    # Inner workings.

    def _extend(self, start: int, items: Iterable[tuple[int, Sequence[str]]], end: int) -> None:
        """Holds the new notifications of a range, where somebody receives."""
        self._backlog.extend(start, items, end, self._room() if self._is_attended else 0)

    def _room(self) -> int:
        return self._limits.held_max - len(self._backlog.held)

    def _may_load(self) -> bool:
        return self._backlog.known < self._committed and self._room() > 0 and not self._is_loading

    def _load(self) -> LoadNotifications:
        self._is_loading = True
        return LoadNotifications(self._backlog.known, self._room())

    def _push(self) -> tuple[Effect, ...]:
        """Fills the window, and has further notifications read when there is room for many."""
        if self._connection is None:
            return ()
        effects: list[Effect] = []
        held = self._backlog.held
        sent = held.send(self._window - held.in_flight)
        if sent:
            effects.append(Send(self._connection, self._hand_out(sent)))
        # Only for much room: a load for each acknowledgement would cost too much.
        if self._room() >= self._limits.held_max / 2 and self._may_load():
            effects.append(self._load())
        return tuple(effects)

    def _hand_out(self, items: Iterable[Item]) -> tuple[QueuedNotification, ...]:
        given = tuple(QueuedNotification(one, ids, one < self._handed_before) for one, ids in items)
        if given:
            marked = sum(notification.redelivered for notification in given)
            self._redelivered += marked
            self._delivered += len(given) - marked
            self._handed_before = max(self._handed_before, given[-1].sequence + 1)
        return given

    def _check_delivered(self, sequence: int) -> None:
        if sequence >= self._handed_before:
            cursor = encode_cursor(sequence)
            raise AcknowledgementError(f"{cursor} was never delivered", cursor, "not_delivered")
