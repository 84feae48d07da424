"""The delivering side: the queues of subscribers over a store.

`delivery` decides; this reads and writes for it. Notifications of a batch come from the pipeline by
`notify`, before they are committed, or are read from the store once `committed` says so.

Concurrency: any number of threads. Each queue has its lock, under which the store is read for it;
no lock of all queues is held meanwhile.
"""

from collections.abc import Callable
from threading import Lock

import numpy as np
import numpy.typing as npt

from wherecast.delivery import Cursor, Queue, QueueLimits
from wherecast.gateway.box import Box, Reached
from wherecast.store.contracts import DamagedSegment, Store
from wherecast.store.numbering import Span, numbered, spans_of
from wherecast.store.records import Batch, Queued
from wherecast.store.segments import find

Ints = npt.NDArray[np.int64]


class Courier:
    """The queues of all subscribers that were asked for since it was made.

    Args:
        store: what they rest on.
        mend: makes the notifications of a range of sequences again, where they are damaged.
        limits: of each queue.
    """

    def __init__(
        self,
        store: Store,
        mend: Callable[[int, int], None],
        limits: QueueLimits | None = None,
    ) -> None:
        progress = store.batches.progress()
        self._store = store
        self._mend = mend
        self._limits = QueueLimits() if limits is None else limits
        self._reached = Reached(progress.sequence)
        # Notifications are sent before they are committed: an earlier life may have sent all.
        waiting = store.log.ends().since(progress.position)
        self._delivered_before = progress.sequence + waiting
        self._lock = Lock()
        self._boxes: dict[str, Box] = {}
        self._offered = progress.sequence
        self._to_wake: set[str] = set()
        self._spans: list[Span] = []  # of the batch that is about to be committed

    def box(self, name: str) -> Box:
        """The queue of a subscriber."""
        with self._lock:
            if name not in self._boxes:
                cursor = self._store.cursors.read(name) or Cursor()
                queue = Queue(cursor, self._reached.end, self._delivered_before, self._limits)
                self._boxes[name] = Box(name, queue, self._offered, self._reached, self)
                self._to_wake.add(name)
            return self._boxes[name]

    def forget(self, name: str) -> None:
        """Drops the queue of a subscriber, and lets those that wait at it go."""
        with self._lock:
            box = self._boxes.pop(name, None)
        if box is not None:
            box.close()
        self._store.cursors.write({name: None})

    def notify(self, batch: Batch) -> None:
        """Gives queues the notifications of the next batch, which is about to be committed."""
        sequence = self._reached.end
        with self._lock:
            self._spans = spans_of(batch.start, batch.end, sequence)
        for part in numbered(batch, sequence):
            with self._lock:
                boxes = dict(self._boxes)
                self._offered = part.end
            for name in part.notifications.column("subscriber").to_pylist():
                if name in boxes:
                    found = find(part.notifications, name, part.first, part.end - part.first)
                    assert found is not None
                    items = zip(
                        found.offsets.tolist(), map(tuple, found.subscription_ids), strict=True
                    )
                    boxes[name].offer(part.first, part.end, items)
                    self._to_wake.add(name)

    def locate(self, sequences: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """The partitions and the offsets of sequences that were notified, committed or not."""
        with self._lock:
            end, spans = self._reached.end, self._spans
        stored = sequences < end
        if stored.all():
            return self._store.batches.locate(sequences)
        partitions, offsets = np.zeros(len(sequences), np.int32), sequences.copy()
        partitions[stored], offsets[stored] = self._store.batches.locate(sequences[stored])
        for span in spans:
            inside = (span.sequence <= sequences) & (sequences < span.sequence + span.count)
            partitions[inside] = span.partition
            offsets[inside] += span.offset - span.sequence
        return partitions, offsets

    def committed(self, sequence: int) -> None:
        """Tells queues that everything before a sequence is stored."""
        with self._lock:
            self._reached.end = sequence
            names, self._to_wake = self._to_wake, set()
            boxes = [self._boxes[name] for name in names if name in self._boxes]
        for box in boxes:
            box.wake(sequence)

    def close(self) -> None:
        """Lets those that wait go."""
        with self._lock:
            boxes = list(self._boxes.values())
        for box in boxes:
            box.close()

    def queued(self, name: str, start: int, limit: int) -> Queued:
        """What the store has for a subscriber; damaged notifications are made again."""
        while True:
            try:
                return self._store.mailboxes.queued(name, start, limit)
            except DamagedSegment as damage:
                self._mend(damage.first, damage.end)

    def save(self, name: str, cursor: Cursor) -> None:
        """Writes a cursor."""
        self._store.cursors.write({name: cursor})
