"""Acknowledgements of single notifications, beyond the cursor of a subscriber."""

from collections.abc import Collection
from heapq import heappop, heappush


class SingleAcks:
    """A set of sequences whose smallest ones are dropped as the cursor passes them.

    Cost: a logarithm of the number of sequences per one that is added or dropped.
    """

    __slots__ = ("_heap", "_sequences")

    def __init__(self, sequences: Collection[int] = ()) -> None:
        self._sequences = set(sequences)
        self._heap = sorted(sequences)

    def __len__(self) -> int:
        return len(self._sequences)

    def __contains__(self, sequence: int) -> bool:
        return sequence in self._sequences

    def add(self, sequence: int) -> None:
        """Adds a sequence that is not in the set."""
        self._sequences.add(sequence)
        heappush(self._heap, sequence)

    def drop_before(self, sequence: int) -> None:
        """Drops all smaller sequences."""
        while self._heap and self._heap[0] < sequence:
            self._sequences.remove(heappop(self._heap))

    def count_from(self, sequence: int) -> int:
        """Number of sequences from one on; looks at all of them."""
        return sum(1 for one in self._heap if one >= sequence)

    def frozen(self) -> frozenset[int]:
        """A copy of the set."""
        return frozenset(self._sequences)
