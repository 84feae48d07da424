"""The database files of layout 1: verified, made whole, and read."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from wherecast.model.errors import StoreError
from wherecast.store.embedded.database import APPLICATION_ID, sqlite_as_store_error

LOG, BATCHES, CURSORS = "log.db", "batches.db", "cursors.db"
VERSIONS = {LOG: (1, 2), BATCHES: (1,), CURSORS: (1,)}
"""The files, each with the versions of its tables that layout 1 has had."""

_BUSY_MS = 10_000
_USER_VERSION = slice(60, 64)  # in the header of a file of SQLite


def old_files(path: Path) -> list[str]:
    """The files that hold something; a file that was just made has no tables yet."""
    found = []
    for name in VERSIONS:
        if (path / name).exists() and (path / name).stat().st_size:
            with _open(path / name) as connection:
                if connection.pragma("user_version"):
                    found.append(name)
    return found


def is_old_log(path: Path) -> bool:
    """Whether `log.db` of a directory is not one that an upgrade has put there.

    An upgrade puts a file there that is whole: its header tells its version.
    """
    try:
        with (path / LOG).open("rb") as file:
            header = file.read(100)
    except FileNotFoundError:
        return True
    return int.from_bytes(header[_USER_VERSION], "big") in (0, *VERSIONS[LOG])


def verify(path: Path, name: str) -> None:
    """Verifies the pages of a file.

    Raises:
        StoreError: SQLite cannot read the file, or another version wrote it.
    """
    with _open(path / name) as connection:
        version = connection.pragma("user_version")
        is_known = version in VERSIONS[name]
        if not is_known or connection.pragma("application_id") != APPLICATION_ID:
            raise StoreError(f"{path / name} has version {version}, which layout 1 does not have")
        found = connection.pragma("quick_check")
        if found != "ok":
            raise _damaged(path / name, str(found))


def make_whole(path: Path, name: str) -> None:
    """Brings what is in the write-ahead log of a file into the file, and ends the log.

    SQLite ends it only where no other process has the file open.

    Raises:
        StoreError: another process uses the file.
    """
    with _open(path / name) as connection:
        connection.set_busy_timeout(_BUSY_MS)
        connection.pragma("synchronous", "full")
        connection.pragma("user_version")  # the log is open only after a reading
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        if connection.pragma("journal_mode", "delete") != "delete":
            raise StoreError(f"{path / name} is in use by another process")


@contextmanager
def reading(path: Path) -> Iterator[apsw.Connection]:
    """A connection that reads a whole file."""
    with _refusing(path), closing(_connected(path, apsw.SQLITE_OPEN_READONLY)) as connection:
        yield connection


def rows(connection: apsw.Connection, statement: str) -> Iterator[Any]:
    """The rows of a statement."""
    yield from connection.execute(statement)


@contextmanager
def _open(path: Path) -> Iterator[apsw.Connection]:
    """A connection to a file; after an error the write-ahead log stays as it is."""
    with _refusing(path), closing(_connected(path, apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        yield connection


def _connected(path: Path, flags: int) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags)
    connection.pragma("cell_size_check", 1)
    connection.pragma("trusted_schema", 0)
    return connection


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Errors of SQLite, as one line that names the file and what to do."""
    with sqlite_as_store_error(path):
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError) as error:
            raise _damaged(path, str(error)) from error


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(
        f"{path} is damaged: {' '.join(what.split())}; it was not upgraded: repair the store with "
        "the Wherecast that wrote it, or go back to a backup"
    )
