"""What goes into a store and comes out of it: one frozen type per hop.

publish:   `Publications` → `Log.append` → `Receipt`
subscribe: a batch of `CHANGES` → `Log.change` → `Accepted`
match:     `Entry`, `ChangeEntry` → the pipeline → `Batch` with its `Segment`s → `Batches.commit`
deliver:   `Mailboxes.queued` → `Queued`; `Cursors` keep a `Cursor` per subscriber

Offsets number the publications of a partition. A *sequence* numbers all publications in the order
in which the pipeline committed them: batch after batch, and within a batch by partition and offset.
With one partition the two are the same. Times are microseconds since 1970, UTC.
"""

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.delivery.cursor import Cursor as Cursor
from wherecast.store.position import Position

ENVELOPES = pa.schema(
    [
        ("id", pa.string()),
        ("published_at", pa.timestamp("us", tz="UTC")),
        ("payload", pa.binary()),
    ]
)
"""What a publication carries beside its attributes; each may be null."""

ChangeKind = Literal["stream", "subscriber", "forget", "subscribe", "unsubscribe"]
"""stream: defines one, `text` is its schema as JSON. subscriber: registers one. forget: ends a
subscriber with all its subscriptions and its queue. subscribe: `text` is the filter; the same
subscriber and id again replaces it; a subscriber that is not registered is now. unsubscribe: ends
one subscription."""

CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)

CHANGES = pa.schema(
    [
        ("kind", pa.dictionary(pa.int8(), pa.string())),
        ("stream", pa.string()),
        ("subscriber", pa.string()),
        ("id", pa.string()),
        ("text", pa.string()),
    ]
)
"""Changes of the registry, in order; what a kind does not need is an empty string."""

_NOTHING = [pa.nulls(0, kind) for kind in CHANGES.types]
NO_CHANGES = pa.RecordBatch.from_arrays(_NOTHING, schema=CHANGES)

SEGMENT = pa.schema(
    [
        ("subscriber", pa.string()),
        ("subscription_ids", pa.list_(pa.string())),
        ("offsets", pa.list_(pa.int64())),
        ("matched", pa.list_(pa.list_(pa.int32()))),
    ]
)
"""The notifications of some publications, a row per subscriber, sorted by name.

`offsets` ascend; `matched` has for each of them the places in `subscription_ids` (sorted) of the
subscriptions that matched, ascending.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Publications:
    """Valid publications of one stream, to be appended together.

    Attributes:
        stream: its name.
        attributes: the rows as `columns.log_encoding` writes them; the log does not look in.
        envelopes: a batch of `ENVELOPES`, a row per publication.
        digests: a digest of the attributes and payload of each; uint64, shape (n,).
    """

    stream: str
    attributes: bytes
    envelopes: pa.RecordBatch
    digests: npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Receipt:
    """What became of publications that were appended.

    Attributes:
        partition: where they are.
        offsets: of each publication, -1 where it was not appended; int64, shape (n,).
        duplicates: those whose id came before with the same body; bool, shape (n,).
        conflicts: those whose id came before with another body; bool, shape (n,).
    """

    partition: int
    offsets: npt.NDArray[np.int64]
    duplicates: npt.NDArray[np.bool_]
    conflicts: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """Publications of one stream as a log keeps them, at successive offsets.

    Attributes:
        partition: where they are.
        first: the offset of the first.
        count: how many they are.
        stream: its name.
        accepted_at: when they were appended.
        attributes: as they were given; rows that were not appended are still in it.
        rows: which rows of `attributes` were appended; int32, shape (count,); None is all of them.
        envelopes: a batch of `ENVELOPES`, a row per appended publication; None where it was not
            asked for.
        damage: what is wrong, where the log could not read it; the rest is then empty.
    """

    partition: int
    first: int
    count: int
    stream: str
    accepted_at: int
    attributes: bytes
    rows: npt.NDArray[np.int32] | None = None
    envelopes: pa.RecordBatch | None = None
    damage: str | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of changes.

    Attributes:
        version: the number of the first one; the others follow.
        acts_from: they act on publications at this position and beyond.
    """

    version: int
    acts_from: Position


@dataclass(frozen=True, slots=True, eq=False)
class ChangeEntry:
    """Changes as a log keeps them, at successive versions.

    Attributes:
        version: the number of the first one.
        count: how many versions it covers: as many as it has changes, unless it was compacted.
        acts_from: they act on publications at this position and beyond.
        at: when they were accepted, the last of them.
        changes: a batch of `CHANGES`.
        damage: what is wrong, where the log could not read it; the rest is then empty.
        times: when each was accepted; int64, shape (n,); None is `at` for all of them.
        compacted_to: where it is a part of what stands before this version, in the place of the
            changes that led there. The parts begin at version 0, and whoever reads them forgets
            what it knew. None for changes as they were accepted.
    """

    version: int
    count: int
    acts_from: Position
    at: int
    changes: pa.RecordBatch
    damage: str | None = None
    times: npt.NDArray[np.int64] | None = None
    compacted_to: int | None = None

    @property
    def end(self) -> int:
        """The version after the last one that it covers."""
        return self.version + self.count


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A publication that could not be matched.

    Attributes:
        stream: its stream, empty where that could not be read.
        partition: where it is.
        offset: where it is there.
        reason: a sentence.
        at: when that was found.
    """

    stream: str
    partition: int
    offset: int
    reason: str
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """The notifications of successive publications of one partition.

    Attributes:
        partition: where the publications are.
        first: the first offset that it covers.
        end: the offset after the last one that it covers.
        notifications: a batch of `SEGMENT`.
        is_sound: whether its maker vouches for the form of the notifications, as the stage of the
            pipeline does; the store looks into those of every other maker.
    """

    partition: int
    first: int
    end: int
    notifications: pa.RecordBatch
    is_sound: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What a pipeline commits in one step.

    Attributes:
        start: where the batch begins: where the one before it ended.
        end: where it ends.
        changes: the changes that it knows: all before this version.
        segments: in each partition one after the other, without a gap, from start to end.
        dead_letters: the publications that were left out.
        at: when it was made.
    """

    start: Position
    end: Position
    changes: int
    segments: tuple[Segment, ...] = ()
    dead_letters: tuple[DeadLetter, ...] = ()
    at: int = 0

    @property
    def count(self) -> int:
        """How many publications it covers."""
        return self.end.since(self.start)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the pipeline has come.

    Attributes:
        position: publications before it are matched.
        changes: the changes that its last batch knew.
        sequence: how many publications were matched: the number that the next one gets.
    """

    position: Position = field(default_factory=Position)
    changes: int = 0
    sequence: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Queued:
    """Notifications of one subscriber, in order.

    Attributes:
        sequences: which publications; int64, ascending, shape (n,).
        subscription_ids: of each, the subscriptions that matched, sorted.
        end: all notifications before this sequence, from where it was asked, are here.
    """

    sequences: npt.NDArray[np.int64]
    subscription_ids: list[list[str]]
    end: int
