"""What the next batch covers."""

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
        start: where it begins.
        end: where it ends.
        changes: it knows the changes before this version.
    """

    start: Position
    end: Position
    changes: int

    @property
    def ranges(self) -> Iterator[Range]:
        """What it covers of each partition."""
        for partition in self.end:
            if self.start[partition] < self.end[partition]:
                yield Range(partition, self.start[partition], self.end[partition])


def plan(log: Log, start: Position, most: int = PUBLICATIONS_MAX) -> BatchPlan | None:
    """The next batch after a position, None where there is nothing new.

    The ends of the publications are read before that of the changes: so every change that acts on
    one of the publications is among those that the batch knows.
    """
    end = limited(start, log.ends(), most)
    return None if end == start else BatchPlan(start, end, log.changes_end())


def limited(start: Position, end: Position, most: int) -> Position:
    """A position on the way to the end, so many publications after the start at most."""
    offsets = dict(start)
    for partition, offset in end.items():
        step = min(offset - start[partition], most)
        offsets[partition] = start[partition] + step
        most -= step
    return Position(offsets)
