"""The queues of all subscribers: what the pipeline tells goes to those whom it concerns.

A batch costs what it notifies, not what there are subscribers: a queue that was told nothing since
it was last looked at has missed nothing, and learns that when it is looked at again. As a queue,
they are not safe for several threads.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from wherecast.delivery.cursor import Cursor
from wherecast.delivery.effects import Close, Effect
from wherecast.delivery.queue import Queue
from wherecast.delivery.queue_items import Item
from wherecast.delivery.queue_limits import DEFAULT_QUEUE_LIMITS, QueueLimits

UNREGISTERED = "the subscriber was unregistered"
"""Why a connection is closed when its subscriber is forgotten."""

Effects = dict[str, tuple[Effect, ...]]
"""What is to be done, by subscriber."""


class Queues:
    """The queues that are open, by the names of their subscribers.

    Args:
        end: the sequence up to which the pipeline has committed.
        delivered_before: as for a queue.
        limits: of each queue.
    """

    def __init__(
        self,
        end: int,
        delivered_before: int | None = None,
        limits: QueueLimits = DEFAULT_QUEUE_LIMITS,
    ) -> None:
        self._queues: dict[str, Queue] = {}
        self._connected: set[str] = set()
        self._waiting: Counter[str] = Counter()  # how many wait at a queue
        self._behind: set[str] = set()  # queues that were told of what they can only load later
        self._limits = limits
        self._delivered_before = end if delivered_before is None else delivered_before
        self._committed = self._told = end
        self._unbroken_from = end  # all notifications from here to `_told` were told

    def __len__(self) -> int:
        return len(self._queues)

    def __contains__(self, name: str) -> bool:
        return name in self._queues

    def __getitem__(self, name: str) -> Queue:
        """The queue of a subscriber, up to date; its connections are changed here only."""
        queue = self._queues[name]
        unbroken = queue.told >= self._unbroken_from
        queue.learn(self._told if unbroken else queue.told, self._committed)
        return queue

    def open(self, name: str, cursor: Cursor) -> None:
        """Opens the queue of a subscriber."""
        assert name not in self._queues
        queue = Queue(cursor, self._committed, self._delivered_before, self._limits)
        queue.notified(self._told, self._told, ())  # what was told before is not told again
        self._queues[name] = queue
        self._look_after(name, queue)

    def forget(self, name: str) -> tuple[Effect, ...]:
        """Ends the queue of a subscriber that is no more."""
        connection = self._queues.pop(name).connection
        self._connected.discard(name)
        self._behind.discard(name)
        return () if connection is None else (Close(connection, UNREGISTERED),)

    def connect(self, name: str, connection: int, window: int | None = None) -> tuple[Effect, ...]:
        """Pushes to a subscriber over a connection from now on, as `Queue.connect` says."""
        queue = self[name]
        effects = queue.connect(connection, window)
        self._connected.add(name)
        self._look_after(name, queue)
        return effects

    def disconnect(self, name: str, connection: int) -> None:
        """Ends a connection, as `Queue.disconnect` says; its subscriber may be gone already."""
        queue = self._queues.get(name)
        if queue is not None:
            queue.disconnect(connection)
            if queue.connection is None:
                self._connected.discard(name)

    def wait(self, name: str) -> None:
        """Has `committed` tell when there may be something for a subscriber, until `leave`.

        Those who want that several times leave as often; the queue may be gone by then.
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
        if first > self._told:
            self._break(first)
        effects: Effects = {}
        for name in items.keys() & self._queues.keys():
            queue = self[name]
            effects[name] = queue.notified(first, end, items[name])
            self._look_after(name, queue)
        self._told = max(self._told, end)
        return {name: todo for name, todo in effects.items() if todo}

    def committed(self, end: int) -> Effects:
        """Learns that the store has all notifications before a sequence.

        Where they were not told before, everybody who is connected or waits has to look.

        Returns:
            What is to be done. Who waits is in it, with nothing to do, where a pull is worth while.
        """
        if end > self._told:
            self._break(end)
            self._told = end
        was_told_all = self._committed >= self._unbroken_from
        self._committed = max(self._committed, end)
        behind, self._behind = self._behind, set()
        effects: Effects = {}
        for name in behind if was_told_all else self._connected | self._waiting.keys():
            is_awaited = name in self._waiting
            if (is_awaited or name in self._connected) and name in self._queues:
                queue = self[name]
                todo = queue.committed(end)
                self._look_after(name, queue)
                if todo or (is_awaited and queue.is_ready):
                    effects[name] = todo
        return effects

    def trimmed(self, before: int, lost: Mapping[str, int]) -> Effects:
        """Forgets what was removed from the store, as `Queue.trimmed` says.

        Args:
            before: the first sequence that is still there.
            lost: how many were not acknowledged, by subscriber. Others had nothing to lose.
        """
        names = lost.keys() & self._queues.keys()
        return {name: self[name].trimmed(before, lost[name]) for name in names}

    def _break(self, at: int) -> None:
        """From what was told last to this place, nobody knows what was for whom."""
        self._unbroken_from = at

    def _look_after(self, name: str, queue: Queue) -> None:
        """Remembers a queue where there may be something that it can load only later.

        What is committed it loads by itself, as soon as it has room.
        """
        if queue.known < queue.told > self._committed:
            self._behind.add(name)
