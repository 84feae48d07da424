"""Where notified publications are, of committed batches and of the one that is about to be.

Concurrency: any number of threads; what is known is replaced as a whole.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from wherecast.store.contracts import Batches
from wherecast.store.sequences import Span

Ints = npt.NDArray[np.int64]


class SequenceMap:
    """Finds publications by their sequences.

    Args:
        batches: what was committed.
        end: the sequence up to which that is.
    """

    def __init__(self, batches: Batches, end: int) -> None:
        self._batches = batches
        self._known: tuple[int, Sequence[Span]] = (end, ())

    @property
    def end(self) -> int:
        """Everything before this sequence is committed."""
        return self._known[0]

    def expect(self, spans: Sequence[Span]) -> None:
        """Learns what the batch covers that is about to be committed."""
        self._known = (self.end, spans)

    def committed(self, end: int) -> None:
        """Learns that everything before a sequence is committed."""
        self._known = (end, ())

    def locate(self, sequences: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """The partitions and the offsets of sequences that were notified, committed or not."""
        end, spans = self._known
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
