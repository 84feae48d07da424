"""Spans of offsets: from which offset on, and up to which one, versions of subscriptions act.

Only versions that begin or end at a place where publications are still to be matched have a span.
Every other version acts on all publications. So the spans are few, however many versions there are.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.store.position import Position

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Span:
    """Where a version acts: from its begin on, up to but without its end.

    Attributes:
        begin: the first publications.
        end: the publications after the last ones; None: it acts on.
        stream: number of the stream of the version.
    """

    begin: Position
    end: Position | None
    stream: int

    def holds(self, partition: int, offset: int) -> bool:
        """Whether the version acts on the publication at an offset."""
        if offset < self.begin[partition]:
            return False
        return self.end is None or offset < self.end[partition]

    def is_over(self, position: Position) -> bool:
        """Whether it holds no publication at a position and beyond, or none at all."""
        if self.end is None:
            return False
        begin = self.begin
        return all(offset <= max(begin[p], position[p]) for p, offset in self.end.items())


class Spans:
    """The spans of those versions that do not act on everything from the floor on."""

    def __init__(self) -> None:
        self.by_version: dict[int, Span] = {}
        self._columns: dict[int, tuple[Ints, Ints, Ints]] = {}  # by partition

    def __len__(self) -> int:
        return len(self.by_version)

    def set(self, version: int, span: Span) -> None:
        """Sets the span of a version."""
        self.by_version[version] = span
        self._columns.clear()

    def drop(self, versions: Iterable[int]) -> None:
        """Forgets the spans of some versions."""
        for version in versions:
            del self.by_version[version]
        self._columns.clear()

    def settle(self, floor: Position) -> None:
        """Forgets the spans that hold everything from a floor on."""
        spans = self.by_version.items()
        self.drop([v for v, span in spans if span.end is None and floor.reaches(span.begin)])

    def over(self, position: Position) -> list[int]:
        """The versions that act on nothing at a position and beyond."""
        return [v for v, span in self.by_version.items() if span.is_over(position)]

    def acting(self, partition: int, offsets: Ints, versions: Ints) -> Bools | None:
        """Whether each version acts on the publication at the offset beside it; None: all do."""
        if not self.by_version or not len(versions):
            return None
        known, begins, ends = self._columns_of(partition)
        places = np.minimum(np.searchsorted(known, versions), len(known) - 1)
        bounded = np.flatnonzero(known[places] == versions)
        if not len(bounded):
            return None
        own, where = places[bounded], offsets[bounded]
        acting = np.ones(len(versions), np.bool_)
        acting[bounded] = (begins[own] <= where) & (where < ends[own])
        return acting

    def _columns_of(self, partition: int) -> tuple[Ints, Ints, Ints]:
        """The versions, ascending, with their begins and ends in a partition."""
        if partition not in self._columns:
            spans = sorted(self.by_version.items())
            rows = [
                (v, one.begin[partition], _NEVER if one.end is None else one.end[partition])
                for v, one in spans
            ]
            known, begins, ends = np.array(rows, np.int64).reshape(len(rows), 3).T
            self._columns[partition] = np.ascontiguousarray(known), begins, ends
        return self._columns[partition]


def later(one: Position, other: Position) -> Position:
    """The later offset of two positions in each partition."""
    return Position({part: max(one[part], other[part]) for part in {*one, *other}})
