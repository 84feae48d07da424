"""Rebuilds what is derived from the log: the registry, the marks, and the records of batches.

With one partition a sequence is an offset, and what an offset notifies follows from the log alone.
So a damaged `batches.db` is set aside, and a new one begins where the log begins: the next pipeline
matches the log again, and cursors tell what was acknowledged before. Nothing rebuilds the log
itself, nor cursors: if SQLite cannot read pages of `log.db`, a repair changes nothing.
"""

from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from pathlib import Path

import apsw

from wherecast.model.errors import StoreError
from wherecast.store.embedded import cursors
from wherecast.store.embedded.batches import batch_tables
from wherecast.store.embedded.check.rebuild_batches import BATCHES, rebuild_batches
from wherecast.store.embedded.database import Database, sqlite_as_store_error
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log import log_tables
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.store import EmbeddedStore

_LOG, _CURSORS = "log.db", "cursors.db"


def repair_store(path: Path, damaged: AbstractSet[str]) -> bool:
    """Rebuilds derived data in a directory that no process uses; opening it does the rest.

    Args:
        path: the directory.
        damaged: the places in which a check found problems.

    Returns:
        Whether the store can be opened now. Where it cannot, the damage is not in derived data.

    Raises:
        ConfigError: the directory is no store, or cannot be written.
        StoreError: the store is in use, or its file `format` is damaged.
    """
    Directory(path, "reader").close()  # an owner would make a store
    with closing(Directory(path)) as directory:
        _refuse_in_use(path / _LOG)
        if _LOG in damaged and not _is_readable(path / _LOG):
            return False
        with suppress(StoreError):
            start = _keep_end(directory, BATCHES in damaged)
            if BATCHES in damaged:
                rebuild_batches(directory, start)
    try:
        store = EmbeddedStore(path)
    except StoreError:
        return False
    with closing(store):
        assert isinstance(store.log, EmbeddedLog)
        store.log.rebuild_registry()
    return True


def _refuse_in_use(log: Path) -> None:
    """Raises StoreError if a pipeline or a reader, which have no lock of the directory, is there.

    Each has a connection to the log, and with one SQLite grants nobody else exclusive access.
    """
    with (
        sqlite_as_store_error(log),
        suppress(apsw.CorruptError, apsw.NotADBError, apsw.CantOpenError),  # the check names these
        closing(apsw.Connection(str(log), apsw.SQLITE_OPEN_READWRITE)) as connection,
    ):
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.pragma("locking_mode", "exclusive")
        connection.execute("BEGIN EXCLUSIVE; ROLLBACK")


def _is_readable(log: Path) -> bool:
    """Whether SQLite can read every page of the log."""
    try:
        with (
            closing(Database(log, log_tables.LAYOUT, is_writer=False)) as database,
            database.reading() as connection,
        ):
            return bool(connection.pragma("integrity_check", 1) == "ok")
    except StoreError:
        return False


def _keep_end(directory: Directory, is_batches_damaged: bool) -> int:
    """Lets the log end no sooner than cursors and old batches; returns the start of the log.

    A publication with an offset before a cursor would never be delivered.

    Raises:
        StoreError: the log or the cursors cannot be read.
    """
    path = directory.path
    with (
        closing(Database(path / _LOG, log_tables.LAYOUT, is_writer=False)) as log,
        log.reading() as connection,
    ):
        marks = log_tables.read_marks(connection)
        is_damaged = log_tables.has_damaged_marks(connection)
    if is_damaged or is_batches_damaged:
        further = marks.reaching(max(_acknowledged_end(path), _matched_end(path)))
        if further != marks:
            with (
                closing(directory.database(_LOG, log_tables.LAYOUT, is_writer=True)) as log,
                log.transaction() as connection,
            ):
                further.write(connection)
            return further.start
    return marks.start


def _acknowledged_end(path: Path) -> int:
    """The sequence after the last one that a cursor counts as acknowledged."""
    if not (path / _CURSORS).exists():
        return 0
    with closing(Database(path / _CURSORS, cursors.LAYOUT, is_writer=False)) as database:
        found = map(cursors.cursor_of, cursors.cursor_rows(database))
        return max(
            (max(one.through, max(one.beyond, default=-1) + 1) for one in found if one), default=0
        )


def _matched_end(path: Path) -> int:
    """The sequence after the last one that intact records of `batches.db` name."""
    end, file = 0, path / BATCHES
    with (
        suppress(StoreError),
        closing(Database(file, batch_tables.LAYOUT, is_writer=False)) as database,
    ):
        with suppress(StoreError), database.reading() as connection:
            end = batch_tables.read_state(connection, file)[1]
        with database.reading() as connection:
            for row in connection.execute("SELECT * FROM batches ORDER BY first DESC"):
                with suppress(StoreError):
                    return max(end, batch_tables.batch_of(row, file)[1].end[0])
    return end
