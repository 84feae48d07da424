"""The queue of one subscriber, for its threads."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Condition, Lock
from time import monotonic
from typing import Protocol

from wherecast.delivery import (
    Close,
    Cursor,
    Effect,
    Figures,
    Load,
    Notification,
    Queue,
    SaveCursor,
    Send,
)
from wherecast.store.records import Queued


@dataclass(slots=True)
class Reached:
    """How far the pipeline has committed, as all queues see it."""

    end: int


class Stored(Protocol):
    """What a box reads and writes."""

    def queued(self, name: str, start: int, limit: int) -> Queued:
        """The first notifications of a subscriber at a sequence and beyond."""

    def save(self, name: str, cursor: Cursor) -> None:
        """Writes a cursor."""


class Box:
    """The queue of one subscriber.

    Args:
        name: of the subscriber.
        queue: its state.
        offered: the notifications before this sequence are stored or will be.
        reached: how far the pipeline has committed.
        stored: what it reads and writes.
    """

    def __init__(
        self, name: str, queue: Queue, offered: int, reached: Reached, stored: Stored
    ) -> None:
        self.name = name
        self._queue = queue
        self._offered = offered
        self._reached = reached
        self._stored = stored
        self._changed = Condition(Lock())
        self._saving = Lock()
        self._changes = self._saved = 0  # of the cursor
        self._sent: deque[Notification] = deque()
        self._is_closed = False

    def take(self, most: int, timeout_s: float) -> tuple[Notification, ...]:
        """The oldest notifications not acknowledged; waits for the first one at most so long."""
        end = monotonic() + timeout_s
        with self._changed:
            while True:
                found = self._take(most)
                left = end - monotonic()
                if found or left <= 0 or self._is_closed:
                    return found
                self._changed.wait(left)

    def ack(self, sequences: Iterable[int]) -> None:
        """Acknowledges single notifications; that is safe when this returns."""
        with self._changed:
            self._do(self._queue.ack(list(sequences)))
            changes = self._changes
        self._save(changes)

    def ack_through(self, sequence: int) -> None:
        """Acknowledges everything up to a notification; that is safe when this returns."""
        with self._changed:
            self._do(self._queue.ack_through(sequence))
            changes = self._changes
        self._save(changes)

    def connect(self, connection: int, window: int | None = None) -> None:
        """Has notifications sent, to be taken by `sent`; a connection before it ends."""
        with self._changed:
            self._sent.clear()
            self._do(self._queue.committed(self._reached.end))
            self._do(self._queue.connect(connection, window))

    def disconnect(self, connection: int) -> None:
        """Ends that; what was not acknowledged stays in the queue."""
        with self._changed:
            self._queue.disconnect(connection)
            self._changed.notify_all()

    def sent(self, connection: int, timeout_s: float | None = None) -> Notification | None:
        """The next notification of a connection; None where the time is over, or it ended."""
        end = None if timeout_s is None else monotonic() + timeout_s
        with self._changed:
            while self._queue.connection == connection and not self._is_closed:
                if self._sent:
                    return self._sent.popleft()
                left = None if end is None else end - monotonic()
                if left is not None and left <= 0:
                    return None
                self._changed.wait(left)
        return None

    @property
    def figures(self) -> Figures:
        """What the queue has done."""
        with self._changed:
            return self._queue.figures

    def offer(self, first: int, end: int, items: Iterable[tuple[int, tuple[str, ...]]]) -> None:
        """Gives the queue all its notifications of a range of sequences."""
        with self._changed:
            start, self._offered = min(self._offered, first), end
            self._do(self._queue.notified(start, end, items))

    def wake(self, end: int) -> None:
        """Tells the queue that everything before a sequence is stored."""
        with self._changed:
            self._do(self._queue.committed(end))

    def close(self) -> None:
        """Lets those that wait go."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _take(self, most: int) -> tuple[Notification, ...]:
        self._do(self._queue.committed(self._reached.end))
        while isinstance(found := self._queue.take(most), Load):
            self._do((found,))
        return found

    def _do(self, effects: tuple[Effect, ...]) -> None:
        """Does what the queue asks for; a changed cursor is only counted."""
        waiting = deque(effects)
        while waiting:
            effect = waiting.popleft()
            match effect:
                case Load():
                    waiting.extend(self._load(effect))
                case Send():
                    self._sent.extend(effect.notifications)
                case SaveCursor():
                    self._changes += 1
                case Close():  # whoever waits there sees that the connection is another
                    pass
        self._changed.notify_all()

    def _load(self, load: Load) -> tuple[Effect, ...]:
        queued = self._stored.queued(self.name, load.start, load.limit)
        ids = queued.subscription_ids
        return self._queue.loaded(load.start, queued.sequences.tolist(), ids, queued.end)

    def _save(self, changes: int) -> None:
        """Writes the cursor as it is now, unless another thread has done so since a change.

        The queue is not locked while it is written, and queues share transactions.
        """
        with self._saving:
            if self._saved >= changes:
                return
            with self._changed:
                cursor, saved = self._queue.cursor, self._changes
            self._stored.save(self.name, cursor)
            self._saved = saved
