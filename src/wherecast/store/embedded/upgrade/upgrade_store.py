"""Brings a directory of layout 1 to layout 2, in steps that can be cut short at any instant.

1. The backup `layout-1` is made: the old files, whole and on disk, under that name.
2. New files are made from the backup, in the folder `upgrade.new`; files of segments directly in
   `segments/`, where no name of an old one is used.
3. `log.db` is replaced. From here on an older version refuses the directory.
4. The other files are replaced or removed.
5. The caller writes the file `format`.

Until step 3 the old files count: a new try makes the backup again, since an older version may have
written meanwhile. From then on the backup counts: a new try makes everything else again from it.
"""

import logging
import os
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from wherecast.model.errors import StoreError
from wherecast.store.crash_points import reached
from wherecast.store.embedded.log.log_mark import NAME as MARK
from wherecast.store.embedded.log.log_tables import Marks
from wherecast.store.embedded.upgrade import layout_backup
from wherecast.store.embedded.upgrade.old_files import (
    BATCHES,
    CURSORS,
    LOG,
    is_old_log,
    old_files,
    reading,
)
from wherecast.store.embedded.upgrade.old_log import read_bounds, read_cursors
from wherecast.store.embedded.upgrade.upgrade_batches import build_batches, matched_end
from wherecast.store.embedded.upgrade.upgrade_log import build_log
from wherecast.store.folders import make_folder, sync_folder

_SCRATCH = "upgrade.new"
_BESIDE = ("-wal", "-shm")  # what SQLite keeps beside a file
_log = logging.getLogger("wherecast.store")


@dataclass(frozen=True, slots=True)
class _Built:
    """New files, on disk in the scratch folder.

    Attributes:
        marks: bounds of the log.
        segments: names of the files of segments.
    """

    marks: Marks
    segments: set[str]


def upgrade_layout_1(path: Path) -> dict[str, list[int]]:
    """Brings a directory to layout 2, but for its file `format`; returns what that gets.

    Args:
        path: the directory, whose lock this process has.

    Raises:
        StoreError: a file is in use or cannot be read, or the disk is full.
        OSError: a file cannot be written.
    """
    is_old, backup = is_old_log(path), path / layout_backup.NAME
    if is_old:
        names = old_files(path)
        if not names:
            return {}  # it was made, and nothing else
        if LOG not in names:
            raise StoreError(f"{path / LOG} is missing or empty; it was not upgraded")
        size = layout_backup.size_of(path, names) / 1e6
        _log.warning("%s has layout 1 and is upgraded to layout 2: %.1f MB", path, size)
    elif not backup.is_dir():
        raise StoreError(f"the upgrade of {path} was cut short, and its backup {backup} is gone")
    else:
        _log.warning("%s: the upgrade to layout 2, which was cut short, goes on", path)
    if is_old:
        layout_backup.make_backup(path, names)
    try:
        built = _build(path, backup)
    except BaseException:
        _give_up(path, is_old)
        raise
    reached("upgrade.built")
    _install(path, built)
    what = "%s has layout 2 now. %s holds it as it was; delete that folder when you do not need it"
    _log.warning(what, path, backup)
    marks = built.marks
    return {"unscoped_ids": [marks.end, marks.last_at]} if marks.end else {}


def _build(path: Path, backup: Path) -> _Built:
    """Makes the new files from the backup."""
    scratch, segments = path / _SCRATCH, path / "segments"
    shutil.rmtree(scratch, ignore_errors=True)
    make_folder(scratch, is_private=True)
    make_folder(segments, is_private=True)
    names, files, matched = old_files(backup), set[str](), 0
    with ExitStack() as stack:
        opened = {name: stack.enter_context(reading(backup / name)) for name in names}
        if BATCHES in opened:
            matched = matched_end(opened[BATCHES])
            files = build_batches(opened[BATCHES], backup / "segments", scratch, segments)
        cursors = read_cursors(opened[CURSORS]) if CURSORS in opened else ()
        bounds = read_bounds(opened[LOG], matched)
        marks = build_log(opened[LOG], cursors, scratch, bounds)
    for file in scratch.iterdir():
        _sync_file(file)
    sync_folder(scratch)
    return _Built(marks, files)


def _install(path: Path, built: _Built) -> None:
    """Puts the new files in the place of the old ones."""
    _replace(path, LOG)
    sync_folder(path)  # before any other file: it tells which files count
    reached("upgrade.log")
    for name in (MARK, BATCHES):
        _replace(path, name)
    reached("upgrade.batches")
    _remove(path, CURSORS)
    for file in (path / "segments").iterdir():
        if file.name not in built.segments:
            file.unlink()
    snapshots = path / "snapshots"  # they are made again
    for entry in snapshots.iterdir() if snapshots.is_dir() else ():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.rmtree(path / _SCRATCH)
    sync_folder(path)
    reached("upgrade.before")


def _replace(path: Path, name: str) -> None:
    """Puts a new file, if there is one, in the place of an old one."""
    new = path / _SCRATCH / name
    if new.exists():
        # Pages of an old write-ahead log must never meet the new file: they go first.
        for suffix in _BESIDE:
            (path / f"{name}{suffix}").unlink(missing_ok=True)
        sync_folder(path)
        os.replace(new, path / name)


def _remove(path: Path, name: str) -> None:
    for suffix in ("", *_BESIDE):
        (path / f"{name}{suffix}").unlink(missing_ok=True)


def _give_up(path: Path, is_old: bool) -> None:
    """Frees the space that an upgrade took that could not be completed.

    Args:
        path: the directory.
        is_old: whether the old files count, so that the backup is no longer needed.
    """
    shutil.rmtree(path / _SCRATCH, ignore_errors=True)
    if is_old:
        known = path / layout_backup.NAME / "segments"
        for file in (path / "segments").iterdir():
            if not (known / file.name).exists():
                file.unlink()
        layout_backup.drop_backup(path)


def _sync_file(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
