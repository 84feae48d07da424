"""What every store promises: six contracts, and `Store`, the bundle that a broker works on.

Rules for all contracts:

- A change is durable when the call returns: it survives a kill of the process and, in a store on
  disk, a power cut. A call that raises has changed nothing.
- Any number of threads may call the methods.
- The log, the cursors and the batch records are the truth; everything else is derived from them. A
  notification exists once a batch record covers its publication, and can be made again from the
  log.

Errors are `StoreError` (damage, a full disk, a directory in use) and `ConflictError` (another
writer came first).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.model import Schema, StoreError, StreamSpec, Subscription, SubscriptionSpec
from wherecast.store.blobs.blobs import Blobs
from wherecast.store.position import Position
from wherecast.store.records import (
    Accepted,
    Batch,
    ChangeEntry,
    Cursor,
    DeadLetter,
    Entry,
    LinkMark,
    Progress,
    Publications,
    Queued,
    Receipt,
    ShareFigures,
    Withdrawals,
)
from wherecast.store.sequences import SLOT_BITS, NumberedNotifications, SequenceNumbering
from wherecast.store.store_items import StoreItem, StoreResult

DEAD_LETTERS_MOST = 100_000
ENDLESS = 2**63 - 1

Role = Literal["owner", "pipeline", "reader"]
"""What a process does in a store. An owner makes the store where it is missing, and is the only
one. A pipeline and readers work beside the owner in a store that exists."""


class DamagedSegment(StoreError):
    """A segment that cannot be read; its notifications can be made again from the log.

    Attributes:
        first: first sequence that the segment covers, at which a batch begins.
        end: sequence after the last one that it covers, at which a batch ends.
        reason: what is wrong with the segment.
    """

    def __init__(self, first: int, end: int, reason: str) -> None:
        self.first = first
        self.end = end
        self.reason = reason
        super().__init__(first, end, reason)

    def __str__(self) -> str:
        # The stores that verify what they read number moments, so people are told offsets.
        first, last = self.first >> SLOT_BITS, (self.end >> SLOT_BITS) - 1
        return f"notifications of publications {first} to {last}: {self.reason}"


class Log(Protocol):
    """Records in partitions, and changes of the registry, each in the order of acceptance.

    Records are publications, withdrawals and ticks; each has an offset. Times of records and
    changes never decrease: see `time`.

    Attributes:
        identity: a random word that no other log has, but for its backups; generated publication
            ids begin with it.
        incarnation: a random word that no other log has; a backup that is opened gets a new one.
    """

    identity: str
    incarnation: str

    def append(self, publications: Publications, at: int, mark: LinkMark | None = None) -> Receipt:
        """Appends the publications whose ids are new, at successive offsets of one partition.

        An id is taken for the same stream and publisher only. A publication with a publisher and
        without a counter gets the next counter of that publisher in the stream.

        Args:
            publications: of one stream.
            at: time of the call, by the wall clock; they are accepted at the time of the log.
            mark: of the link by which they came. It is written together with them, also where none
                of them is new, and names the source of their entry.
        """
        ...

    def withdraw(self, withdrawals: Withdrawals, at: int, mark: LinkMark | None = None) -> Receipt:
        """Appends withdrawals, as `append` does; whether a publication exists is not looked at."""
        ...

    def tick(self, at: int) -> Receipt:
        """Appends a tick to every partition."""
        ...

    def change(self, changes: pa.RecordBatch, at: int) -> Accepted:
        """Appends changes (a batch of `CHANGES`), all or none, and applies them to the registry.

        The changes act on every publication appended after this call returns, and on no publication
        appended before the call. A change of an unknown kind is kept; the registry passes it over.
        """
        ...

    def time(self, at: int) -> int:
        """The time of the log now, by which ages are judged; a time of the wall clock is given.

        The time never decreases. While the log is open, it moves by no more than a clock that
        nobody can set does, and a little more (`log_time`); at opening a step is believed.
        """
        ...

    def link_marks(self) -> Mapping[str, LinkMark]:
        """The mark of each link by which something came, by the name of the link.

        Raises:
            StoreError: a mark is damaged.
        """
        ...

    def read(
        self, partition: int, start: int, end: int, headers: bool = False, payloads: bool = False
    ) -> Iterator[Entry]:
        """Yields the whole entries that overlap a range of offsets, in order.

        Between two entries there may be a hole, which no record will ever fill. A damaged entry has
        only its range and its `damage`. Trimmed offsets are left out.

        Args:
            partition: which one to read.
            start: first offset.
            end: offset after the last one.
            headers: whether entries come with their headers.
            payloads: whether entries come with their payloads.
        """
        ...

    def changes(self, start: int, end: int) -> Iterator[ChangeEntry]:
        """Yields the whole entries that overlap a range of versions, in order.

        A damaged entry has only its range and its `damage`. If the range begins among compacted
        changes, all parts of the compaction are given, from version 0 on.
        """
        ...

    def starts(self) -> Position:
        """The first offset of each partition that was not trimmed."""
        ...

    def ends(self) -> Position:
        """The offset of the next record of each partition."""
        ...

    def changes_end(self) -> int:
        """The version of the next change."""
        ...

    def wait(self, is_enough: Callable[[Position], bool], timeout_s: float) -> bool:
        """Waits until the log reaches far enough; returns False after the timeout.

        Args:
            is_enough: decides by the ends of the partitions, without a call of the log.
            timeout_s: the longest wait.

        A record that any process appends wakes the caller at once, and so does `wake`.
        """
        ...

    def wake(self) -> None:
        """Has all who wait, in this process and in others, look again whether they wait on."""
        ...

    def trim(self, position: Position) -> None:
        """Removes entries wholly before a position, and compacts changes where that saves much.

        Compaction replaces changes that act from the new start or earlier by their outcome, that is
        streams, subscribers and subscriptions, and by the changes of unknown kinds. Each change
        that is left keeps its version, and the matches of the publications that are left stay the
        same. Ids given by publishers stay taken; a publication whose id was generated by the log
        may be accepted again.
        """
        ...

    def bytes(self) -> int:
        """Number of bytes that the records take."""
        ...

    def size(self) -> int:
        """Number of records that were not trimmed."""
        ...

    def count(self, partition: int, start: int, end: int) -> int:
        """Number of records in a range of offsets."""
        ...

    def skip(self, partition: int, start: int, count: int) -> int:
        """The offset after the next records from an offset on, so many or as many as there are."""
        ...

    def damaged_changes(self) -> int:
        """Number of changes that cannot be read.

        Matching and the registry pass them over; everything else is served.
        """
        ...


class Registry(Protocol):
    """Streams, subscribers and subscriptions: a projection of the changes of the log."""

    def streams(self) -> Mapping[str, Schema]:
        """The schema of each stream, by its name."""
        ...

    def stream_specs(self) -> Mapping[str, StreamSpec]:
        """The schema and the options of each stream, by its name."""
        ...

    def has_subscriber(self, name: str) -> bool:
        """Whether a subscriber is registered."""
        ...

    def subscribers(self, after: str = "", limit: int = 1000) -> list[str]:
        """A page of registered subscribers, sorted by name: those after a name."""
        ...

    def subscription(self, subscriber: str, id: str) -> Subscription | None:
        """A subscription; None if the subscriber has none with this id."""
        ...

    def subscriptions(
        self, subscriber: str, after: str = "", limit: int = 1000
    ) -> list[Subscription]:
        """A page of the subscriptions of a subscriber, sorted by id: those after an id."""
        ...

    def among(self, subscriber: str, ids: Sequence[str]) -> dict[str, SubscriptionSpec]:
        """What each subscription asks for whose id is among the given ones, by id."""
        ...

    def count(self, subscriber: str) -> int:
        """Number of subscriptions of a subscriber."""
        ...

    def counts(self) -> dict[str, int]:
        """Numbers of `streams`, `subscribers` and `subscriptions`."""
        ...


class Batches(Protocol):
    """The record of each batch, and the epoch of the pipeline that may commit the next one.

    Attributes:
        numbering: how the records of batches get their sequences.
    """

    numbering: SequenceNumbering

    def begin(self) -> int:
        """Begins a pipeline and returns its epoch; no earlier pipeline can commit any more."""
        ...

    def progress(self) -> Progress:
        """The end of the last committed batch, over all partitions."""
        ...

    def commit(self, batch: Batch, epoch: int) -> Progress:
        """Commits a batch with its dead letters, all or nothing; returns the progress.

        Committing a batch again changes nothing: its end is not beyond the progress of its
        partition. Other partitions do not matter.

        Raises:
            ConflictError: a later pipeline has begun.
            StoreError: the batch does not begin at the progress of its partition.
        """
        ...

    def wait(self, is_enough: Callable[[Progress], bool], timeout_s: float) -> bool:
        """Waits until the progress is far enough; returns False after the timeout.

        A commit of any process wakes the caller at once.
        """
        ...

    def locate(
        self, sequences: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The partition and the offset of each sequence.

        Where sequences follow from offsets, one that was trimmed may still be located.

        Raises:
            StoreError: a sequence is of no batch, or its place is not known any more.
        """
        ...

    def records(self, start: int, end: int) -> list[tuple[int, Batch]]:
        """The batches that overlap a range of sequences, as pairs of first sequence and batch.

        The batches have neither notifications nor dead letters. Records before
        `Mailboxes.starts_at` may be removed.
        """
        ...

    def position_at(self, sequence: int) -> Position:
        """A position at or before every record whose sequence is at least the given one."""
        ...

    def dead_letters(self, after: int = -1, limit: int = 1000) -> list[tuple[int, DeadLetter]]:
        """A page of dead letters with their numbers; the last `DEAD_LETTERS_MOST` are kept."""
        ...


