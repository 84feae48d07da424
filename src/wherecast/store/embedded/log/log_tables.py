"""The tables of `log.db`, and its bounds: where it begins and ends, and the hash of its history."""

import struct
import zlib
from dataclasses import dataclass, replace

import apsw

from wherecast.store.embedded.database import Database, Layout

LAYOUT = Layout(
    version=3,  # 2 had cursors in a file of their own, and no chain of commits
    tables="""
    CREATE TABLE entries (
        first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL,
        kind INTEGER NOT NULL, encoding INTEGER NOT NULL, schema_version INTEGER NOT NULL,
        source TEXT NOT NULL, crc INTEGER NOT NULL, stream TEXT NOT NULL, ids BLOB NOT NULL,
        rows BLOB, attributes BLOB NOT NULL, headers BLOB, payloads BLOB
    ) STRICT;
    CREATE TABLE publishers (
        stream TEXT NOT NULL, name TEXT NOT NULL, counter INTEGER NOT NULL, crc INTEGER NOT NULL,
        PRIMARY KEY (stream, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE link_marks (
        link TEXT PRIMARY KEY, log TEXT NOT NULL, incarnation TEXT NOT NULL,
        position TEXT NOT NULL, crc INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE trimmed_ids (
        first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL, ids BLOB NOT NULL
    ) STRICT;
    CREATE TABLE changes (
        version INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL,
        acts_from INTEGER NOT NULL, batch BLOB NOT NULL
    ) STRICT;
    CREATE TABLE marks (
        one INTEGER PRIMARY KEY, start INTEGER NOT NULL, end INTEGER NOT NULL,
        version INTEGER NOT NULL, bytes INTEGER NOT NULL, last_at INTEGER NOT NULL,
        commits INTEGER NOT NULL, chain BLOB NOT NULL, crc INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE cursors (
        subscriber TEXT PRIMARY KEY, through INTEGER NOT NULL, lost INTEGER NOT NULL,
        beyond BLOB NOT NULL, -- int64, little-endian, ascending
        generation INTEGER NOT NULL, -- a cursor that goes back begins another one
        attempts BLOB NOT NULL, -- deliveries of what is not acknowledged; empty: not counted
        checksum INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE set_aside ( -- what a subscriber or a link could not take
        number INTEGER PRIMARY KEY, owner TEXT NOT NULL, sequence INTEGER NOT NULL,
        at INTEGER NOT NULL, reason TEXT NOT NULL, data BLOB, checksum INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE losses (
        number INTEGER PRIMARY KEY, at INTEGER NOT NULL, what TEXT NOT NULL,
        checksum INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE streams (
        name TEXT PRIMARY KEY, schema TEXT NOT NULL, options TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE subscribers (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE subscriptions (
        subscriber TEXT NOT NULL, id TEXT NOT NULL, stream TEXT NOT NULL, filter TEXT NOT NULL,
        options TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (subscriber, id)
    ) STRICT, WITHOUT ROWID;
    """,
)

INSERT_CHANGE = "INSERT INTO changes VALUES (?, ?, ?, ?, ?)"
SIZE = " + ".join(
    f"ifnull(length({name}), 0)" for name in ("ids", "rows", "attributes", "headers", "payloads")
)


Packed = bytes  # in a class with an attribute `bytes`
CHAIN_BYTES = 16
_NO_CHAIN = bytes(CHAIN_BYTES)
_FIELDS = "start, end, version, bytes, last_at, commits, chain"
_NUMBERS = struct.Struct("<6q")


