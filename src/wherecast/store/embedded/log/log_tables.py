"""The tables of `log.db`, and where its publications and changes begin and end."""

import struct
import zlib
from dataclasses import dataclass, replace

import apsw

from wherecast.store.embedded.database import Database, Layout

LAYOUT = Layout(
    version=2,  # 1 had the same tables, but no changes that were compacted
    tables="""
    CREATE TABLE entries (
        first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL,
        crc INTEGER NOT NULL, stream TEXT NOT NULL, ids BLOB NOT NULL, rows BLOB,
        attributes BLOB NOT NULL, envelopes BLOB
    ) STRICT;
    CREATE TABLE trimmed_ids (
        first INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL, ids BLOB NOT NULL
    ) STRICT;
    CREATE TABLE changes (
        version INTEGER PRIMARY KEY, count INTEGER NOT NULL, at INTEGER NOT NULL,
        acts_from INTEGER NOT NULL, batch BLOB NOT NULL
    ) STRICT;
    CREATE TABLE marks (
        one INTEGER PRIMARY KEY, start INTEGER NOT NULL, end INTEGER NOT NULL,
        version INTEGER NOT NULL, bytes INTEGER NOT NULL, crc INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE streams (name TEXT PRIMARY KEY, schema TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE subscribers (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    CREATE TABLE subscriptions (
        subscriber TEXT NOT NULL, id TEXT NOT NULL, stream TEXT NOT NULL, filter TEXT NOT NULL,
        at INTEGER NOT NULL, PRIMARY KEY (subscriber, id)
    ) STRICT, WITHOUT ROWID;
    """,
)

INSERT_CHANGE = "INSERT INTO changes VALUES (?, ?, ?, ?, ?)"
SIZE = "length(ids) + ifnull(length(rows), 0) + length(attributes) + ifnull(length(envelopes), 0)"


@dataclass(frozen=True, slots=True)
class Marks:
    """Where publications and changes begin and end.

    Attributes:
        start: first offset that was not trimmed.
        end: offset of the next publication.
        version: version of the next change.
        bytes: number of bytes that the publications take.
    """

    start: int = 0
    end: int = 0
    version: int = 0
    bytes: int = 0

    def reaching(self, end: int) -> "Marks":
        """These marks, or those of a log that was trimmed and ends further."""
        if end <= self.end:
            return self
        return replace(self, start=end if self.start == self.end else self.start, end=end)

    def write(self, connection: apsw.Connection) -> None:
        """Writes these marks in the place of the old ones."""
        row = (self.start, self.end, self.version, self.bytes, _crc(self))
        connection.execute("INSERT OR REPLACE INTO marks VALUES (1, ?, ?, ?, ?, ?)", row)


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
    row = connection.execute("SELECT start, end, version, bytes, crc FROM marks").fetchone()
    if row is None:
        return None
    marks = Marks(*row[:4])
    return marks if row[4] == _crc(marks) else None


def _counted(connection: apsw.Connection) -> Marks:
    """The marks as the tables tell them; of a log that was trimmed, the end may be further."""
    start, end, size = connection.execute(
        f"SELECT min(first), max(first + count), sum({SIZE}) FROM entries"
    ).get
    version, acts_from = connection.execute(
        "SELECT max(version + count), max(acts_from) FROM changes"
    ).get
    trimmed = connection.execute("SELECT max(first + count) FROM trimmed_ids").get
    end = max(end or 0, acts_from or 0, trimmed or 0)
    return Marks(end if start is None else start, end, version or 0, size or 0)


def _crc(marks: Marks) -> int:
    return zlib.crc32(struct.pack("<qqqq", marks.start, marks.end, marks.version, marks.bytes))
