"""What goes into a store and comes out of it: one frozen type per hop.

publish:   `Publications` → `Log.append` → `Receipt`
subscribe: a batch of `CHANGES` → `Log.change` → `Accepted`
match:     `Entry`, `ChangeEntry` → the pipeline → `Batch` with its `Segment`s → `Batches.commit`
deliver:   `Mailboxes.queued` → `Queued`; `Cursors` keep a `Cursor` per subscriber

An *offset* numbers the publications of a partition. A *sequence* numbers all publications in the
order in which the pipeline committed them: batch after batch, and within a batch by partition and
offset. With one partition sequence and offset are equal. Times are microseconds since 1970, UTC.
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
"""What a publication carries beside its attributes; every field may be null."""

ChangeKind = Literal["stream", "subscriber", "forget", "subscribe", "unsubscribe"]
"""stream: defines a stream, `text` is its schema as JSON. subscriber: registers a subscriber.
forget: ends a subscriber with all its subscriptions and its queue. subscribe: adds a subscription,
`text` is its filter; replaces the one with the same subscriber and id; registers the subscriber
where that is missing. unsubscribe: ends one subscription."""

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
"""Changes of the registry, in order; a field that a kind does not need is an empty string."""

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
"""The notifications of some publications: a row per subscriber, sorted by name.

`offsets` are the publications, ascending. `subscription_ids` are sorted. `matched` has for each
publication the places in `subscription_ids` of the subscriptions that matched, ascending.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Publications:
    """Valid publications of one stream, to be appended together.

    Attributes:
        stream: name of the stream.
        attributes: rows as `columns.log_encoding` writes them; opaque to the log.
        envelopes: a batch of `ENVELOPES`, a row per publication.
        digests: digest of the attributes and payload of each publication; uint64, shape (n,).
    """

    stream: str
    attributes: bytes
    envelopes: pa.RecordBatch
    digests: npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Receipt:
    """The outcome of an append.

    Attributes:
        partition: to which publications were appended.
        offsets: offset of each publication, -1 if it was not appended; int64, shape (n,).
        duplicates: whether the id is taken by a publication with the same body; bool, shape (n,).
        conflicts: whether the id is taken by one with another body; bool, shape (n,).
    """

    partition: int
    offsets: npt.NDArray[np.int64]
    duplicates: npt.NDArray[np.bool_]
    conflicts: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """Publications of one stream as a log keeps them, at successive offsets.

    Attributes:
        partition: of the publications.
        first: offset of the first publication.
        count: number of publications.
        stream: name of the stream.
        accepted_at: time of the append.
        attributes: as given to the append, rows that were not appended included.
        rows: which rows of `attributes` were appended; int32, shape (count,); None: all rows.
        envelopes: a batch of `ENVELOPES`, a row per appended publication; None unless asked for.
        damage: why the entry cannot be read, else None; a damaged entry has only its range.
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
    """The outcome of an append of changes.

    Attributes:
        version: of the first change; the versions of the others follow.
        acts_from: the changes act on publications from this position on.
    """

    version: int
    acts_from: Position


@dataclass(frozen=True, slots=True, eq=False)
class ChangeEntry:
    """Changes as a log keeps them, at successive versions.

    Attributes:
        version: of the first change.
        count: number of versions covered: the number of changes, unless they were compacted.
        acts_from: the changes act on publications from this position on.
        at: time of acceptance, of the last change if the times differ.
        changes: a batch of `CHANGES`.
        damage: why the entry cannot be read, else None; a damaged entry has only its range.
        times: time of acceptance of each change; int64, shape (n,); None: `at` for all changes.
        compacted_to: None for changes as they were accepted. Otherwise the entry is a part of a
            compaction, which replaces all changes before this version by their outcome. The parts
            begin at version 0; a reader drops its earlier state when it meets that part.
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
        """The version after the last one covered."""
        return self.version + self.count


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A publication that could not be matched.

    Attributes:
        stream: name of its stream, empty if that could not be read.
        partition: of the publication.
        offset: of the publication.
        reason: why it could not be matched, as a sentence.
        at: time at which the failure was found.
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
        partition: of the publications.
        first: first offset covered.
        end: offset after the last one covered.
        notifications: a batch of `SEGMENT`.
        is_sound: whether the maker guarantees the form of the notifications, as the stage of the
            pipeline does; the store validates all other segments.
    """

    partition: int
    first: int
    end: int
    notifications: pa.RecordBatch
    is_sound: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The unit that a pipeline commits in one step.

    Attributes:
        start: position at which the batch begins, the end of the batch before it.
        end: position at which the batch ends.
        changes: the batch was matched with the changes before this version.
        segments: cover each partition from start to end without a gap.
        dead_letters: publications that could not be matched.
        at: time at which the pipeline made the batch.
    """

    start: Position
    end: Position
    changes: int
    segments: tuple[Segment, ...] = ()
    dead_letters: tuple[DeadLetter, ...] = ()
    at: int = 0

    @property
    def count(self) -> int:
        """Number of publications covered."""
        return self.end.since(self.start)


@dataclass(frozen=True, slots=True)
class Progress:
    """The end of the last committed batch.

    Attributes:
        position: all publications before it are matched.
        changes: `Batch.changes` of the last batch.
        sequence: number of publications matched so far, the sequence of the next one.
    """

    position: Position = field(default_factory=Position)
    changes: int = 0
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class ShareFigures:
    """What one part of a pipeline did, such as a share of the subscriptions.

    Attributes:
        part: its name, of letters, digits and hyphens.
        counts: what adds up, by name.
        levels: what the latest value replaces, by name.
    """

    part: str
    counts: dict[str, float] = field(default_factory=dict)
    levels: dict[str, float] = field(default_factory=dict)


def added(before: ShareFigures, new: ShareFigures) -> ShareFigures:
    """The figures of a part after some more was done."""
    counts = dict(before.counts)
    for name, count in new.counts.items():
        counts[name] = counts.get(name, 0) + count
    return ShareFigures(new.part, counts, before.levels | new.levels)


@dataclass(frozen=True, slots=True, eq=False)
class Queued:
    """Notifications of one subscriber, in order.

    Attributes:
        sequences: of the publications; int64, ascending, shape (n,).
        subscription_ids: for each publication the subscriptions that matched, sorted.
        end: the notifications from the start of the question to this sequence are complete.
    """

    sequences: npt.NDArray[np.int64]
    subscription_ids: list[list[str]]
    end: int
