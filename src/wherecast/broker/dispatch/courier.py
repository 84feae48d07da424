"""The delivering side: the queues of subscribers over a store.

A `Dispatcher` decides; the courier is its shell, which waits, reads and writes. Notifications of a
batch come from a pipeline of this process by `notify`, before they are committed, or are read from
the store once `committed` says that they are there.

Concurrency: any number of threads. One lock guards the dispatcher; it is never held while the store
is read or written.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Condition, Lock
from time import monotonic

import numpy as np
import numpy.typing as npt

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.changed_cursors import ChangedCursors
from wherecast.broker.dispatch.sequence_map import SequenceMap
from wherecast.broker.dispatch.waiters import Waiters
from wherecast.delivery import (
    DEFAULT_QUEUE_LIMITS,
    Cursor,
    DispatchEffects,
    Dispatcher,
    LoadNotifications,
    QueuedNotification,
    QueueFigures,
    QueueLimits,
)
from wherecast.delivery.queue_items import Item
from wherecast.model import AcknowledgementError, ConfigError, StoreError, WherecastError
from wherecast.store.contracts import DamagedSegment, Store
from wherecast.store.records import Batch, Queued
from wherecast.store.segments.segments import found_by_name
from wherecast.store.sequences import NumberedNotifications, numbered

Ints = npt.NDArray[np.int64]
Loads = list[tuple[str, LoadNotifications]]
_FOLLOWED_BYTES_MAX = 16 << 20  # notifications that are read for all queues at once


class Courier:
    """The queues of all subscribers that were opened.

    Args:
        store: has the notifications and the cursors.
        mend: makes the notifications of a range of sequences again, where they are damaged.
        limits: the limits of each queue.
        hurry: called where somebody waits for notifications that are not committed yet, as nobody
            received when they came. It neither waits nor calls back.

    Attributes:
        cursors: the cursors that have changed since they were stored.
    """

    def __init__(
        self,
        store: Store,
        mend: Callable[[int, int], None],
        limits: QueueLimits = DEFAULT_QUEUE_LIMITS,
        hurry: Callable[[], None] = lambda: None,
    ) -> None:
        progress = store.batches.progress()
        self._store = store
        self._mend = mend
        self._hurry = hurry
        # Notifications are sent before they are committed: an earlier process may have sent all.
        reach = store.batches.numbering.reach(progress, store.log)
        self._dispatcher = Dispatcher(progress.sequence, reach, limits)
        self._notifying = Lock()  # no queue is opened while others get a batch
        self._lock = Lock()
        self._waiters: dict[str, Waiters] = {}  # by the names of open queues
        self.cursors = ChangedCursors(store.cursors, self._lock, self._dispatcher.cursor)
        self._sequence_map = SequenceMap(store.batches, progress.sequence)
        self._is_closed = False

    def open(self, name: str) -> None:
        """Opens the queue of a subscriber, unless it is open."""
        if name not in self._waiters:
            cursor = self._store.cursors.read(name) or Cursor()
            with self._notifying, self._lock:
                if name not in self._waiters:
                    self._dispatcher.open(name, cursor)
                    self._waiters[name] = Waiters(Condition(self._lock))

    def is_open(self, name: str) -> bool:
        """Whether the queue of a subscriber is open."""
        return name in self._waiters

    def forget(self, name: str) -> None:
        """Ends the queue of a subscriber, and lets those that wait at it go."""
        with self._lock:
            waiters = self._waiters.pop(name, None)
            if waiters is not None:
                self._dispatcher.forget(name)
                waiters.wake()
        self.cursors.forget(name)

    def close(self) -> None:
        """Lets all go that wait."""
        with self._lock:
            self._is_closed = True
            for waiters in self._waiters.values():
                waiters.wake()

    # Calls of the pipeline and of the upkeep.

    def notify(self, batch: Batch) -> None:
        """Gives queues the notifications of the next batch, which is about to be committed."""
        numbering = self._store.batches.numbering
        part = numbered(batch, numbering.first(batch, self._sequence_map.end), numbering)
        self._sequence_map.expect(part.first, batch)
        self._notify_part(part.first, part)

    def notify_items(self, first: int, end: int, items: Mapping[str, Sequence[Item]]) -> None:
        """Gives queues the notifications of a range of sequences, by subscriber."""
        with self._notifying, self._lock:
            loads = self._perform(self._dispatcher.notified(first, end, items))
        self.load(loads)

    def follow(self, sequence: int) -> None:
        """Gives queues what another process committed, up to a sequence.

        New notifications are read once for all queues; where they are too many, each queue reads
        its own.
        """
        start = self._dispatcher.notified_end
        with suppress(DamagedSegment):  # whoever needs it mends it
            for part in self._store.mailboxes.since(start, _FOLLOWED_BYTES_MAX) or ():
                self._notify_part(max(start, part.first), part)
        self.committed(sequence)

    def _notify_part(self, first: int, part: NumberedNotifications) -> None:
        """Gives queues the notifications of a segment from a sequence on."""
        with self._notifying:
            items = found_by_name(part.notifications, self._waiters, first)
            with self._lock:
                loads = self._perform(self._dispatcher.notified(first, part.end, items))
        self.load(loads)

    def committed(self, sequence: int) -> None:
        """Tells queues that everything before a sequence is stored."""
        with self._lock:
            self._sequence_map.committed(sequence)
            loads = self._perform(self._dispatcher.committed(sequence))
        self.load(loads)

    def locate(self, sequences: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """The partitions and the offsets of sequences that were notified, committed or not."""
        return self._sequence_map.locate(sequences)

    def mend(self, damage: DamagedSegment) -> None:
        """Makes damaged notifications again."""
        self._mend(damage.first, damage.end)

    def trim(self, name: str, start: int, lost: int) -> None:
        """Lets the queue of a subscriber begin at a sequence, and counts what it lost."""
        with self._lock:
            is_open = name in self._waiters
            if is_open:
                loads = self._perform(self._dispatcher.trimmed(name, start, lost))
        if is_open:
            self.load(loads)
        else:
            self.cursors.trim(name, start, lost)

    def release_idle(self) -> None:
        """Gives back the memory of queues that nobody pulled from since the last call."""
        with self._lock:
            self._dispatcher.release_idle()

    def lose(self, name: str, sequences: Sequence[int]) -> None:
        """Takes notifications off a queue that cannot be delivered, and counts them as lost.

        Those that are not in the queue any more, as they were trimmed or acknowledged meanwhile,
        are not counted.
        """
        with self._lock:
            loads = self._perform(self._dispatcher.undeliverable(name, sequences))
        self._load_all(loads)

    # Calls of subscribers.

    def take(self, name: str, most: int, timeout_s: float) -> tuple[QueuedNotification, ...]:
        """The oldest notifications not acknowledged; waits for the first one at most so long."""
        end = monotonic() + timeout_s
        was_open = False
        while True:
            with self._lock:
                if was_open and name not in self._waiters:  # it was forgotten meanwhile
                    return ()
                found = self._dispatcher.take(name, most)
                was_open = True
                if not isinstance(found, LoadNotifications):
                    left = end - monotonic()
                    if found or left <= 0 or self._is_closed:
                        return found
                    self._wait(name)
                    try:
                        self._waiters[name].changed.wait(left)
                    finally:
                        self._dispatcher.leave(name)
                    continue
            self._load(name, found)

    def acknowledge(
        self, given: Sequence[tuple[str, Acknowledgement]]
    ) -> list[WherecastError | None]:
        """Acknowledges for several subscribers; their cursors are among the changed ones then.

        Returns:
            For each acknowledgement the error for which it was refused, or None.
        """
        loads: Loads = []
        problems = self.apply(given, loads)
        self.load(loads)  # after that: nobody waits for what another one reads
        return problems

    def apply(
        self, given: Sequence[tuple[str, Acknowledgement]], loads: Loads
    ) -> list[WherecastError | None]:
        """The same, but what queues ask to be read then is added to `loads`, for `load`.

        Nothing is read, so that an event loop may call this.
        """
        problems: list[WherecastError | None] = []
        for name, wanted in given:
            try:
                self._apply(name, wanted, loads)
                problems.append(None)
            except (AcknowledgementError, ConfigError) as error:
                problems.append(error)
        return problems

    def _apply(self, name: str, wanted: Acknowledgement, loads: Loads) -> None:
        """Takes an acknowledgement in, and adds what is to be read then."""
        with self._lock:
            if wanted.through is not None:
                loads += self._perform(self._dispatcher.ack_through(name, wanted.through))
            if wanted.sequences or wanted.through is None:
                loads += self._perform(self._dispatcher.ack(name, wanted.sequences))

    def connect(self, name: str, connection: int, window: int | None = None) -> None:
        """Has notifications sent, to be taken by `sent`; a connection before this one ends."""
        with self._lock:
            loads = self._perform(self._dispatcher.connect(name, connection, window))
            self._hurry_for(name)
        self._load_all(loads)

    def disconnect(self, name: str, connection: int) -> None:
        """Ends a connection; what was not acknowledged stays in the queue."""
        with self._lock:
            self._dispatcher.disconnect(name, connection)

    def sent(
        self, name: str, connection: int, timeout_s: float | None = None
    ) -> tuple[QueuedNotification, ...] | None:
        """What a connection was sent since the last call; None where the connection ended.

        Waits for the first notification, at most so long; without a limit, as long as it takes.
        """
        end = None if timeout_s is None else monotonic() + timeout_s
        with self._lock:
            while not self._is_closed:
                sent = self._dispatcher.sent(name, connection)
                if sent is None:
                    return None
                left = None if end is None else end - monotonic()
                if sent or (left is not None and left <= 0):
                    return sent
                self._waiters[name].changed.wait(left)
        return None

    @contextmanager
    def listening(self, name: str, listener: Callable[[], None]) -> Iterator[None]:
        """Has a function called whenever there may be something new for a subscriber.

        Any thread calls the function, which must neither wait nor call back.
        """
        with self._lock:
            self._wait(name)
            waiters = self._waiters[name]
            waiters.listeners.append(listener)
        try:
            yield
        finally:
            with self._lock:
                waiters.listeners.remove(listener)
                self._dispatcher.leave(name)

    def figures(self, name: str) -> QueueFigures:
        """What a queue has done."""
        with self._lock:
            return self._dispatcher.figures(name)

    def totals(self) -> QueueFigures:
        """What all open queues have done, together."""
        with self._lock:
            return self._dispatcher.totals()

    # Effects of the dispatcher; the lock is held.

    def _wait(self, name: str) -> None:
        self._dispatcher.wait(name)
        self._hurry_for(name)

    def _hurry_for(self, name: str) -> None:
        if self._dispatcher.is_behind(name):
            self._hurry()

    def _perform(self, effects: DispatchEffects) -> Loads:
        """Does what the dispatcher asks for with the lock held; gives back what is to be read."""
        for name in effects.saves:
            self.cursors.changed(name)
        for name in effects.wakes:
            if name in self._waiters:
                self._waiters[name].wake()
        return effects.loads

    def _load_all(self, loads: Loads) -> None:
        for name, load in loads:
            self._load(name, load)

    def load(self, loads: Loads) -> None:
        """Reads what can be read; a queue whose load failed asks again at its next event."""
        for name, load in loads:
            with suppress(StoreError):
                self._load(name, load)

    def _load(self, name: str, load: LoadNotifications) -> None:
        """Reads what a queue asks for, and what it asks for then."""
        waiting = [load]
        while waiting:
            load = waiting.pop()
            try:
                queued = self._queued(name, load)
            except BaseException:
                with self._lock:
                    self._perform(self._dispatcher.load_failed(name))
                raise
            sequences, ids = queued.sequences.tolist(), queued.subscription_ids
            with self._lock:
                effects = self._dispatcher.loaded(name, load.start, sequences, ids, queued.end)
                waiting.extend(more for _, more in self._perform(effects))

    def _queued(self, name: str, load: LoadNotifications) -> Queued:
        while True:
            try:
                return self._store.mailboxes.queued(name, load.start, load.limit)
            except DamagedSegment as damage:
                self.mend(damage)
