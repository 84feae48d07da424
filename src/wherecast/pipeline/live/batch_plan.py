"""The plan of the next batch: which publications it covers, which changes it knows."""

from collections.abc import Iterator
from dataclasses import dataclass

from wherecast.store.contracts import Log
from wherecast.store.position import Position

PUBLICATIONS_MAX = 20_000  # in one batch, so that a backlog is matched in steps


@dataclass(frozen=True, slots=True)
class Range:
    """Successive publications of a partition.

    Attributes:
        partition: where the publications are.
        first: the offset of the first one.
        end: the offset after the last one.
    """

    partition: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """Which publications a batch covers, and which changes it knows.

    Attributes:
        start: the position of its first publications.
        end: the position after its last publications.
        changes: the batch knows the changes before this version.
    """

    start: Position
    end: Position
    changes: int

    @property
    def ranges(self) -> Iterator[Range]:
        """The ranges that the batch covers, one for each partition with publications."""
        for partition in self.end:
            if self.start[partition] < self.end[partition]:
                yield Range(partition, self.start[partition], self.end[partition])


def plan(log: Log, start: Position, most: int = PUBLICATIONS_MAX) -> BatchPlan | None:
    """The plan of the next batch after a position; None where nothing was published since.

    The ends of the partitions are read before the end of the changes. So the batch knows every
    change that acts on one of its publications.
    """
    end = limited(start, log.ends(), most)
    return None if end == start else BatchPlan(start, end, log.changes_end())


def limited(start: Position, end: Position, most: int) -> Position:
    """The end of a batch that begins at the start and has at most so many publications."""
    offsets = dict(start)
    for partition, offset in end.items():
        step = min(offset - start[partition], most)
        offsets[partition] = start[partition] + step
        most -= step
    return Position(offsets)
