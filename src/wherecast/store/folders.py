"""Folders whose names survive a loss of power, and files that only their owner may read."""

import errno
import os
from pathlib import Path

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700


def make_folder(folder: Path, is_private: bool = False) -> None:
    """Makes a folder and those above it.

    Args:
        folder: which one.
        is_private: whether only its owner may look into the new folder, whatever the umask.
    """
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(PRIVATE_FOLDER if is_private else 0o777, exist_ok=True)
        if is_private:
            folder.chmod(PRIVATE_FOLDER)
        sync_folder(folder.parent)


def private_opener(path: str | os.PathLike[str], flags: int) -> int:
    """Opens a file that only its owner may read and write, whatever the umask: for `open`."""
    descriptor = os.open(path, flags, PRIVATE_FILE)
    try:
        os.fchmod(descriptor, PRIVATE_FILE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def make_private(folder: Path) -> None:
    """Takes the rights of others away from a folder and everything in it.

    A folder that is private already is left as it is: nobody else reaches what is in it. What
    belongs to another user is passed over.
    """
    if folder.stat().st_mode & 0o777 == PRIVATE_FOLDER:
        return
    for at, _, names in os.walk(folder, topdown=False):
        for name in names:
            _chmod(Path(at, name), PRIVATE_FILE)
        _chmod(Path(at), PRIVATE_FOLDER)


def _chmod(path: Path, mode: int) -> None:
    try:
        if not path.is_symlink():
            path.chmod(mode)
    except (FileNotFoundError, PermissionError):  # removed meanwhile, or of another user
        pass


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)


def sync(descriptor: int) -> None:
    """Makes a file or folder survive a loss of power, where its file system can do that."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF):  # not every file system syncs folders
            raise
