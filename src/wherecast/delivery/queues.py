"""The queues of all subscribers: a batch of the pipeline goes to those whom it concerns.

A batch costs what it notifies, not what there are subscribers: a queue that heard nothing since it
was last looked at has missed nothing, and learns that when it is looked at again. Effects come in
the order in which subscribers are named, connected or waiting: the same events give the same
effects in the same order. As a queue, they are not safe for several threads.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from wherecast.delivery.cursor import Cursor
from wherecast.delivery.effects import Close, Effect
from wherecast.delivery.queue import Queue
from wherecast.delivery.queue_items import Item
from wherecast.delivery.queue_limits import DEFAULT_QUEUE_LIMITS, QueueLimits

UNREGISTERED = "the subscriber was unregistered"
"""The reason for which a connection is closed when its subscriber is forgotten."""

Effects = dict[str, tuple[Effect, ...]]
"""Effects by subscriber."""


class Queues:
    """The queues that are open, by the names of their subscribers.

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
        self._queues: dict[str, Queue] = {}
        # Names in the order in which they came, as keys: the order of a set is another each time.
        self._connected: dict[str, None] = {}
        self._waiting: Counter[str] = Counter()  # how many wait at a queue
        self._behind: dict[str, None] = {}  # queues that have notifications to load later
        self._limits = limits
        self._delivered_before = end if delivered_before is None else delivered_before
        self._committed = self._notified_end = end
        self._complete_from = end  # from here to `_notified_end` every notification was given

    def __len__(self) -> int:
        return len(self._queues)

    def __contains__(self, name: str) -> bool:
        return name in self._queues

    def __getitem__(self, name: str) -> Queue:
        """The queue of a subscriber, up to date; its connections are changed here only."""
        queue = self._queues[name]
        is_complete = queue.notified_end >= self._complete_from
        queue.advance(self._notified_end if is_complete else queue.notified_end, self._committed)
        return queue

    @property
    def notified_end(self) -> int:
        """The queues have heard of all publications before this sequence."""
        return self._notified_end

    def is_behind(self, name: str) -> bool:
        """Whether a queue has notifications that it can load only once they are committed."""
        return name in self._behind

    def open(self, name: str, cursor: Cursor) -> None:
        """Opens the queue of a subscriber."""
        assert name not in self._queues
        queue = Queue(cursor, self._committed, self._delivered_before, self._limits)
        end = self._notified_end
        queue.notified(end, end, ())  # earlier notifications are not given again
        self._queues[name] = queue
        self._look_after(name, queue)

    def forget(self, name: str) -> tuple[Effect, ...]:
        """Ends the queue of a subscriber that is no more."""
        connection = self._queues.pop(name).connection
        self._connected.pop(name, None)
        self._behind.pop(name, None)
        return () if connection is None else (Close(connection, UNREGISTERED),)

    def connect(self, name: str, connection: int, window: int | None = None) -> tuple[Effect, ...]:
        """Pushes to a subscriber over a connection from now on, as `Queue.connect` says."""
        queue = self[name]
        effects = queue.connect(connection, window)
        self._connected[name] = None
        self._look_after(name, queue)
        return effects

    def disconnect(self, name: str, connection: int) -> None:
        """Ends a connection, as `Queue.disconnect` says; its subscriber may be gone already."""
        queue = self._queues.get(name)
        if queue is not None:
            queue.disconnect(connection)
            if queue.connection is None:
                self._connected.pop(name, None)

    def wait(self, name: str) -> None:
        """Has `committed` name a subscriber when a pull may give something, until `leave`.

        Each `wait` needs a `leave`; the queue may be gone by then.
        """
        self._waiting[name] += 1
        self._look_after(name, self[name])

    def leave(self, name: str) -> None:
        """Ends one `wait`."""
        self._waiting[name] -= 1
        if not self._waiting[name]:
            del self._waiting[name]

    def release(self, name: str) -> None:
        """Gives back the memory of a queue that nobody is connected to or waits at."""
        if name not in self._waiting:
            self[name].release()

    def notified(self, first: int, end: int, items: Mapping[str, Sequence[Item]]) -> Effects:
        """Takes all notifications for publications of a range, by subscriber.

        They need not be committed yet. Those of subscribers without an open queue are left out.
        """
        if first > self._notified_end:
            self._complete_from = first  # of what lies before, nobody knows what was for whom
        effects: Effects = {}
        for name, own in items.items():
            if name in self._queues:
                queue = self[name]
                effects[name] = queue.notified(first, end, own)
                self._look_after(name, queue)
        self._notified_end = max(self._notified_end, end)
        return {name: todo for name, todo in effects.items() if todo}

    def committed(self, end: int) -> Effects:
        """Learns that the store has all notifications before a sequence.

        Where they were not given by `notified`, all who are connected or wait have to look.

        Returns:
            Effects by subscriber. A subscriber who waits is named, perhaps without an effect,
            where a pull may give something.
        """
        if end > self._notified_end:
            self._complete_from = self._notified_end = end
        was_complete = self._committed >= self._complete_from
        self._committed = max(self._committed, end)
        behind, self._behind = self._behind, {}
        effects: Effects = {}
        for name in behind if was_complete else self._connected | dict.fromkeys(self._waiting):
            is_awaited = name in self._waiting
            if (is_awaited or name in self._connected) and name in self._queues:
                queue = self[name]
                todo = queue.committed(end)
                self._look_after(name, queue)
                if todo or (is_awaited and queue.is_ready):
                    effects[name] = todo
        return effects

    def trimmed(self, before: int, lost: Mapping[str, int]) -> Effects:
        """Drops what was removed from the store, as `Queue.trimmed` says.

        Args:
            before: the first sequence that is still there.
            lost: number of notifications that were not acknowledged, by subscriber; subscribers
                who lost nothing are left out.
        """
        return {
            name: self[name].trimmed(before, count)
            for name, count in lost.items()
            if name in self._queues
        }

    def _look_after(self, name: str, queue: Queue) -> None:
        """Remembers a queue that may have notifications which it can only load once committed.

        Committed ones it loads by itself, as soon as it has room.
        """
        if queue.known < queue.notified_end > self._committed:
            self._behind[name] = None
