"""Sequences: the places of notifications, and how they follow from offsets.

A log of one partition numbers *moments*: the gap before an offset has 2^24 slots, and the record at
the offset takes the last slot of its gap. The other slots are for what a queue is told between two
records. So a sequence is a function of the log alone:

    sequence = offset << 24 | slot

A log of several partitions has no order of its own. There the commits number records: batch after
batch, and within a batch by offset.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import override

from wherecast.model import StoreError
from wherecast.store.position import Position
from wherecast.store.records import NO_NOTIFICATIONS, Batch, Progress, RecordRun
from wherecast.store.segments.segments import problem_of, renumbered

Ints = npt.NDArray[np.int64]

SLOT_BITS = 24
SLOTS = 1 << SLOT_BITS
OFFSETS = 1 << (63 - SLOT_BITS)
"""Offsets of a log of one partition are below this, so that sequences fit into 63 bits."""

_LAST_SLOT = SLOTS - 1


@dataclass(frozen=True, slots=True, eq=False)
class NumberedNotifications:
    """The notifications of a range of sequences.

    Attributes:
        first: the first sequence that it covers.
        end: the sequence after the last one.
        notifications: a batch of `SEGMENT` whose `offsets` are sequences.
    """

    first: int
    end: int
    notifications: pa.RecordBatch


class RecordCounts(Protocol):
    """What numbering asks of a log."""

    def ends(self) -> Position:
        """The offset of the next record of each partition."""
        ...

    def count(self, partition: int, start: int, end: int) -> int:
        """Number of records in a range of offsets."""
        ...


class SequenceNumbering(Protocol):
    """How a store gives sequences to the records of its batches. Pure functions.

    Attributes:
        is_of_log: whether a sequence follows from the offset alone, as `moment_of` gives it.
    """

    is_of_log: bool

    def first(self, batch: Batch, sequence: int) -> int:
        """The sequence at which a batch begins, where the progress is at a sequence."""
        ...

    def end(self, batch: Batch, first: int) -> int:
        """The sequence at which a batch ends that begins at a sequence."""
        ...

    def sequences(self, batch: Batch, first: int, offsets: Ints) -> Ints:
        """The sequences of records of a batch that begins at a sequence; int64, same shape."""
        ...

    def offsets(self, batch: Batch, first: int, sequences: Ints) -> Ints:
        """The offsets of records of a batch by their sequences: the inverse of `sequences`."""
        ...

    def next(self, progress: Progress, log: RecordCounts) -> int:
        """A sequence that no record of the log has, nor one before it, and the next ones reach."""
        ...

    def reach(self, progress: Progress, log: RecordCounts) -> int:
        """The sequence before which all records lie that are in the log now."""
        ...


class MomentNumbering(SequenceNumbering):
    """The numbers of a log of one partition: a function of the offset."""

    is_of_log = True

    @override
    def first(self, batch: Batch, sequence: int) -> int:
        return batch.first << SLOT_BITS

    @override
    def end(self, batch: Batch, first: int) -> int:
        return batch.end << SLOT_BITS

    @override
    def sequences(self, batch: Batch, first: int, offsets: Ints) -> Ints:
        return (offsets << SLOT_BITS) | _LAST_SLOT

    @override
    def offsets(self, batch: Batch, first: int, sequences: Ints) -> Ints:
        return offsets_of_moments(sequences)

    @override
    def next(self, progress: Progress, log: RecordCounts) -> int:
        return log.ends()[0] << SLOT_BITS

    @override
    def reach(self, progress: Progress, log: RecordCounts) -> int:
        return log.ends()[0] << SLOT_BITS


class CommitNumbering(SequenceNumbering):
    """The numbers of a log of several partitions: given by the commits, one per record."""

    is_of_log = False

    @override
    def first(self, batch: Batch, sequence: int) -> int:
        return sequence

    @override
    def end(self, batch: Batch, first: int) -> int:
        return first + batch.count

    @override
    def sequences(self, batch: Batch, first: int, offsets: Ints) -> Ints:
        starts, places = _starts(batch.runs)
        rows = np.searchsorted(starts, offsets, side="right") - 1
        return first + places[rows] + offsets - starts[rows]

    @override
    def offsets(self, batch: Batch, first: int, sequences: Ints) -> Ints:
        starts, places = _starts(batch.runs)
        rows = np.searchsorted(places, sequences - first, side="right") - 1
        return starts[rows] + sequences - first - places[rows]

    @override
    def next(self, progress: Progress, log: RecordCounts) -> int:
        """The progress: a later record may be matched before those that wait."""
        return progress.sequence

    @override
    def reach(self, progress: Progress, log: RecordCounts) -> int:
        done = progress.position
        waiting = (log.count(part, done[part], end) for part, end in log.ends().items())
        return progress.sequence + sum(waiting)


def moment_of(offset: int) -> int:
    """The sequence of the record at an offset of a log of one partition."""
    return offset << SLOT_BITS | _LAST_SLOT


def offsets_of_moments(sequences: Ints) -> Ints:
    """The offsets of the records at some moments.

    Raises:
        StoreError: a moment is not that of a record.
    """
    if np.any((sequences & _LAST_SLOT) != _LAST_SLOT):
        raise StoreError("a sequence between two records has no place in the log")
    return sequences >> SLOT_BITS


def continues(batch: Batch, progress: Progress) -> bool:
    """Whether a batch is the next one of its partition; False if it was committed already.

    Raises:
        StoreError: the batch does not begin at the progress of its partition.
    """
    reached = progress.position[batch.partition]
    if batch.first < batch.end <= reached:
        return False
    if batch.first != reached or batch.end <= batch.first:
        raise StoreError(
            f"a batch of partition {batch.partition} from {batch.first} to {batch.end} does not "
            f"continue {reached}"
        )
    return True


def after(batch: Batch, progress: Progress, numbering: SequenceNumbering) -> Progress:
    """The progress after a batch that continues it."""
    return Progress(
        Position({**progress.position, batch.partition: batch.end}),
        batch.changes,
        numbering.end(batch, numbering.first(batch, progress.sequence)),
        progress.count + batch.count,
        batch.at,
    )


def numbered(batch: Batch, first: int, numbering: SequenceNumbering) -> NumberedNotifications:
    """The notifications of a batch that begins at a sequence.

    Raises:
        StoreError: the notifications are not as they must be.
    """
    check_notifications(batch)
    given = NO_NOTIFICATIONS if batch.notifications is None else batch.notifications
    made = renumbered(given, lambda offsets: numbering.sequences(batch, first, offsets))
    return NumberedNotifications(first, numbering.end(batch, first), made)


def check_notifications(batch: Batch) -> None:
    """Raises StoreError unless the notifications of a batch can be stored."""
    if batch.is_sound or batch.notifications is None:
        return
    problem = problem_of(batch.notifications, batch.first, batch.end)
    if problem is None and not _are_covered(batch):
        problem = "a publication is in none of its runs"
    if problem:
        where = f"offsets {batch.first} to {batch.end - 1} of partition {batch.partition}"
        raise StoreError(f"the notifications of {where} cannot be stored: {problem}")


def check_cover(given: Sequence[NumberedNotifications], first: int, end: int) -> None:
    """Raises StoreError unless segments cover a range of sequences, one after the other."""
    at = first
    for one in given:
        if one.first != at:
            raise StoreError(f"segments do not follow one another at sequence {at}")
        at = one.end
    if at != end:
        raise StoreError(f"segments end at sequence {at}, not at {end}")


def joined_runs(runs: Iterable[RecordRun]) -> tuple[RecordRun, ...]:
    """Ascending runs, of which those that touch are one; runs without records are left out."""
    found: list[RecordRun] = []
    for run in runs:
        if found and found[-1].end == run.offset:
            found[-1] = RecordRun(found[-1].offset, found[-1].count + run.count)
        elif run.count:
            found.append(run)
    return tuple(found)


def _starts(runs: Sequence[RecordRun]) -> tuple[Ints, Ints]:
    """The first offset of each run, and its place among the records of all runs."""
    starts = np.array([run.offset for run in runs], np.int64)
    counts = np.array([run.count for run in runs], np.int64)
    return starts, np.cumsum(counts) - counts


def _are_covered(batch: Batch) -> bool:
    """Whether every publication that is notified lies in a run of its batch."""
    assert batch.notifications is not None
    offsets = batch.notifications.column("offsets").flatten().to_numpy()
    if not len(offsets):
        return True
    if not batch.runs:
        return False
    starts = np.array([run.offset for run in batch.runs], np.int64)
    ends = np.array([run.end for run in batch.runs], np.int64)
    rows = np.searchsorted(starts, offsets, side="right") - 1
    return bool(np.all((rows >= 0) & (offsets < ends[np.maximum(rows, 0)])))
