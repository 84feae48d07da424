"""Puts a new `batches.db`, which begins where the log begins, in the place of a damaged one.

The name `batches.db` is there at each instant: a repair that is cut short leaves the old file or
the new one. The old one stays, as `batches.db.damaged`.
"""

import os
import shutil
import time
from contextlib import closing, suppress
from pathlib import Path

from wherecast.store.embedded.batches import batch_tables
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.directory import Directory
from wherecast.store.folders import private_opener, sync, sync_folder
from wherecast.store.records import Batch
from wherecast.store.sequences import SLOT_BITS

BATCHES = "batches.db"
_NEW = f"{BATCHES}.new"
_SUFFIXES = ("", "-wal", "-shm")  # of a file and those that SQLite keeps beside it


def rebuild_batches(directory: Directory, start: int) -> None:
    """Replaces `batches.db` by one that begins at an offset, the first one of the log.

    Raises:
        StoreError: the new file cannot be written.
    """
    path = directory.path
    for suffix in _SUFFIXES:  # of a repair that was cut short
        (path / f"{_NEW}{suffix}").unlink(missing_ok=True)
    with closing(directory.database(_NEW, batch_tables.LAYOUT, is_writer=True)) as made:
        _begin_at(made, start)
    _save_damaged(path)
    # Pages of the old write-ahead log must never meet the new file: they go first.
    for suffix in _SUFFIXES[1:]:
        (path / f"{BATCHES}{suffix}").unlink(missing_ok=True)
    sync_folder(path)
    os.replace(path / _NEW, path / BATCHES)
    sync_folder(path)


def _begin_at(database: Database, start: int) -> None:
    """Writes that everything before an offset was matched and trimmed."""
    with database.transaction() as connection:
        # No pipeline of the old file may commit to this one: its epoch was a small number.
        batch_tables.write_state(connection, int(time.time()), start << SLOT_BITS)
        if start:
            batch_tables.insert_batch(connection, Batch(0, start - 1, start, 0, ()))


def _save_damaged(path: Path) -> None:
    """Gives the damaged file a second name, which no earlier repair has used."""
    name, number = f"{BATCHES}.damaged", 1
    while any((path / f"{name}{suffix}").exists() for suffix in _SUFFIXES):
        number += 1
        name = f"{BATCHES}.damaged.{number}"
    for suffix in _SUFFIXES:
        with suppress(FileNotFoundError):
            _link_or_copy(path / f"{BATCHES}{suffix}", path / f"{name}{suffix}")
    sync_folder(path)


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without links
        with source.open("rb") as old, open(target, "wb", opener=private_opener) as file:
            shutil.copyfileobj(old, file)
            file.flush()
            sync(file.fileno())
