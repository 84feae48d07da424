"""Cursors as rows of `log.db`, and back; every field is under a checksum."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wherecast.store.embedded.batches.batch_tables import checksum
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.log_commit import LogCommit
from wherecast.store.records import Cursor
from wherecast.store.store_items import CursorWrites

_PAGE = 1000
# As bytes, since a damaged text could not be read at all.
_ROWS = """SELECT CAST(subscriber AS BLOB), through, lost, beyond, generation, attempts, checksum
    FROM cursors"""
_INSERT = "INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?, ?, ?)"
_FIRST_GENERATION, _NO_ATTEMPTS = 0, b""


def write_cursors(commit: LogCommit, cursors: CursorWrites) -> None:
    """Writes and deletes cursors in a transaction of the log."""
    for name, cursor in cursors.items():
        if cursor is None:
            commit.connection.execute("DELETE FROM cursors WHERE subscriber = ?", (name,))
            commit.chain("no cursor", checksum(name))
        else:
            row = _row(name, cursor)
            commit.connection.execute(_INSERT, row)
            commit.chain("cursor", row[-1])


def cursor_row(database: Database, subscriber: str) -> Sequence[Any] | None:
    """The row of a subscriber as it is; None if there is none."""
    with database.reading() as connection:
        row = connection.execute(f"{_ROWS} WHERE subscriber = ?", (subscriber,)).fetchone()
    return None if row is None else _with_text(row)


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
    """The cursor of a row; None if the row is not as it was written."""
    *fields, expected = row
    if checksum(*fields) != expected:
        return None
    _, through, lost, beyond, *_ = fields
    return Cursor(through, frozenset(np.frombuffer(beyond, "<i8").tolist()), lost)


def _with_text(row: Sequence[Any]) -> Sequence[Any]:
    """A row with its name as text; what is no text gets another, so the checksum is wrong."""
    return (row[0].decode(errors="replace"), *row[1:])


def _row(name: str, cursor: Cursor) -> tuple[Any, ...]:
    beyond = np.sort(np.fromiter(cursor.beyond, "<i8", len(cursor.beyond))).tobytes()
    fields = (name, cursor.through, cursor.lost, beyond, _FIRST_GENERATION, _NO_ATTEMPTS)
    return (*fields, checksum(*fields))
