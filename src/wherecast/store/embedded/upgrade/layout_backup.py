"""The backup of a directory of layout 1: the folder `layout-1` in it, which is a store of its own.

Its files are links to those of the directory, where the file system has links, so they take no
space of their own until the upgrade has replaced the others. The folder has its name only once
everything in it is on disk.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from wherecast.store.crash_points import reached
from wherecast.store.embedded.upgrade.old_files import make_whole, verify
from wherecast.store.folders import make_folder, private_opener, sync, sync_folder

NAME = "layout-1"
_NEW = "layout-1.new"


def make_backup(path: Path, names: list[str]) -> None:
    """Makes the backup of a directory, in the place of an older one.

    Args:
        path: the directory.
        names: of its database files.

    Raises:
        StoreError: SQLite cannot read a file, or another process uses it; nothing was changed.
        OSError: the backup cannot be written.
    """
    for name in names:
        verify(path, name)
    for name in names:
        make_whole(path, name)
    drop_backup(path)
    new = path / _NEW
    try:
        _fill(path, new, names)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    reached("upgrade.copied")
    os.rename(new, path / NAME)
    sync_folder(path)
    reached("upgrade.saved")


def drop_backup(path: Path) -> None:
    """Removes a backup, whether it is complete or not."""
    for name in (NAME, _NEW):
        if (path / name).exists():
            shutil.rmtree(path / name)


def size_of(path: Path, names: list[str]) -> int:
    """Number of bytes in the database files and segments of a directory."""
    files = [path / f"{name}{suffix}" for name in names for suffix in ("", "-wal")]
    found = [file for file in files if file.exists()]
    return sum(file.stat().st_size for file in [*found, *_files(path / "segments")])


def _fill(path: Path, new: Path, names: list[str]) -> None:
    """Makes everything that a backup holds, on disk."""
    make_folder(new, is_private=True)
    make_folder(new / "segments", is_private=True)
    for name in names:
        _link_or_copy(path / name, new / name)
    for file in _files(path / "segments"):
        _link_or_copy(file, new / "segments" / file.name)
    sync_folder(new / "segments")
    _copy(path / "format", new / "format")
    sync_folder(new)


def _files(folder: Path) -> Iterator[Path]:
    """The finished files of a folder of segments."""
    if folder.is_dir():
        yield from (one for one in sorted(folder.iterdir()) if one.suffix == ".arrow")


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # a file system without links, or with too many; a copy tells other problems
        _copy(source, target)


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as old, open(target, "xb", opener=private_opener) as file:
        shutil.copyfileobj(old, file)
        file.flush()
        sync(file.fileno())
