"""Sequences to partitions and offsets, of committed batches and of the one about to be committed.

Concurrency: any number of threads; the end and the spans are replaced together.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wherecast.store.contracts import Batches
from wherecast.store.sequences import Span

Ints = npt.NDArray[np.int64]


class SequenceMap:
    """Locates publications by their sequences.

    Args:
        batches: the committed batches.
        end: the sequence up to which batches are committed.
    """

    def __init__(self, batches: Batches, end: int) -> None:
        self._batches = batches
        self._end_and_spans: tuple[int, Sequence[Span]] = (end, ())

    @property
    def end(self) -> int:
        """Everything before this sequence is committed."""
        return self._end_and_spans[0]

    def expect(self, spans: Sequence[Span]) -> None:
        """Takes the spans of the batch that is about to be committed."""
        self._end_and_spans = (self.end, spans)

    def committed(self, end: int) -> None:
        """Takes the sequence before which everything is committed."""
        self._end_and_spans = (end, ())

    def locate(self, sequences: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """The partitions and the offsets of sequences that were notified, committed or not."""
        end, spans = self._end_and_spans
        stored = sequences < end
        if stored.all():
            return self._batches.locate(sequences)
        partitions, offsets = np.zeros(len(sequences), np.int32), sequences.copy()
        partitions[stored], offsets[stored] = self._batches.locate(sequences[stored])
        for span in spans:
            inside = (span.sequence <= sequences) & (sequences < span.end)
            partitions[inside] = span.partition
            offsets[inside] += span.offset - span.sequence
        return partitions, offsets
