"""The delivering side: the queues of subscribers over a store.

`delivery` decides; this waits, reads and writes for it. Notifications of a batch come from a
pipeline of this process by `notify`, before they are committed, or are read from the store once
`committed` says that they are there.

Concurrency: any number of threads. One lock guards all queues; it is never held while the store is
read or written.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple
from threading import Condition, Lock
from time import monotonic

import numpy as np
import numpy.typing as npt

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.dispatch.cursor_writer import CursorWriter
from wherecast.broker.dispatch.sequence_map import SequenceMap
from wherecast.broker.dispatch.waiters import Waiters
from wherecast.delivery import (
    DEFAULT_QUEUE_LIMITS,
    Close,
    Cursor,
    Effect,
    LoadNotifications,
    Notification,
    QueueFigures,
    QueueLimits,
    Queues,
    SaveCursor,
    Send,
)
from wherecast.model import AcknowledgementError, ConfigError, StoreError, WherecastError
from wherecast.store.contracts import DamagedSegment, Store
from wherecast.store.records import Batch, Queued
from wherecast.store.segments.segments import found_by_name
from wherecast.store.sequences import NumberedNotifications, shifted, spans_of

Ints = npt.NDArray[np.int64]
Loads = list[tuple[str, LoadNotifications]]
_FOLLOWED_MAX = 100_000  # publications that are read for all queues at once


class Courier:
    """The queues of all subscribers that were opened.

    Args:
        store: what they rest on.
        mend: makes the notifications of a range of sequences again, where they are damaged.
        limits: of each queue.
    """

    def __init__(
        self,
        store: Store,
        mend: Callable[[int, int], None],
        limits: QueueLimits = DEFAULT_QUEUE_LIMITS,
    ) -> None:
        progress = store.batches.progress()
        self._store = store
        self._mend = mend
        # Notifications are sent before they are committed: an earlier life may have sent all.
        waiting = store.log.ends().since(progress.position)
        self._queues = Queues(progress.sequence, progress.sequence + waiting, limits)
        self._telling = Lock()  # no queue is opened while others are told of a batch
        self._lock = Lock()
        self._boxes: dict[str, Waiters] = {}
        self._cursors = CursorWriter(store.cursors, self._lock, self._cursor)
        self._told = progress.sequence
        self._places = SequenceMap(store.batches, progress.sequence)
        self._is_closed = False

    def open(self, name: str) -> None:
        """Opens the queue of a subscriber, unless it is open."""
        if name not in self._boxes:
            cursor = self._store.cursors.read(name) or Cursor()
            with self._telling, self._lock:
                if name not in self._boxes:
                    self._queues.open(name, cursor)
                    self._boxes[name] = Waiters(Condition(self._lock))

    def is_open(self, name: str) -> bool:
        """Whether the queue of a subscriber is open."""
        return name in self._boxes

    def forget(self, name: str) -> None:
        """Ends the queue of a subscriber, and lets those that wait at it go."""
        with self._lock:
            box = self._boxes.pop(name, None)
            if box is not None:
                self._queues.forget(name)
                box.wake()
        self._cursors.forget(name)

    def close(self) -> None:
        """Lets those that wait go."""
        with self._lock:
            self._is_closed = True
            for box in self._boxes.values():
                box.wake()

    # What comes from the pipeline.

    def notify(self, batch: Batch) -> None:
        """Gives queues the notifications of the next batch, which is about to be committed."""
        spans = spans_of(batch.start, batch.end, self._places.end)
        self._places.expect(spans)
        for part in shifted(batch.segments, spans):
            self._tell(part.first, part)

    def follow(self, sequence: int) -> None:
        """Gives queues what another process committed, up to a sequence.

        What is new is read once for all of them; where that is too much, each reads its own.
        """
        start = self._told
        if sequence - start <= _FOLLOWED_MAX:
            with suppress(DamagedSegment):  # whoever needs it mends it
                for part in self._store.mailboxes.since(start):
                    self._tell(max(start, part.first), part)
        self.committed(sequence)

    def _tell(self, first: int, part: NumberedNotifications) -> None:
        """Gives queues the notifications of a segment from a sequence on."""
        with self._telling:
            items = found_by_name(part.notifications, self._boxes, first)
            with self._lock:
                effects = self._queues.notified(first, part.end, items)
                loads = self._settle_all(effects)
                self._told = part.end
                self._wake(items)
        self._try_loads(loads)

    def committed(self, sequence: int) -> None:
        """Tells queues that everything before a sequence is stored."""
        with self._lock:
            self._places.committed(sequence)
            effects = self._queues.committed(sequence)
            loads = self._settle_all(effects)
            self._told = max(self._told, sequence)
            self._wake(effects)
        self._try_loads(loads)

    def locate(self, sequences: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """The partitions and the offsets of sequences that were notified, committed or not."""
        return self._places.locate(sequences)

    def mend(self, damage: DamagedSegment) -> None:
        """Makes damaged notifications again."""
        self._mend(damage.first, damage.end)

    def trim(self, name: str, start: int, lost: int) -> None:
        """Lets the queue of a subscriber begin at a sequence, and counts what it lost."""
        with self._lock:
            is_open = name in self._boxes
            if is_open:
                loads = self._settle_all(self._queues.trimmed(start, {name: lost}))
        if is_open:
            self._try_loads(loads)
            self._cursors.write([name])
        else:
            self._cursors.trim(name, start, lost)

    def release_idle(self) -> None:
        """Gives back what queues hold in memory that nobody used since the last call."""
        with self._lock:
            for name, box in self._boxes.items():
                if not box.is_used:
                    self._queues.release(name)
                box.is_used = False

    def lose(self, name: str, sequences: Sequence[int]) -> None:
        """Takes notifications off a queue that cannot be delivered, and counts them as lost.

        Those that are not in it any more, as they were trimmed or acknowledged meanwhile, are not
        counted.
        """
        with self._lock:
            self._box(name)
            before = self._queues[name].figures.acknowledged
            loads = self._settle(name, self._queues[name].ack(sequences))
            lost = self._queues[name].figures.acknowledged - before
            loads += self._settle_all(self._queues.trimmed(0, {name: lost}))
        self._load_all(loads)
        self._cursors.write([name])

    # What comes from subscribers.

    def take(self, name: str, most: int, timeout_s: float) -> tuple[Notification, ...]:
        """The oldest notifications not acknowledged; waits for the first one at most so long."""
        end = monotonic() + timeout_s
        with self._lock:
            self._box(name)
        while True:
            with self._lock:
                box = self._boxes.get(name)
                if box is None:
                    return ()
                box.is_used = True
                found = self._queues[name].take(most)
                if not isinstance(found, LoadNotifications):
                    left = end - monotonic()
                    if found or left <= 0 or self._is_closed:
                        return found
                    self._queues.wait(name)
                    try:
                        box.changed.wait(left)
                    finally:
                        self._queues.leave(name)
                    continue
            self._load(name, found)

    def ack(self, name: str, sequences: Iterable[int]) -> None:
        """Acknowledges single notifications; that is safe when this returns."""
        self._acknowledge(name, Acknowledgement(sequences=tuple(sequences)))

    def ack_through(self, name: str, sequence: int) -> None:
        """Acknowledges everything up to a notification; that is safe when this returns."""
        self._acknowledge(name, Acknowledgement(sequence))

    def acknowledge(
        self, given: Sequence[tuple[str, Acknowledgement]]
    ) -> list[WherecastError | None]:
        """Acknowledges what several subscribers had, stored together; safe when this returns.

        Returns:
            For each why it was refused, if it was.

        Raises:
            StoreError: they could not be stored.
        """
        problems: list[WherecastError | None] = []
        loads: Loads = []
        for name, wanted in given:
            try:
                self._apply(name, wanted, loads)
                problems.append(None)
            except (AcknowledgementError, ConfigError) as error:
                problems.append(error)
        try:
            self._cursors.write([name for name, _ in given])
        finally:
            self._try_loads(loads)  # after that: nobody waits for what another one reads
        return problems

    def _acknowledge(self, name: str, wanted: Acknowledgement) -> None:
        for problem in self.acknowledge([(name, wanted)]):
            if problem is not None:
                raise problem

    def _apply(self, name: str, wanted: Acknowledgement, loads: Loads) -> None:
        """Takes an acknowledgement in, and adds what is to be read then."""
        with self._lock:
            self._box(name)
            queue = self._queues[name]
            if wanted.through is not None:
                loads += self._settle(name, queue.ack_through(wanted.through))
            if wanted.sequences:
                loads += self._settle(name, queue.ack(wanted.sequences))

    def connect(self, name: str, connection: int, window: int | None = None) -> None:
        """Has notifications sent, to be taken by `sent`; a connection before it ends."""
        with self._lock:
            box = self._box(name)
            box.sent.clear()
            loads = self._settle(name, self._queues.connect(name, connection, window))
            box.wake()
        self._load_all(loads)

    def disconnect(self, name: str, connection: int) -> None:
        """Ends that; what was not acknowledged stays in the queue."""
        with self._lock:
            self._queues.disconnect(name, connection)

    def sent(
        self, name: str, connection: int, timeout_s: float | None = None
    ) -> tuple[Notification, ...] | None:
        """What a connection was sent since it was asked last; None where the connection ended.

        Waits for the first one, at most so long; without a limit, as long as it takes.
        """
        end = None if timeout_s is None else monotonic() + timeout_s
        with self._lock:
            while not self._is_closed and name in self._boxes:
                box = self._boxes[name]
                if self._queues[name].connection != connection:
                    return None
                left = None if end is None else end - monotonic()
                if box.sent or (left is not None and left <= 0):
                    sent = tuple(box.sent)
                    box.sent.clear()
                    return sent
                box.changed.wait(left)
        return None

    @contextmanager
    def listening(self, name: str, listener: Callable[[], None]) -> Iterator[None]:
        """Has a function called whenever there may be something new for a subscriber.

        It is called by any thread, must not wait and must not call back.
        """
        with self._lock:
            box = self._box(name)
            box.listeners.append(listener)
            self._queues.wait(name)
        try:
            yield
        finally:
            with self._lock:
                box.listeners.remove(listener)
                self._queues.leave(name)

    def figures(self, name: str) -> QueueFigures:
        """What a queue has done."""
        with self._lock:
            self._box(name)
            return self._queues[name].figures

    def totals(self) -> QueueFigures:
        """What all open queues have done, together."""
        with self._lock:
            each = [astuple(self._queues[name].figures) for name in self._boxes]
        return (
            QueueFigures(*map(sum, zip(*each, strict=True)))
            if each
            else QueueFigures(0, 0, 0, 0, 0, 0)
        )

    # What queues ask for.

    def _box(self, name: str) -> Waiters:
        """The box of a subscriber; the lock is held."""
        if name not in self._boxes:
            raise ConfigError(f"subscriber {name} is not registered")
        return self._boxes[name]

    def _wake(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self._boxes:
                self._boxes[name].wake()

    def _settle_all(self, effects: Mapping[str, tuple[Effect, ...]]) -> Loads:
        return [load for name, todo in effects.items() for load in self._settle(name, todo)]

    def _settle(self, name: str, effects: tuple[Effect, ...]) -> Loads:
        """Does what a queue asks for, but for what must be read, which is given back.

        The lock is held since the queue was asked, so what it sends stays in order.
        """
        box = self._boxes[name]
        for effect in effects:
            match effect:
                case Send():
                    box.sent.extend(effect.notifications)
                    box.wake()
                case SaveCursor():
                    self._cursors.changed(name)
                case Close():  # whoever waits there sees that the connection is another
                    box.wake()
        return [(name, effect) for effect in effects if isinstance(effect, LoadNotifications)]

    def _load_all(self, loads: Loads) -> None:
        for name, load in loads:
            self._load(name, load)

    def _try_loads(self, loads: Loads) -> None:
        """Reads what can be read; a queue whose turn failed asks again at its next event."""
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
                    if name in self._boxes:
                        self._queues[name].load_failed()
                        self._boxes[name].wake()  # another one who waits may try it
                raise
            with self._lock:
                if name not in self._boxes:
                    return
                sequences, ids = queued.sequences.tolist(), queued.subscription_ids
                effects = self._queues[name].loaded(load.start, sequences, ids, queued.end)
                waiting.extend(more for _, more in self._settle(name, effects))
                self._boxes[name].wake()

    def _queued(self, name: str, load: LoadNotifications) -> Queued:
        while True:
            try:
                return self._store.mailboxes.queued(name, load.start, load.limit)
            except DamagedSegment as damage:
                self.mend(damage)

    def _cursor(self, name: str) -> Cursor | None:
        """The cursor as it is now, if there is a queue; the lock is held."""
        return self._queues[name].cursor if name in self._boxes else None
