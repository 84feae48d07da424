"""What every store promises: six contracts, and the bundle of them that a broker works on.

Rules for all of them. What a call returned from is durable: it outlives a kill of the process and,
in a store on disk, a power cut. A call that raises has changed nothing. Methods may be called from
several threads. Everything is derived from the log, the cursors and the batch records: what is not
in a batch record does not exist, and can be made again from the log.

Errors are `StoreError` (damage, a full disk, a directory in use) and `ConflictError` (another
writer came first).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.model import Schema, StoreError, Subscription
from wherecast.store.blobs.blobs import Blobs
from wherecast.store.position import Position
from wherecast.store.records import (
    Accepted,
    Batch,
    ChangeEntry,
    Cursor,
    DeadLetter,
    Entry,
    Progress,
    Publications,
    Queued,
    Receipt,
    Segment,
)
from wherecast.store.sequences import NumberedNotifications

DEAD_LETTERS_MOST = 100_000
ENDLESS = 2**63 - 1

Role = Literal["owner", "pipeline", "reader"]
"""What a process does in a store. An owner makes the store where it is missing, and is the only
one. A pipeline and readers work beside the owner in a store that exists."""


class DamagedSegment(StoreError):
    """Notifications that cannot be read; they can be made again from the log.

    Attributes:
        first: the first sequence that the damaged segment covers.
        end: the sequence after the last one.
        reason: what is wrong with it.
    """

    def __init__(self, first: int, end: int, reason: str) -> None:
        self.first = first
        self.end = end
        self.reason = reason
        super().__init__(first, end, reason)

    def __str__(self) -> str:
        return f"notifications of publications {self.first} to {self.end - 1}: {self.reason}"


class Log(Protocol):
    """Publications in partitions, and the changes of the registry, each in the order accepted.

    Attributes:
        identity: a random word that no other log has; generated publication ids begin with it.
    """

    identity: str

    def append(self, publications: Publications, at: int) -> Receipt:
        """Appends publications that no recent one has the id of, at successive offsets.

        Several threads that append at once share one transaction.
        """
        ...

    def change(self, changes: pa.RecordBatch, at: int) -> Accepted:
        """Appends changes (a batch of `CHANGES`), all or none, and applies them to the registry.

        They act on every publication that is appended after this call returned, and on none that
        was appended before it began.
        """
        ...

    def read(
        self, partition: int, start: int, end: int, envelopes: bool = False
    ) -> Iterator[Entry]:
        """The entries that overlap a range of offsets, whole, in order.

        A damaged entry is given with its `damage`; offsets that were trimmed are left out.
        """
        ...

    def changes(self, start: int, end: int) -> Iterator[ChangeEntry]:
        """The entries that overlap a range of versions, whole, in order.

        A damaged entry is given with its `damage`. Where the range begins in what was compacted,
        all parts of that are given, from version 0 on.
        """
        ...

    def starts(self) -> Position:
        """The first offset of each partition that is still there."""
        ...

    def ends(self) -> Position:
        """The offset that the next publication of each partition gets."""
        ...

    def changes_end(self) -> int:
        """The version that the next change gets."""
        ...

    def trim(self, position: Position) -> None:
        """Removes entries wholly before a position, and compacts changes where that is worth while.

        Changes that act from the new start or earlier may be replaced by what stands after them.
        Their versions stay as they are, and so does what they make of the publications that are
        left. Ids that publishers gave stay taken; what had one from the log may come again.
        """
        ...

    def bytes(self) -> int:
        """Number of bytes that the publications take."""
        ...

    def damaged_changes(self) -> int:
        """Number of changes that cannot be read.

        Matching and the registry pass them over; everything else is served.
        """
        ...


class Registry(Protocol):
    """Streams, subscribers and subscriptions as the changes made them: a projection of the log."""

    def streams(self) -> Mapping[str, Schema]:
        """The streams and their schemas."""
        ...

    def has_subscriber(self, name: str) -> bool:
        """Whether a subscriber is registered."""
        ...

    def subscribers(self, after: str = "", limit: int = 1000) -> list[str]:
        """The next registered subscribers in the order of their names."""
        ...

    def subscription(self, subscriber: str, id: str) -> Subscription | None:
        """A subscription, if it is there."""
        ...

    def subscriptions(
        self, subscriber: str, after: str = "", limit: int = 1000
    ) -> list[Subscription]:
        """The next subscriptions of a subscriber in the order of their ids."""
        ...

    def among(self, subscriber: str, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
        """The stream and the filter of those of some subscriptions that are there, by id."""
        ...

    def count(self, subscriber: str) -> int:
        """How many subscriptions a subscriber has."""
        ...

    def counts(self) -> dict[str, int]:
        """How many `streams`, `subscribers` and `subscriptions` there are."""
        ...


class Batches(Protocol):
    """The record of each batch, and who may write the next one."""

    def begin(self) -> int:
        """The epoch of a new pipeline; from now on no earlier one can commit."""
        ...

    def progress(self) -> Progress:
        """How far the pipeline has come."""
        ...

    def commit(self, batch: Batch, epoch: int) -> Progress:
        """Adds a batch with its segments and dead letters, all or nothing.

        A batch that ends where the progress is, or before, was committed already: nothing changes.

        Raises:
            ConflictError: a later pipeline has begun.
            StoreError: the batch does not begin where the progress is.
        """
        ...

    def wait(self, sequence: int, timeout_s: float) -> bool:
        """Waits until the progress is beyond a sequence; False where the time ran out first.

        A commit wakes it at once, from whichever process it comes.
        """
        ...

    def locate(
        self, sequences: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """The partitions and the offsets of sequences.

        Raises:
            StoreError: one was trimmed, or no batch has it.
        """
        ...

    def records(self, start: int, end: int) -> list[tuple[int, Batch]]:
        """The batches that overlap a range of sequences, each after the sequence it begins at.

        They come without their segments and dead letters. Those before `Mailboxes.starts_at` may
        be gone.
        """
        ...

    def dead_letters(self, after: int = -1, limit: int = 1000) -> list[tuple[int, DeadLetter]]:
        """The next dead letters, with their numbers; the last `DEAD_LETTERS_MOST` are kept."""
        ...


class Mailboxes(Protocol):
    """Segments by subscriber: what committed batches notify."""

    def queued(self, subscriber: str, start: int, limit: int) -> Queued:
        """The first notifications of a subscriber at a sequence and beyond.

        Those before a segment that cannot be read are given first.

        Raises:
            DamagedSegment: the next segment cannot be read; `replace` mends it.
        """
        ...

    def counts(self, starts: Mapping[str, int], end: int = ENDLESS) -> dict[str, int]:
        """How many notifications subscribers have, each from a sequence of its own to an end.

        Every segment is opened once, for however many subscribers.

        Raises:
            DamagedSegment: a segment cannot be read; `replace` mends it.
        """
        ...

    def since(self, start: int) -> list[NumberedNotifications]:
        """The segments that reach beyond a sequence, in order; the first may begin before it.

        Raises:
            DamagedSegment: one cannot be read; `replace` mends it.
        """
        ...

    def merge(self) -> int:
        """Merges some segments that are due, and says how many fewer there are; 0: none is due.

        What is delivered stays the same, so this needs no epoch.

        Raises:
            DamagedSegment: one of them cannot be read; `replace` mends it.
        """
        ...

    def replace(self, first: int, end: int, segments: Sequence[Segment]) -> None:
        """Puts segments that were made again in the place of those of a range of sequences.

        The range is that of a `DamagedSegment`; each segment lies in one batch of `records`.

        Raises:
            ConflictError: the range was merged or trimmed since.
            StoreError: the segments do not cover the range.
        """
        ...

    def trim(self, before: int) -> None:
        """Removes segments wholly before a sequence, with the records of their batches."""
        ...

    def starts_at(self) -> int:
        """The first sequence whose notifications are still there."""
        ...


class Cursors(Protocol):
    """What each subscriber acknowledged."""

    def read(self, subscriber: str) -> Cursor | None:
        """The cursor of a subscriber, if it has one."""
        ...

    def write(self, cursors: Mapping[str, Cursor | None]) -> None:
        """Sets cursors, all or none; None deletes one. Several threads share one transaction."""
        ...

    def all(self) -> Iterator[tuple[str, Cursor]]:
        """Every cursor, by name."""
        ...


class Store(Protocol):
    """The contracts of one broker, opened together.

    Attributes:
        log: publications and changes.
        registry: the projection of the changes.
        batches: the record per batch.
        mailboxes: the notifications of committed batches.
        cursors: what was acknowledged.
        snapshots: blobs that may be lost, if there is a place for them.
    """

    log: Log
    registry: Registry
    batches: Batches
    mailboxes: Mailboxes
    cursors: Cursors
    snapshots: Blobs | None

    def close(self) -> None:
        """Gives everything back; nothing can be called after it."""
        ...
