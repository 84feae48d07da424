"""Sequences to partitions and offsets, of committed batches and of what is about to be committed.

Concurrency: any number of threads; the end and the batch are replaced together.
"""

import numpy as np
import numpy.typing as npt

from wherecast.store.contracts import Batches
from wherecast.store.records import Batch
from wherecast.store.sequences import offsets_of_moments

Ints = npt.NDArray[np.int64]


class SequenceMap:
    """Locates publications by their sequences.

    Args:
        batches: the committed batches.
        end: the sequence up to which batches are committed.
    """

    def __init__(self, batches: Batches, end: int) -> None:
        self._batches = batches
        self._state: tuple[int, tuple[int, Batch] | None] = (end, None)

    @property
    def end(self) -> int:
        """Everything before this sequence is committed."""
        return self._state[0]

    def expect(self, first: int, batch: Batch) -> None:
        """Takes the batch that is about to be committed, and the sequence at which it begins."""
        self._state = (self.end, (first, batch))

    def committed(self, end: int) -> None:
        """Takes the sequence before which everything is committed."""
        self._state = (end, None)

    def locate(self, sequences: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """The partitions and the offsets of sequences that were notified, committed or not."""
        end, expected = self._state
        stored = sequences < end
        numbering = self._batches.numbering
        if stored.all() or (expected is None and not numbering.is_of_log):
            return self._batches.locate(sequences)
        partitions, offsets = np.zeros(len(sequences), np.int32), sequences.copy()
        if stored.any():
            partitions[stored], offsets[stored] = self._batches.locate(sequences[stored])
        if numbering.is_of_log:
            offsets[~stored] = offsets_of_moments(sequences[~stored])
        elif expected is not None:
            first, batch = expected
            partitions[~stored] = batch.partition
            offsets[~stored] = numbering.offsets(batch, first, sequences[~stored])
        return partitions, offsets
