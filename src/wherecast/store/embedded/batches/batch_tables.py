"""The tables of `batches.db`, and its rows as values.

Every row is under a checksum. The state and the batches must be read whole, so damage in them is an
error; a segment that is damaged can be made again.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pyarrow as pa

from wherecast.store.embedded.database import Layout, damaged
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, Progress
from wherecast.store.segments.segment_files import file_name, segment_digest

LAYOUT = Layout(
    1,
    """
    CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 0),
        epoch INTEGER NOT NULL,       -- of the last pipeline that began
        starts_at INTEGER NOT NULL,   -- segments before this sequence were trimmed
        checksum INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE batches (
        first INTEGER PRIMARY KEY,    -- the first sequence; of one partition, the offset
        "end" INTEGER NOT NULL,
        changes INTEGER NOT NULL,
        at INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE segments (
        first INTEGER PRIMARY KEY,
        "end" INTEGER NOT NULL,
        tier INTEGER NOT NULL,
        bytes INTEGER NOT NULL,
        digest BLOB NOT NULL,         -- of the range and the data
        data BLOB                     -- null where the segment is a file
    ) STRICT;
    CREATE TABLE dropped (            -- files that no segment names any more
        file TEXT PRIMARY KEY,
        at INTEGER NOT NULL           -- seconds since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE dead_letters (
        number INTEGER PRIMARY KEY,
        stream TEXT NOT NULL,
        "partition" INTEGER NOT NULL,
        "offset" INTEGER NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL,
        checksum INTEGER NOT NULL
    ) STRICT;
    """,
)

Field = int | str | bytes

_NO_DATA = pa.py_buffer(b"")


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment as it is stored, without its data.

    Attributes:
        first: the first sequence that it covers.
        end: the sequence after the last one.
        tier: how often it was merged.
        size_bytes: size of the data.
        digest: digest of the range and the data.
        is_file: whether the data is a file.
    """

    first: int
    end: int
    tier: int
    size_bytes: int
    digest: bytes
    is_file: bool

    @property
    def is_empty(self) -> bool:
        """Whether it has no notifications; the digest says so, so damage cannot."""
        return self.digest == segment_digest(self.first, self.end, _NO_DATA)

    @property
    def file(self) -> str:
        """The name of its file."""
        return file_name(self.first, self.end, self.digest)


def checksum(*fields: Field) -> int:
    """A checksum of fields, each told apart from its neighbours."""
    crc = 0
    for field in fields:
        if isinstance(field, int):
            crc = zlib.crc32(struct.pack("<q", field), crc)
        else:
            data = field.encode() if isinstance(field, str) else field
            crc = zlib.crc32(data, zlib.crc32(struct.pack("<q", len(data)), crc))
    return crc


def read_state(connection: apsw.Connection, path: Path) -> tuple[int, int]:
    """The epoch, and the first sequence whose segment was not trimmed."""
    row = connection.execute("SELECT epoch, starts_at, checksum FROM state").fetchone()
    if row is None:
        return 0, 0
    epoch, starts_at = _intact(row, path, "the state of the pipeline")
    return epoch, starts_at


def write_state(connection: apsw.Connection, epoch: int, starts_at: int) -> None:
    """Sets what `read_state` gives."""
    row = (epoch, starts_at, checksum(epoch, starts_at))
    connection.execute("INSERT OR REPLACE INTO state VALUES (0, ?, ?, ?)", row)


def read_progress(connection: apsw.Connection, path: Path) -> Progress:
    """How far the pipeline has come."""
    row = connection.execute("SELECT * FROM batches ORDER BY first DESC LIMIT 1").fetchone()
    if row is None:
        return Progress()
    _, batch = batch_of(row, path)
    return Progress(batch.end, batch.changes, batch.end[0])


def batch_row(batch: Batch) -> tuple[int, ...]:
    """The row of a batch."""
    fields = (batch.start[0], batch.end[0], batch.changes, batch.at)
    return (*fields, checksum(*fields))


def batch_of(row: Sequence[Any], path: Path) -> tuple[int, Batch]:
    """The batch of a row, after the sequence it begins at."""
    first, end, changes, at = _intact(row, path, f"the batch at {row[0]}")
    return first, Batch(Position({0: first}), Position({0: end}), changes, at=at)


def dead_letter_row(number: int, letter: DeadLetter) -> tuple[Field, ...]:
    """The row of a dead letter."""
    fields = (
        number,
        letter.stream,
        letter.partition,
        letter.offset,
        letter.reason,
        letter.at,
    )
    return (*fields, checksum(*fields))


def dead_letter_of(row: Sequence[Any], path: Path) -> tuple[int, DeadLetter]:
    """The dead letter of a row, after its number."""
    number, *fields = _intact(row, path, f"dead letter {row[0]}")
    return number, DeadLetter(*fields)


def read_segments(connection: apsw.Connection, start: int, end: int) -> list[SegmentRow]:
    """The segments that overlap a range of sequences."""
    rows: Iterable[Any] = connection.execute(
        """
        SELECT first, "end", tier, bytes, digest, data IS NULL FROM segments
        WHERE first >= coalesce((SELECT max(first) FROM segments WHERE first <= ?), ?)
            AND first < ? ORDER BY first
        """,
        (start, start, end),
    )
    found = (SegmentRow(*row) for row in rows)
    return [row for row in found if row.end > start]


def _intact(row: Sequence[Any], path: Path, what: str) -> Sequence[Any]:
    """The fields of a row, whose last one is their checksum.

    Raises:
        StoreError: they are not as they were written.
    """
    *fields, expected = row
    if checksum(*fields) != expected:
        raise damaged(path, f"the checksum of {what} is wrong")
    return fields
