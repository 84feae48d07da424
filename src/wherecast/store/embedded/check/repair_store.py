"""Rebuilds what is derived from the log: registry, marks, counters, and the records of batches.

Sequences follow from offsets, and what an offset notifies follows from the log alone.
So a damaged `batches.db` is set aside, and a new one begins where the log begins: the next pipeline
matches the log again, and cursors tell what was acknowledged before. Nothing rebuilds the log
itself, nor its cursors: if SQLite cannot read pages of `log.db`, a repair changes nothing.
"""

from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from pathlib import Path

import apsw

from wherecast.model.errors import StoreError
from wherecast.store.contracts import ENDLESS
from wherecast.store.embedded.batches import batch_tables
from wherecast.store.embedded.check.rebuild_batches import BATCHES, rebuild_batches
from wherecast.store.embedded.database import Database, sqlite_as_store_error
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log import log_tables
from wherecast.store.embedded.log.cursor_rows import cursor_of, cursor_rows
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.sequences import SLOT_BITS

_LOG = "log.db"


def repair_store(path: Path, damaged: AbstractSet[str], accepts_loss: bool = False) -> bool:
    """Rebuilds derived data in a directory that no process uses; opening it does the rest.

    Args:
        path: the directory.
        damaged: the places in which a check found problems.
        accepts_loss: whether to go on without commits that the log has lost.

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
            start = _keep_end(directory, BATCHES in damaged, accepts_loss)
            if BATCHES in damaged:
                rebuild_batches(directory, start)
    try:
        store = EmbeddedStore(path, accepts_loss=accepts_loss)
    except StoreError:
        return False
    with closing(store):
        assert isinstance(store.log, EmbeddedLog)
        store.log.rebuild_registry()
        store.log.rebuild_counters()
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


def _keep_end(directory: Directory, is_batches_damaged: bool, accepts_loss: bool) -> int:
    """Lets the log end no sooner than cursors and old batches; returns the start of the log.

    A publication with an offset before a cursor would never be delivered.

    Raises:
        StoreError: the log cannot be read.
    """
    path = directory.path
    with (
        closing(Database(path / _LOG, log_tables.LAYOUT, is_writer=False)) as log,
        log.reading() as connection,
    ):
        marks = log_tables.read_marks(connection)
        is_damaged = log_tables.has_damaged_marks(connection)
        acknowledged = _acknowledged_end(log)
    if is_damaged or is_batches_damaged:
        further = marks.reaching(max(acknowledged, _matched_end(path)))
        if further != marks:
            with closing(EmbeddedLog(directory, accepts_loss=accepts_loss)) as written:
                written.write_bounds(further)
            return further.start
    return marks.start


def _acknowledged_end(log: Database) -> int:
    """The offset after the last one that a cursor counts as acknowledged."""
    found = map(cursor_of, cursor_rows(log))
    ends = (max(one.through, max(one.beyond, default=-1) + 1) for one in found if one)
    return -(-max(ends, default=0) >> SLOT_BITS)  # rounded up


def _matched_end(path: Path) -> int:
    """The offset after the last one that intact records of `batches.db` name."""
    end, file = 0, path / BATCHES
    with (
        suppress(StoreError),
        closing(Database(file, batch_tables.LAYOUT, is_writer=False)) as database,
    ):
        with suppress(StoreError), database.reading() as connection:
            end = batch_tables.read_state(connection, file)[1] >> SLOT_BITS
        with database.reading() as connection:
            for row in reversed(batch_tables.batch_rows(connection, -1, ENDLESS)):
                with suppress(StoreError):
                    return max(end, batch_tables.batch_of(row, file).end)
    return end
