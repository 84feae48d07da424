"""Small samples of the publications that an index has matched, from which the planner learns."""

from threading import Lock

import numpy as np
import pyarrow as pa

from wherecast.arrays.vectors import array_of

_ROWS = 256  # of one sample
_SAMPLES = 4  # that are kept, the newest


class Samples:
    """Samples of the publications that were matched, the newest ones.

    A sample is taken of the first batch, and again each time the count of publications has
    doubled: so samples cost nothing in the long run, and follow slow changes of the traffic.

    Attributes:
        batches: the samples.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._count = 0
        self._next = 1
        self.batches: tuple[pa.RecordBatch, ...] = ()

    def note(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, ...]:
        """Counts a batch, and takes a sample of it where one is due; returns the samples."""
        with self._lock:
            self._count += batch.num_rows
            if self._count >= self._next:
                self._next = 2 * self._count
                step = max(1, batch.num_rows // _ROWS)
                places = array_of(np.arange(0, batch.num_rows, step)[:_ROWS])
                self.batches = (*self.batches, batch.take(places))[-_SAMPLES:]
            return self.batches