class Mailboxes(Protocol):
    """The notifications of committed batches, by subscriber."""

    def queued(self, subscriber: str, start: int, limit: int) -> Queued:
        """The first notifications of a subscriber from a sequence on, at most `limit`.

        Notifications before a damaged segment are returned first; the next call raises.

        Raises:
            DamagedSegment: the segment at `start` cannot be read; `replace` mends it.
        """
        ...

    def counts(self, starts: Mapping[str, int], end: int = ENDLESS) -> dict[str, int]:
        """Number of notifications of each subscriber, from its own start to a common end.

        Each segment is opened once, whatever the number of subscribers.

        Raises:
            DamagedSegment: a segment cannot be read; `replace` mends it.
        """
        ...

    def since(self, start: int, bytes_max: int = ENDLESS) -> list[NumberedNotifications] | None:
        """The segments that reach beyond a sequence, in order; the first may begin before it.

        None if the segments are larger together than `bytes_max`.

        Raises:
            DamagedSegment: a segment cannot be read; `replace` mends it.
        """
        ...

    def merge(self) -> int:
        """Merges neighbouring segments where that is due; returns by how many the number fell.

        Deliveries stay the same, so merging needs no epoch.

        Raises:
            DamagedSegment: a segment cannot be read; `replace` mends it.
        """
        ...

    def replace(self, first: int, end: int, batches: Sequence[tuple[int, Batch]]) -> None:
        """Replaces the segments of a range of sequences by notifications made again from the log.

        Args:
            first: as a `DamagedSegment` has it.
            end: as a `DamagedSegment` has it.
            batches: those that `Batches.records` has for the range, with their notifications.

        Raises:
            ConflictError: the range was merged or trimmed meanwhile.
            StoreError: the batches do not cover the range.
        """
        ...

    def trim(self, before: int) -> None:
        """Removes the segments wholly before a sequence, with the records of their batches."""
        ...

    def starts_at(self) -> int:
        """The first sequence whose notifications were not trimmed."""
        ...


