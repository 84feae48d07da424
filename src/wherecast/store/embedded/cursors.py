"""Cursors on disk, in `cursors.db`.

A damaged cursor counts as one that has acknowledged nothing: the queue of its subscriber is
delivered again, since a loss would be worse. A warning and `wherecast store check` name the damage.

Concurrency: any number of threads; threads that write at the same time share one transaction. One
process, the owner of the directory, writes; others read.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from typing_extensions import override

from wherecast.store.contracts import Cursors
from wherecast.store.crash_points import reached
from wherecast.store.embedded.batches.batch_tables import checksum
from wherecast.store.embedded.database import Database, Layout
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.group_commit import GroupCommit
from wherecast.store.records import Cursor

LAYOUT = Layout(
    1,
    """
    CREATE TABLE cursors (
        subscriber TEXT PRIMARY KEY,
        through INTEGER NOT NULL,
        lost INTEGER NOT NULL,
        beyond BLOB NOT NULL,         -- int64, little-endian, ascending
        checksum INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
)
_PAGE = 1000
# As bytes, since a damaged text could not be read at all.
_ROWS = "SELECT CAST(subscriber AS BLOB), through, lost, beyond, checksum FROM cursors"
_log = logging.getLogger("wherecast.store")

Writes = Mapping[str, Cursor | None]


class EmbeddedCursors(Cursors):
    """What each subscriber acknowledged."""

    def __init__(self, directory: Directory) -> None:
        self._database: Database = directory.database(
            "cursors.db", LAYOUT, directory.role == "owner"
        )
        self._group: GroupCommit[Writes, None] = GroupCommit(self._commit)

    @property
    def transactions(self) -> int:
        """How many were committed since this was opened; each is one sync."""
        return self._database.transactions

    @override
    def read(self, subscriber: str) -> Cursor | None:
        with self._database.reading() as connection:
            row = connection.execute(f"{_ROWS} WHERE subscriber = ?", (subscriber,)).fetchone()
        return None if row is None else _intact(_with_text(row))

    @override
    def write(self, cursors: Writes) -> None:
        if cursors:
            self._group.submit(dict(cursors))
            reached("cursors.after")

    @override
    def all(self) -> Iterator[tuple[str, Cursor]]:
        """Yields every cursor by name; one that is written meanwhile may be missed."""
        for row in cursor_rows(self._database):
            yield row[0], _intact(row)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def _commit(self, items: Sequence[Writes]) -> Sequence[None]:
        with self._database.transaction() as connection:
            for item in items:
                for name, cursor in item.items():
                    if cursor is None:
                        connection.execute("DELETE FROM cursors WHERE subscriber = ?", (name,))
                    else:
                        connection.execute(
                            "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?)",
                            _row(name, cursor),
                        )
            reached("cursors.before")
        return [None] * len(items)


def cursor_rows(database: Database) -> Iterator[Sequence[Any]]:
    """Every row as it is, by name, page after page."""
    after: tuple[bytes, ...] = ()
    while True:
        where = "WHERE subscriber > CAST(? AS TEXT)" if after else ""
        with database.reading() as connection:
            rows: Sequence[Any] = connection.execute(
                f"{_ROWS} {where} ORDER BY subscriber LIMIT {_PAGE}", after
            ).fetchall()
        yield from map(_with_text, rows)
        if len(rows) < _PAGE:
            return
        after = (rows[-1][0],)


def cursor_of(row: Sequence[Any]) -> Cursor | None:
    """The cursor of a row; None where it is not as it was written."""
    *fields, expected = row
    if checksum(*fields) != expected:
        return None
    _, through, lost, beyond = fields
    return Cursor(through, frozenset(np.frombuffer(beyond, "<i8").tolist()), lost)


def _with_text(row: Sequence[Any]) -> Sequence[Any]:
    """A row with its name as text; what is no text gets another, so the checksum is wrong."""
    return (row[0].decode(errors="replace"), *row[1:])


def _row(name: str, cursor: Cursor) -> tuple[Any, ...]:
    beyond = np.sort(np.fromiter(cursor.beyond, "<i8", len(cursor.beyond))).tobytes()
    fields = (name, cursor.through, cursor.lost, beyond)
    return (*fields, checksum(*fields))


def _intact(row: Sequence[Any]) -> Cursor:
    found = cursor_of(row)
    if found is None:
        _log.warning("the cursor of %r is damaged: its queue is delivered again", row[0])
        return Cursor()
    return found