@dataclass(frozen=True, slots=True)
class Marks:
    """Where publications and changes begin and end, and the hash of the history up to there.

    Attributes:
        start: first offset that was not trimmed.
        end: offset of the next record.
        version: version of the next change.
        bytes: number of bytes that the records take.
        last_at: time of the last record or change; times never decrease.
        commits: number of transactions that changed the log.
        chain: hash of the chain before the last commit and of the rows that the commit added or
            removed.
    """

    start: int = 0
    end: int = 0
    version: int = 0
    bytes: int = 0
    last_at: int = 0
    commits: int = 0
    chain: Packed = _NO_CHAIN

    def reaching(self, end: int) -> "Marks":
        """These marks, or those of a log that was trimmed and ends further."""
        if end <= self.end:
            return self
        return replace(self, start=end if self.start == self.end else self.start, end=end)

    def packed(self) -> Packed:
        """All fields as bytes of a constant length."""
        numbers = (self.start, self.end, self.version, self.bytes, self.last_at, self.commits)
        return _NUMBERS.pack(*numbers) + self.chain

    @classmethod
    def unpacked(cls, data: Packed) -> "Marks":
        """The marks that `packed` gave."""
        numbers: tuple[int, int, int, int, int, int] = _NUMBERS.unpack_from(data)
        return cls(*numbers, data[_NUMBERS.size :])

    def write(self, connection: apsw.Connection) -> None:
        """Writes these marks in the place of the old ones."""
        numbers = (self.start, self.end, self.version, self.bytes, self.last_at, self.commits)
        row = (*numbers, self.chain, zlib.crc32(self.packed()))
        connection.execute("INSERT OR REPLACE INTO marks VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)", row)


class KnownMarks:
    """The marks of a log, read again only where they may have changed since.

    Where this process owns the log, nobody else changes them, so they are known until its next
    transaction; elsewhere they are read each time.

    Concurrency: any number of threads; what is known is replaced as a whole.

    Args:
        database: the log's.
        is_owner: whether this process owns it.
    """

    def __init__(self, database: Database, is_owner: bool) -> None:
        self._database = database
        self._is_owner = is_owner
        self._known: tuple[int, Marks] = (-1, Marks())  # after so many transactions

    def now(self) -> Marks:
        """The marks as of the last transaction that has ended."""
        known = self._still_known()
        if known is not None:
            return known
        count = self._database.transactions  # before they are read: they are at least so new
        with self._database.reading() as connection:
            marks = read_marks(connection)
        self._known = count, marks
        return marks

    def within(self, connection: apsw.Connection) -> Marks:
        """The marks in a transaction that has not changed them."""
        return self._still_known() or read_marks(connection)

    def wrote(self, transaction: int, marks: Marks) -> None:
        """Learns the marks that a transaction of this process has left; they count from 1."""
        self._known = transaction, marks

    def _still_known(self) -> Marks | None:
        count, marks = self._known
        return marks if self._is_owner and count == self._database.transactions else None


def read_marks(connection: apsw.Connection) -> Marks:
    """The marks as written; damaged marks are counted anew from the tables."""
    return _written(connection) or _counted(connection)


def has_damaged_marks(connection: apsw.Connection) -> bool:
    """Whether the marks are not as they were written, or gone."""
    return _written(connection) is None and _counted(connection) != Marks()


def _written(connection: apsw.Connection) -> Marks | None:
    """The marks as written; None if the row is damaged or missing."""
    row = connection.execute(f"SELECT {_FIELDS}, crc FROM marks").fetchone()
    if row is None:
        return None
    marks = Marks(*row[:7])
    return marks if row[7] == zlib.crc32(marks.packed()) else None


def _counted(connection: apsw.Connection) -> Marks:
    """The marks as the tables tell them; of a log that was trimmed, the end may be further."""
    start, end, size, at = connection.execute(
        f"SELECT min(first), max(first + count), sum({SIZE}), max(at) FROM entries"
    ).get
    version, acts_from, changed_at = connection.execute(
        "SELECT max(version + count), max(acts_from), max(at) FROM changes"
    ).get
    trimmed = connection.execute("SELECT max(first + count) FROM trimmed_ids").get
    end = max(end or 0, acts_from or 0, trimmed or 0)
    last_at = max(at or 0, changed_at or 0)
    return Marks(end if start is None else start, end, version or 0, size or 0, last_at)
