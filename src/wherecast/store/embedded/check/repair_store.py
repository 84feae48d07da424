"""Rebuilds what is derived from the log: the registry, the marks, and the records of batches.

With one partition a sequence is an offset, and what an offset notifies follows from the log alone.
So a damaged `batches.db` is set aside, and a new one begins where the log begins: the next pipeline
matches the log again, and cursors tell what was acknowledged before. Nothing rebuilds the log
itself, nor cursors: if SQLite cannot read pages of `log.db`, a repair changes nothing.
"""

import os
import time
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from pathlib import Path

from wherecast.model.errors import StoreError
from wherecast.store.embedded.batches import batch_tables
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log import log_tables
from wherecast.store.embedded.log.log import EmbeddedLog
from wherecast.store.embedded.store import EmbeddedStore
from wherecast.store.folders import sync_folder
from wherecast.store.position import Position
from wherecast.store.records import Batch

_BATCHES, _LOG = "batches.db", "log.db"


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
        if _LOG in damaged and not _is_readable(path / _LOG):
            return False
        if _BATCHES in damaged:
            with suppress(StoreError):
                _rebuild_batches(directory)
    try:
        store = EmbeddedStore(path)
    except StoreError:
        return False
    with closing(store):
        assert isinstance(store.log, EmbeddedLog)
        store.log.rebuild_registry()
    return True


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


def _rebuild_batches(directory: Directory) -> None:
    """Sets `batches.db` aside, and makes one that begins where the log begins."""
    path = directory.path
    with (
        closing(Database(path / _LOG, log_tables.LAYOUT, is_writer=False)) as log,
        log.reading() as connection,
    ):
        start = log_tables.read_marks(connection).start
    _remove_new(path, _BATCHES)
    with closing(directory.database(f"{_BATCHES}.new", batch_tables.LAYOUT, True)) as made:
        _begin_at(made, start)
    _set_aside(path, _BATCHES)


def _remove_new(path: Path, name: str) -> None:
    """Removes what a repair that was cut short has left."""
    for suffix in ("", "-wal", "-shm"):
        (path / f"{name}.new{suffix}").unlink(missing_ok=True)


def _set_aside(path: Path, name: str) -> None:
    """Renames a damaged file to `NAME.damaged`, and puts `NAME.new` in its place."""
    # Pages of the old write-ahead log must never meet the new file: they go first.
    for suffix in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            os.replace(path / f"{name}{suffix}", path / f"{name}.damaged{suffix}")
    os.replace(path / f"{name}.new", path / name)
    sync_folder(path)


def _begin_at(database: Database, start: int) -> None:
    """Writes that everything before an offset was matched and trimmed."""
    with database.transaction() as connection:
        # No pipeline of the old file may commit to this one: its epoch was a small number.
        batch_tables.write_state(connection, int(time.time()), start)
        if start:
            before = Batch(Position({0: start - 1}), Position({0: start}), 0)
            row = batch_tables.batch_row(before)
            connection.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?)", row)
