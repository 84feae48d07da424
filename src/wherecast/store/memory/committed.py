"""What batches committed to memory: their records and segments, guarded by one lock."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from wherecast.store.records import Batch
from wherecast.store.sequences import NumberedNotifications, Span


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

    Attributes:
        lock: must be held for everything else.
        records: the batches, each after the sequence it begins at.
        spans: what they cover; spans that continue one another are one.
        kept: the segments.
        end: the sequence that the next publication gets.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.records: list[tuple[int, Batch]] = []
        self.spans: list[Span] = []
        self.kept: list[Kept] = []
        self.end = 0

    def add(
        self,
        record: tuple[int, Batch],
        spans: Sequence[Span],
        segments: Sequence[NumberedNotifications],
    ) -> None:
        """Adds a batch."""
        self.records.append(record)
        self.kept += [Kept.of(one, 0) for one in segments]
        self.end += record[1].count
        for span in spans:
            last = self.spans[-1] if self.spans else None
            if last and last.partition == span.partition and last.offset_end == span.offset:
                self.spans[-1] = replace(last, count=last.count + span.count)
            else:
                self.spans.append(span)

    def starts_at(self) -> int:
        """The first sequence whose segment is there."""
        return self.kept[0].numbered.first if self.kept else self.end

    def forget(self) -> None:
        """Removes records and spans wholly before the segments that are there."""
        start = self.starts_at()
        self.records = [one for one in self.records if one[0] + one[1].count > start]
        self.spans = [span for span in self.spans if span.sequence + span.count > start]