class Cursors(Protocol):
    """The cursor of each subscriber: what it acknowledged."""

    def read(self, subscriber: str) -> Cursor | None:
        """The cursor of a subscriber; None if it has none."""
        ...

    def write(self, cursors: Mapping[str, Cursor | None]) -> None:
        """Writes cursors, all or none; None deletes a cursor."""
        ...

    def all(self) -> Iterator[tuple[str, Cursor]]:
        """Yields the name and the cursor of every subscriber."""
        ...


class Figures(Protocol):
    """What the parts of a pipeline did, for people to read; figures may be lost."""

    def add(self, epoch: int, figures: ShareFigures) -> None:
        """Adds what a part did, where no later pipeline has added anything; raises nothing.

        Figures of earlier pipelines are forgotten.
        """
        ...

    def read(self) -> list[ShareFigures]:
        """The figures of every part of the latest pipeline, by name of the part."""
        ...


class Store(Protocol):
    """The contracts of one broker, opened together.

    Attributes:
        log: publications and changes.
        registry: projection of the changes.
        batches: batch records.
        mailboxes: notifications of committed batches.
        cursors: acknowledgements.
        snapshots: blobs of indexes, which may be lost; None if the store has no place for blobs.
        figures: what the parts of the pipeline did, which may be lost.
    """

    log: Log
    registry: Registry
    batches: Batches
    mailboxes: Mailboxes
    cursors: Cursors
    snapshots: Blobs | None
    figures: Figures

    def write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
        """Writes records, changes and cursors in one transaction, in order, all or none.

        Each item does what the method of its contract does. In a store on disk they share one sync.
        """
        ...

    def close(self) -> None:
        """Closes the store; no method may be called afterwards."""
        ...
