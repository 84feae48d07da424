"""Batch records in memory.

Concurrency: the lock of what was committed guards everything; a commit wakes those who wait.
"""

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from itertools import islice, takewhile

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from wherecast.model import ConflictError, StoreError
from wherecast.store.contracts import DEAD_LETTERS_MOST, Batches
from wherecast.store.memory.committed import Committed
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, Progress
from wherecast.store.sequences import after, continues, numbered


class MemoryBatches(Batches):
    """Batch records and the epoch of the pipeline, in memory."""

    def __init__(self, committed: Committed) -> None:
        self.numbering = committed.numbering
        self._committed = committed
        self._changed = threading.Condition(committed.lock)
        self._epoch = 0
        self._dead_letters: deque[DeadLetter] = deque(maxlen=DEAD_LETTERS_MOST)
        self._dead_letters_ever = 0

    @override
    def begin(self) -> int:
        with self._changed:
            self._epoch += 1
            return self._epoch

    @override
    def progress(self) -> Progress:
        with self._changed:
            return self._committed.progress

    @override
    def commit(self, batch: Batch, epoch: int) -> Progress:
        with self._changed:
            if epoch != self._epoch:
                raise ConflictError(f"pipeline {epoch} was replaced by pipeline {self._epoch}")
            now = self._committed.progress
            if not continues(batch, now):
                return now
            segment = numbered(batch, self.numbering.first(batch, now.sequence), self.numbering)
            record = replace(batch, notifications=None, dead_letters=())
            progress = after(batch, now, self.numbering)
            self._committed.add(record, segment, progress)
            self._dead_letters += batch.dead_letters
            self._dead_letters_ever += len(batch.dead_letters)
            self._changed.notify_all()
            return progress

    @override
    def wait(self, is_enough: Callable[[Progress], bool], timeout_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(
                lambda: is_enough(self._committed.progress), max(timeout_s, 0)
            )

    @override
    def locate(
        self, sequences: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        partitions, offsets = np.zeros(len(sequences), np.int32), np.zeros(len(sequences), np.int64)
        if not len(sequences):
            return partitions, offsets
        records = self.records(int(sequences.min()), int(sequences.max()) + 1)
        firsts = np.array([first for first, _ in records], np.int64)
        places = np.searchsorted(firsts, sequences, side="right") - 1
        for place, (first, batch) in enumerate(records):
            own = places == place
            partitions[own] = batch.partition
            offsets[own] = self.numbering.offsets(batch, first, sequences[own])
        ends = np.array([self._committed.end_of(record) for record in records], np.int64)
        if not len(records) or places.min() < 0 or np.any(sequences >= ends[places]):
            raise StoreError("a sequence that was trimmed, or that no batch has, has no place")
        return partitions, offsets

    @override
    def records(self, start: int, end: int) -> list[tuple[int, Batch]]:
        if start >= end:
            return []
        with self._changed:
            records = self._committed.records
            begin = bisect_right(records, start, key=self._committed.end_of)
            return list(takewhile(lambda one: one[0] < end, islice(records, begin, None)))

    @override
    def position_at(self, sequence: int) -> Position:
        with self._changed:
            position = dict(self._committed.progress.position)
            records = self._committed.records
            begin = bisect_right(records, sequence, key=self._committed.end_of)
            for _, batch in islice(records, begin, None):
                position[batch.partition] = min(position[batch.partition], batch.first)
            return Position(position)

    @override
    def dead_letters(self, after: int = -1, limit: int = 1000) -> list[tuple[int, DeadLetter]]:
        with self._changed:
            first = self._dead_letters_ever - len(self._dead_letters)
            begin = max(after + 1 - first, 0)
            return list(islice(enumerate(self._dead_letters, first), begin, begin + limit))
