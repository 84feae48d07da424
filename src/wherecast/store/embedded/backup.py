"""Copies a directory while a server and a pipeline work in it.

The copy is of one instant for each database file, in this order: batches, log. So no batch is
beyond the log, as in a directory whose process was killed at that instant; the other way round, a
batch could refer to publications that are not in the copy. A cursor of the copy may be beyond the
batches of the copy: the publications between them are matched again, and not delivered again.

Both states are held from the beginning, which keeps what is trimmed meanwhile, and the files
of segments are mapped before anything is copied, so that merging cannot take them away. The file
`format` is written last: a copy that was cut short is no store, and is not taken for one.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import apsw
import pyarrow as pa

from wherecast.model.errors import ConfigError, StoreError, reason_of
from wherecast.store.embedded.batches import batch_tables
from wherecast.store.embedded.batches.batch_tables import read_segments
from wherecast.store.embedded.database import Database, sqlite_as_store_error
from wherecast.store.embedded.directory import Directory, copied_format
from wherecast.store.embedded.log import log_tables
from wherecast.store.embedded.log.log_mark import NAME, write_mark
from wherecast.store.folders import make_folder, make_private, private_opener, sync_folder
from wherecast.store.segments.segment_files import SegmentFiles

_FILES = (("batches.db", batch_tables.LAYOUT), ("log.db", log_tables.LAYOUT))
_STEP_PAGES = 4096
_ENDLESS = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Copied:
    """A part of a backup.

    Attributes:
        name: the file.
        size_bytes: number of bytes copied.
        is_missing: whether the file does not exist; its content is made again from the log.
    """

    name: str
    size_bytes: int
    is_missing: bool = False


def backup_store(path: Path, target: Path) -> Iterator[Copied]:
    """Copies a store to a new or empty directory; yields each part that was copied.

    Raises:
        ConfigError: the one is no store, or the other cannot be written or is not empty.
        StoreError: the store is damaged in SQLite's own pages, or the disk is full.
    """
    if path.resolve() in (target.resolve(), *target.resolve().parents):
        raise ConfigError(f"{target} is in {path}, which is to be copied")
    with ExitStack() as stack:
        directory = Directory(path, "reader")
        stack.callback(directory.close)
        sources = {}
        for name, layout in _FILES:
            database = Database(directory.path / name, layout, is_writer=False)
            stack.callback(database.close)
            sources[name] = stack.enter_context(database.reading())
            sources[name].pragma("user_version")  # the state is that of the first look
        files = SegmentFiles(directory.segments)
        mapped = _mapped(files, sources["batches.db"])
        segments = SegmentFiles(_made(target) / "segments")
        for name, source in sources.items():
            yield from _copied(source, target / name)
        yield _with_mark(sources["log.db"], target)
        for name, data in mapped.items():
            if data is None:
                yield Copied(name, 0, is_missing=True)
            else:
                segments.write(name, data)
                yield Copied(name, data.size)
        yield _with_format(directory.path, target)


def _made(target: Path) -> Path:
    """The target, with its folder of segments.

    Raises:
        ConfigError: it cannot be made, or is not empty.
    """
    try:
        make_folder(target, is_private=True)
        other = next(target.iterdir(), None)
        if other is not None:
            raise ConfigError(f"{target} is not empty: it has {other.name}")
        make_private(target)
        make_folder(target / "segments", is_private=True)
    except OSError as error:
        raise ConfigError(f"cannot make {target}: {reason_of(error)}") from error
    return target


def _mapped(files: SegmentFiles, source: apsw.Connection) -> dict[str, pa.Buffer | None]:
    """The files that segments name, mapped: they cannot go any more."""
    found: dict[str, pa.Buffer | None] = {}
    for row in read_segments(source, 0, _ENDLESS):
        if row.is_file:
            try:
                found[row.file] = files.map(row.file)
            except FileNotFoundError:
                found[row.file] = None
    return found


def _copied(source: apsw.Connection, target: Path) -> Iterator[Copied]:
    """Copies a database file as a connection sees it."""
    with sqlite_as_store_error(target):
        open(target, "xb", opener=private_opener).close()
        copy = apsw.Connection(str(target))
        try:
            copy.pragma("synchronous", "full")
            page_bytes = source.pragma("page_size")
            with copy.backup("main", source, "main") as running:
                left = 0
                while not running.done:
                    running.step(_STEP_PAGES)
                    now = running.page_count - running.remaining
                    yield Copied(target.name, (now - left) * page_bytes)
                    left = now
        finally:
            copy.close()


def _with_mark(source: apsw.Connection, target: Path) -> Copied:
    """Writes the second place of the copied log."""
    try:
        write_mark(target, log_tables.read_marks(source))
    except OSError as error:
        raise StoreError(f"cannot write {target / NAME}: {reason_of(error)}") from error
    return Copied(NAME, (target / NAME).stat().st_size)


def _with_format(path: Path, target: Path) -> Copied:
    """Makes the copy a store."""
    try:
        content = copied_format(path)
        sync_folder(target / "segments")
        unfinished = target / ".format.new"
        with open(unfinished, "wb", opener=private_opener) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, target / "format")
        sync_folder(target)
        sync_folder(target.parent)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {reason_of(error)}") from error
    return Copied("format", len(content))
