"""Sequences: how the publications of a batch are numbered, and how they are found again.

Within a batch the partitions follow one another, so in each of them a sequence is the offset plus
a constant. With one partition the constant is always 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from wherecast.model import StoreError
from wherecast.store.position import Position
from wherecast.store.records import Batch, Progress, Segment
from wherecast.store.segments.segments import problem_of, shift


@dataclass(frozen=True, slots=True)
class Span:
    """Successive publications of one partition in one batch.

    Attributes:
        sequence: of the first publication.
        partition: of the publications.
        offset: of the first publication.
        count: number of publications.
    """

    sequence: int
    partition: int
    offset: int
    count: int

    @property
    def offset_end(self) -> int:
        """The offset after the last one."""
        return self.offset + self.count

    @property
    def end(self) -> int:
        """The sequence after the last one."""
        return self.sequence + self.count


@dataclass(frozen=True, slots=True, eq=False)
class NumberedNotifications:
    """The notifications of successive sequences.

    Attributes:
        first: the first sequence that it covers.
        end: the sequence after the last one.
        notifications: a batch of `SEGMENT` whose `offsets` are sequences.
    """

    first: int
    end: int
    notifications: pa.RecordBatch


def continues(batch: Batch, progress: Progress) -> bool:
    """Whether a batch is the next one; False where it was committed already.

    Raises:
        StoreError: it does not begin where the progress is.
    """
    if progress.position.reaches(batch.end):
        return False
    if batch.start != progress.position or not batch.end.reaches(batch.start):
        raise StoreError(
            f"a batch from {batch.start} to {batch.end} does not continue {progress.position}"
        )
    return True


def spans_of(start: Position, end: Position, sequence: int) -> list[Span]:
    """What a batch covers, in the order of its sequences, of which the first is given."""
    spans = []
    for partition in sorted({*start, *end}):
        count = end[partition] - start[partition]
        if count:
            spans.append(Span(sequence, partition, start[partition], count))
            sequence += count
    return spans


def numbered(batch: Batch, sequence: int) -> list[NumberedNotifications]:
    """The segments of a batch by sequence, of which the first is given.

    Raises:
        StoreError: they do not cover the batch, or one is not as a segment must be.
    """
    spans = spans_of(batch.start, batch.end, sequence)
    given = number(batch.segments, spans)
    check_cover(given, sequence, sequence + batch.count)
    return given


def number(segments: Iterable[Segment], spans: Sequence[Span]) -> list[NumberedNotifications]:
    """Segments by sequence, in order; each lies within one of the spans.

    Raises:
        StoreError: one does not, or is not as a segment must be.
    """
    given = list(segments)
    for segment in given:
        if segment.is_sound:
            continue
        problem = problem_of(segment.notifications, segment.first, segment.end)
        if problem:
            raise StoreError(f"the segment of {_described(segment)} cannot be stored: {problem}")
    return shifted(given, spans)


def shifted(segments: Iterable[Segment], spans: Sequence[Span]) -> list[NumberedNotifications]:
    """Segments by sequence, in order, without a look into them.

    Raises:
        StoreError: one does not lie within one of the spans.
    """
    found = []
    for segment in segments:
        if segment.first < segment.end:  # or it covers nothing
            by = _constant(segment, spans)
            notifications = shift(segment.notifications, by)
            found.append(NumberedNotifications(segment.first + by, segment.end + by, notifications))
    return sorted(found, key=lambda one: one.first)


def check_cover(given: Sequence[NumberedNotifications], first: int, end: int) -> None:
    """Refuses segments that do not cover a range of sequences, one after the other.

    Raises:
        StoreError: they do not.
    """
    at = first
    for one in given:
        if one.first != at:
            raise StoreError(f"segments do not follow one another at sequence {at}")
        at = one.end
    if at != end:
        raise StoreError(f"segments end at sequence {at}, not at {end}")


def _constant(segment: Segment, spans: Sequence[Span]) -> int:
    for span in spans:
        inside = span.offset <= segment.first <= segment.end <= span.offset_end
        if inside and span.partition == segment.partition:
            return span.sequence - span.offset
    raise StoreError(f"the segment of {_described(segment)} is not of this batch")


def _described(segment: Segment) -> str:
    return f"offsets {segment.first} to {segment.end - 1} of partition {segment.partition}"
