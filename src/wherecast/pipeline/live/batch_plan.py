"""The plan of the next batches: which publications they cover, which changes they know."""

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
    """Which publications the next batches cover, a batch per partition, and what they know.

    Attributes:
        start: the position of the first publications.
        end: the position after the last publications.
        changes: the batches know the changes before this version.
    """

    start: Position
    end: Position
    changes: int

    @property
    def ranges(self) -> Iterator[Range]:
        """The range of each batch, one for each partition with something new."""
        for partition in self.end:
            if self.start[partition] < self.end[partition]:
                yield Range(partition, self.start[partition], self.end[partition])


def plan(
    log: Log, start: Position, most: int = PUBLICATIONS_MAX, turn: int = 0
) -> BatchPlan | None:
    """The plan of the next batches after a position; None where nothing was published since.

    The ends of the partitions are read before the end of the changes. So a batch knows every change
    that acts on one of its publications.

    Args:
        log: what is matched.
        start: everything before it is matched.
        most: number of records in all batches of the plan.
        turn: the partition that comes first, where several have something new.
    """
    end = limited(log, start, log.ends(), most, turn)
    return None if end == start else BatchPlan(start, end, log.changes_end())


def limited(log: Log, start: Position, end: Position, most: int, turn: int = 0) -> Position:
    """The furthest position up to an end that has at most so many records after a start.

    The partition whose turn it is comes first, so that none of them starves.
    """
    offsets = dict(start)
    for partition, offset in sorted(end.items(), key=lambda one: (one[0] < turn, one[0])):
        count = log.count(partition, start[partition], offset)
        if count <= most:
            offsets[partition] = max(offset, start[partition])
        elif most:
            offsets[partition] = log.skip(partition, start[partition], most)
        most -= min(count, most)
    return Position(offsets)


def cut(log: Log, range_: Range, parts: int) -> Iterator[Range]:
    """A range in so many parts with about as many records each, as far as it has them."""
    partition, first = range_.partition, range_.first
    count = log.count(partition, first, range_.end)
    taken = 0
    for part in range(1, parts + 1):
        step = count * part // parts - taken
        taken += step
        end = range_.end if part == parts else log.skip(partition, first, step)
        if first < end:
            yield Range(partition, first, end)
        first = end
