"""Spans of offsets: from which offset on, and up to which one, each numbered version acts.

Numbers are used again. So every array is as long as the largest number that was ever taken at one
time, not as long as all changes that were ever made.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.store.position import Position

Ints = npt.NDArray[np.int64]
_NEVER = np.iinfo(np.int64).max


class Spans:
    """The positions between which versions of subscriptions act, by number.

    A version acts on the publications of a partition from its start, up to but without its end.
    """

    def __init__(self) -> None:
        self._ended = np.zeros(0, np.bool_)
        self._starts: dict[int, Ints] = {}
        self._ends: dict[int, Ints] = {}

    def begin(self, numbers: Ints, start: Position) -> None:
        """Lets versions act from a position on; their numbers may have been used before."""
        if not len(numbers):
            return
        largest = int(numbers.max())
        if largest >= len(self._ended):
            self._grow(max(largest + 1, 2 * len(self._ended), 64))
        self._ended[numbers] = False
        for partition in {*self._starts, *start}:
            starts, ends = self._part(partition)
            starts[numbers], ends[numbers] = start[partition], _NEVER

    def end(self, numbers: Ints, end: Position) -> None:
        """Lets versions act no longer from a position on."""
        self._ended[numbers] = True
        for partition in {*self._ends, *end}:
            self._part(partition)[1][numbers] = end[partition]

    def acting(self, partition: int, offsets: Ints, numbers: Ints) -> npt.NDArray[np.bool_]:
        """Whether each version acts on the publication at the offset beside its number."""
        starts, ends = self._part(partition)
        return (starts[numbers] <= offsets) & (offsets < ends[numbers])

    def over(self, numbers: Ints, position: Position) -> npt.NDArray[np.bool_]:
        """Whether each version acts on nothing at a position and beyond.

        That holds for a version that ended before the position, and for a version whose span is
        empty, whatever the position.
        """
        over: npt.NDArray[np.bool_] = self._ended[numbers]
        for partition, ends in self._ends.items():
            starts = self._starts[partition][numbers]
            over &= ends[numbers] <= np.maximum(starts, position[partition])
        return over

    def columns(self, numbers: Ints) -> dict[str, Ints]:
        """The starts and ends of some versions, by a name for each partition."""
        columns = {"ended": self._ended[numbers].astype(np.int64)}
        for partition in sorted(self._starts):
            columns[f"start {partition}"] = self._starts[partition][numbers]
            columns[f"end {partition}"] = self._ends[partition][numbers]
        return columns

    @staticmethod
    def restored(numbers: Ints, columns: Mapping[str, Ints]) -> "Spans":
        """The spans of some versions, from what `columns` gave of them."""
        spans, count = Spans(), int(numbers.max(initial=-1)) + 1
        spans._ended = np.ones(count, np.bool_)
        spans._ended[numbers] = columns["ended"]
        for name, values in columns.items():
            kind, _, partition = name.partition(" ")
            if kind != "ended":
                by_partition = spans._starts if kind == "start" else spans._ends
                by_partition[int(partition)] = np.zeros(count, np.int64)
                by_partition[int(partition)][numbers] = values
        return spans

    def _part(self, partition: int) -> tuple[Ints, Ints]:
        """The starts and ends in a partition."""
        if partition not in self._starts:  # a version that ended did so before the partition began
            self._starts[partition] = np.zeros(len(self._ended), np.int64)
            self._ends[partition] = np.where(self._ended, 0, _NEVER)
        return self._starts[partition], self._ends[partition]

    def _grow(self, capacity: int) -> None:
        """Makes room for so many numbers."""
        self._ended = grown(self._ended, capacity, True)
        for partition in self._starts:
            self._starts[partition] = grown(self._starts[partition], capacity, 0)
            self._ends[partition] = grown(self._ends[partition], capacity, 0)


def grown(array: npt.NDArray[Any], capacity: int, fill: int) -> npt.NDArray[Any]:
    """A longer copy of an array."""
    longer = np.full(capacity, fill, array.dtype)
    longer[: len(array)] = array
    return longer
