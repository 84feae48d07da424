"""Spans: from which offset on, and up to which, each of many numbered things acts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.store.position import Position

Ints = npt.NDArray[np.int64]
_NEVER = np.iinfo(np.int64).max


class Spans:
    """Positions between which things act, by their numbers.

    A thing acts on the publications of a partition from where it starts, up to but without where it
    ends.
    """

    def __init__(self) -> None:
        self._count = 0
        self._ended = np.zeros(0, np.bool_)
        self._starts: dict[int, Ints] = {}
        self._ends: dict[int, Ints] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, count: int, start: Position) -> None:
        """Adds things that act from a position on; they get the next numbers."""
        first, self._count = self._count, self._count + count
        if self._count > len(self._ended):
            self._grow(max(self._count, 2 * len(self._ended), 64))
        for partition, offset in start.items():
            self._part(partition)[0][first : self._count] = offset

    def end(self, numbers: Ints, end: Position) -> None:
        """Lets things act no longer from a position on."""
        self._ended[numbers] = True
        for partition in {*self._ends, *end}:
            self._part(partition)[1][numbers] = end[partition]

    def acting(self, partition: int, offsets: Ints, numbers: Ints) -> npt.NDArray[np.bool_]:
        """Whether each thing acts on the publication at the offset beside it."""
        starts, ends = self._part(partition)
        return (starts[numbers] <= offsets) & (offsets < ends[numbers])

    def over(self, position: Position) -> Ints:
        """The numbers of things that act on nothing at a position and beyond."""
        over = self._ended[: self._count].copy()
        for partition in self._ends:
            over &= self._ends[partition][: self._count] <= position[partition]
        return np.flatnonzero(over)

    def columns(self, numbers: Ints) -> dict[str, Ints]:
        """The starts and ends of some things, by a name for each partition."""
        columns = {"ended": self._ended[numbers].astype(np.int64)}
        for partition in sorted(self._starts):
            columns[f"start {partition}"] = self._starts[partition][numbers]
            columns[f"end {partition}"] = self._ends[partition][numbers]
        return columns

    @staticmethod
    def restored(count: int, numbers: Ints, columns: Mapping[str, Ints]) -> "Spans":
        """The spans of so many things, of which only some still act; see `columns`."""
        spans = Spans()
        spans._count = count
        spans._ended = np.ones(count, np.bool_)
        spans._ended[numbers] = columns["ended"]
        for name, values in columns.items():
            kind, _, partition = name.partition(" ")
            if kind != "ended":
                kept = spans._starts if kind == "start" else spans._ends
                kept[int(partition)] = np.zeros(count, np.int64)
                kept[int(partition)][numbers] = values
        return spans

    def _part(self, partition: int) -> tuple[Ints, Ints]:
        """The starts and ends in a partition."""
        if partition not in self._starts:  # what ended did so before anything was there
            self._starts[partition] = np.zeros(len(self._ended), np.int64)
            self._ends[partition] = np.where(self._ended, 0, _NEVER)
        return self._starts[partition], self._ends[partition]

    def _grow(self, capacity: int) -> None:
        """Makes room for so many."""
        self._ended = _grown(self._ended, capacity, False)
        for partition in self._starts:
            self._starts[partition] = _grown(self._starts[partition], capacity, 0)
            self._ends[partition] = _grown(self._ends[partition], capacity, _NEVER)


def _grown(array: npt.NDArray[Any], capacity: int, fill: int) -> npt.NDArray[Any]:
    grown = np.full(capacity, fill, array.dtype)
    grown[: len(array)] = array
    return grown
