"""Batch records in memory.

Concurrency: the lock of what was committed guards everything; a commit wakes those who wait.
"""

import threading
from bisect import bisect_right
from collections import deque
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from wherecast.model import ConflictError, StoreError
from wherecast.store.contracts import DEAD_LETTERS_MOST, Batches
from wherecast.store.memory.committed import Committed
from wherecast.store.records import Batch, DeadLetter, Progress
from wherecast.store.sequences import continues, numbered, spans_of


class MemoryBatches(Batches):
    """Batch records and the epoch of the pipeline, in memory."""

    def __init__(self, committed: Committed) -> None:
        self._committed = committed
        self._changed = threading.Condition(committed.lock)
        self._epoch = 0
        self._progress = Progress()
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
            return self._progress

    @override
    def commit(self, batch: Batch, epoch: int) -> Progress:
        with self._changed:
            if epoch != self._epoch:
                raise ConflictError(f"pipeline {epoch} was replaced by pipeline {self._epoch}")
            now = self._progress
            if not continues(batch, now):
                return now
            given = numbered(batch, now.sequence)
            spans = spans_of(batch.start, batch.end, now.sequence)
            end = now.sequence + batch.count
            record = replace(batch, segments=(), dead_letters=())
            self._committed.add((now.sequence, record), spans, given)
            self._dead_letters += batch.dead_letters
            self._dead_letters_ever += len(batch.dead_letters)
            self._progress = Progress(batch.end, batch.changes, end)
            self._changed.notify_all()
            return self._progress

    @override
    def wait(self, sequence: int, timeout_s: float) -> bool:
        with self._changed:
            return self._changed.wait_for(
                lambda: self._progress.sequence > sequence, max(timeout_s, 0)
            )

    @override
    def locate(
        self, sequences: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        with self._changed:
            spans, end = self._committed.spans, self._progress.sequence
            if not len(sequences):
                return np.empty(0, np.int32), np.empty(0, np.int64)
            begin = bisect_right(spans, sequences.min(), key=lambda span: span.sequence) - 1
            last = bisect_right(spans, sequences.max(), key=lambda span: span.sequence)
            if begin < 0 or sequences.max() >= end:
                raise StoreError("a sequence that was trimmed, or that no batch has, has no place")
            spans = spans[begin:last]
        firsts = np.array([span.sequence for span in spans], np.int64)
        partitions = np.array([span.partition for span in spans], np.int32)
        constants = np.array([span.offset - span.sequence for span in spans], np.int64)
        places = np.searchsorted(firsts, sequences, side="right") - 1
        return partitions[places], sequences + constants[places]

    @override
    def records(self, start: int, end: int) -> list[tuple[int, Batch]]:
        with self._changed:
            records = self._committed.records
            begin = bisect_right(records, start, key=lambda one: one[0] + one[1].count)
            return [one for one in islice(records, begin, None) if one[0] < end]

    @override
    def dead_letters(self, after: int = -1, limit: int = 1000) -> list[tuple[int, DeadLetter]]:
        with self._changed:
            first = self._dead_letters_ever - len(self._dead_letters)
            begin = max(after + 1 - first, 0)
            return list(islice(enumerate(self._dead_letters, first), begin, begin + limit))
