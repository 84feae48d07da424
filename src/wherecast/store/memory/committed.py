"""The committed batches of a store in memory: their records and segments.

Concurrency: whoever uses it holds its lock.
"""

import threading
from dataclasses import dataclass

from wherecast.store.records import Batch, Progress
from wherecast.store.sequences import (
    CommitNumbering,
    MomentNumbering,
    NumberedNotifications,
    SequenceNumbering,
)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """A segment with its tier and its size."""

    numbered: NumberedNotifications
    tier: int
    bytes: int

    @staticmethod
    def of(numbered: NumberedNotifications, tier: int) -> "Kept":
        """A segment of a tier."""
        return Kept(numbered, tier, numbered.notifications.nbytes)


class Committed:
    """The records and segments of batches, each in the order of sequences.

    Args:
        partitions: number of partitions of the log.

    Attributes:
        lock: must be held for everything else.
        numbering: how records get their sequences.
        records: the batches, each after the sequence it begins at.
        kept: the segments.
        progress: the end of the last batch.
    """

    def __init__(self, partitions: int = 1) -> None:
        self.lock = threading.RLock()
        self.numbering: SequenceNumbering = (
            MomentNumbering() if partitions == 1 else CommitNumbering()
        )
        self.records: list[tuple[int, Batch]] = []
        self.kept: list[Kept] = []
        self.progress = Progress()

    def add(self, batch: Batch, segment: NumberedNotifications, progress: Progress) -> None:
        """Adds a batch, which leads to a progress; a batch without sequences has no segment."""
        self.records.append((segment.first, batch))
        if segment.first < segment.end:
            self.kept.append(Kept.of(segment, 0))
        self.progress = progress

    def end_of(self, record: tuple[int, Batch]) -> int:
        """The sequence after the last one of a record."""
        return self.numbering.end(record[1], record[0])

    def starts_at(self) -> int:
        """The first sequence whose segment is there."""
        return self.kept[0].numbered.first if self.kept else self.progress.sequence

    def forget(self) -> None:
        """Removes the records of batches wholly before the segments that are there."""
        start = self.starts_at()
        self.records = [one for one in self.records if self.end_of(one) > start]
