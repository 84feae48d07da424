"""Copies the rows of a `log.db` that SQLite cannot read whole to a new file.

Rows on damaged pages are left out: the check of the new file names them as missing. The registry is
not copied, since it is derived; the next opening rebuilds it.
"""

from contextlib import closing
from pathlib import Path

import apsw

from wherecast.store.embedded.database import Layout, sqlite_as_store_error
from wherecast.store.embedded.directory import Directory

TABLES = {"entries": "first", "trimmed_ids": "first", "changes": "version", "marks": "one"}
"""The tables of the log that nothing else tells, with their keys."""

_LAST = 2**63 - 1
_FAILURES_MAX = 10_000  # statements of one table; beyond it no page above a damaged one is readable


def is_readable(path: Path, layout: Layout) -> bool:
    """Whether SQLite finds its own pages intact, or the file is of another version."""
    try:
        with closing(apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)) as connection:
            if connection.pragma("user_version") > layout.version:
                return True
            return bool(connection.pragma("quick_check") == "ok")
    except (apsw.CorruptError, apsw.NotADBError):
        return False


def salvage_log(directory: Directory, damaged: Path, new: str, layout: Layout) -> bool:
    """Makes a new file of the rows that can be read; returns whether there are any.

    Raises:
        StoreError: the new file cannot be written.
    """
    directory.database(new, layout, is_writer=True).close()
    path = directory.path / new
    with sqlite_as_store_error(path), closing(apsw.Connection(str(path))) as connection:
        try:
            connection.execute("ATTACH DATABASE ? AS damaged", (str(damaged),))
            connection.pragma("cell_size_check", 1)
            # Not in one transaction: an error of a damaged page would end it.
            for table, key in TABLES.items():
                _copy(connection, table, key, (0, _LAST), 0)
        except (apsw.NotADBError, apsw.SQLError):  # not even the names of its tables are readable
            return False
        count = "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM changes)"
        return bool(connection.execute(count).get)


def _copy(
    connection: apsw.Connection, table: str, key: str, keys: tuple[int, int], failures: int
) -> int:
    """Copies the readable rows with keys in a range, by halves; returns the failures so far."""
    first, last = keys
    try:
        connection.execute(
            f"INSERT INTO main.{table} SELECT * FROM damaged.{table} WHERE {key} BETWEEN ? AND ?",
            keys,
        )
    except apsw.CorruptError:
        failures += 1
        if first < last and failures < _FAILURES_MAX:
            middle = (first + last) // 2
            failures = _copy(connection, table, key, (first, middle), failures)
            failures = _copy(connection, table, key, (middle + 1, last), failures)
    return failures
