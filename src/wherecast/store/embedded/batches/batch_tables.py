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

from wherecast.store.contracts import ENDLESS
from wherecast.store.embedded.database import Layout, damaged
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, Progress, RecordRun
from wherecast.store.segments.segment_files import file_name, segment_digest
from wherecast.store.sequences import SLOT_BITS

LAYOUT = Layout(
    2,
    """
    CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 0),
        epoch INTEGER NOT NULL,       -- of the last pipeline that began
        starts_at INTEGER NOT NULL,   -- segments before this sequence were trimmed
        checksum INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE batches (
        "partition" INTEGER NOT NULL,
        "end" INTEGER NOT NULL,       -- offset, as first
        first INTEGER NOT NULL,
        changes INTEGER NOT NULL,
        at INTEGER NOT NULL,
        next_due INTEGER,             -- log time of the next promotion, if one is due
        placement INTEGER NOT NULL,   -- version of the placement
        runs BLOB NOT NULL,           -- first offsets and counts; empty: all of the range
        promotions BLOB NOT NULL,     -- empty: none
        figures BLOB NOT NULL,        -- of each share; empty: none
        checksum INTEGER NOT NULL,
        PRIMARY KEY ("partition", "end")
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE segments (
        first INTEGER PRIMARY KEY,    -- sequence, as end
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

_COLUMNS = """ "partition", "end", first, changes, at, next_due, placement, runs, promotions,
    figures, checksum """
_INSERT_BATCH = f"INSERT INTO batches ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_LAST_BATCH = f'SELECT {_COLUMNS} FROM batches ORDER BY "partition" DESC, "end" DESC LIMIT 1'
_BATCHES = f"""SELECT {_COLUMNS} FROM batches WHERE "partition" = 0 AND "end" > ?1
    AND "end" <= ifnull(
        (SELECT min("end") FROM batches WHERE "partition" = 0 AND "end" >= ?2), ?2)
    AND first < ?2 ORDER BY "end" """
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


def checksum(*fields: Field | None) -> int:
    """A checksum of fields, each told apart from its neighbours."""
    crc = 0
    for field in fields:
        if field is None:
            crc = zlib.crc32(b"-", crc)
        elif isinstance(field, int):
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
    row = connection.execute(_LAST_BATCH).fetchone()
    if row is None:
        return Progress()
    batch = batch_of(row, path)
    # The log is dense, so that an end is also the number of records before it.
    return Progress(
        Position({0: batch.end}), batch.changes, batch.end << SLOT_BITS, batch.end, batch.at
    )


def insert_batch(connection: apsw.Connection, batch: Batch) -> None:
    """Adds the record of a batch."""
    is_whole = batch.runs == (RecordRun(batch.first, batch.end - batch.first),)
    fields: tuple[Field | None, ...] = (
        batch.partition,
        batch.end,
        batch.first,
        batch.changes,
        batch.at,
        batch.next_due,
        batch.placement,
        b"" if is_whole else _packed_runs(batch.runs),
        b"",
        b"",
    )
    connection.execute(_INSERT_BATCH, (*fields, checksum(*fields)))


def read_batches(
    connection: apsw.Connection, first: int, end: int, path: Path
) -> list[tuple[int, Batch]]:
    """The batches that overlap a range of offsets, each after the sequence it begins at."""
    rows = connection.execute(_BATCHES, (first, end)).fetchall()
    batches = [batch_of(row, path) for row in rows]
    return [(batch.first << SLOT_BITS, batch) for batch in batches]


def batch_rows(connection: apsw.Connection, after: int, limit: int) -> list[Any]:
    """The rows of the batches that end after an offset, the first so many."""
    return connection.execute(f"{_BATCHES} LIMIT ?3", (after, ENDLESS, limit)).fetchall()


def batch_of(row: Sequence[Any], path: Path) -> Batch:
    """The batch of a row."""
    fields = _intact(row, path, f"the batch at {row[2]}")
    partition, end, first, changes, at, next_due, placement, runs, *_ = fields
    found = _unpacked_runs(runs) if runs else (RecordRun(first, end - first),)
    return Batch(
        partition, first, end, changes, found, at=at, next_due=next_due, placement=placement
    )


def _packed_runs(runs: Sequence[RecordRun]) -> bytes:
    pairs = [number for run in runs for number in (run.offset, run.count)]
    return struct.pack(f"<q{len(pairs)}q", len(runs), *pairs)


def _unpacked_runs(data: bytes) -> tuple[RecordRun, ...]:
    (count,) = struct.unpack_from("<q", data)
    return tuple(RecordRun(*struct.unpack_from("<qq", data, 8 + 16 * row)) for row in range(count))


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


def segments_end(connection: apsw.Connection, sequence: int, start: int) -> int:
    """Where the last segment ends that lies wholly before a sequence; a start if there is none."""
    found = connection.execute(
        'SELECT max("end") FROM segments WHERE first < ? AND "end" <= ?', (sequence, sequence)
    ).get
    return max(found or 0, start)


def _intact(row: Sequence[Any], path: Path, what: str) -> Sequence[Any]:
    """The fields of a row, whose last one is their checksum.

    Raises:
        StoreError: they are not as they were written.
    """
    *fields, expected = row
    if checksum(*fields) != expected:
        raise damaged(path, f"the checksum of {what} is wrong")
    return fields
