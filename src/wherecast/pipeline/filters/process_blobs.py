"""The directory of this process for the blobs of filters that were compiled but not saved.

Contract. The directory outlives the process, so that another process of this host can use pickled
filters. A process holds a lock on its directory while it runs. A process that makes a directory
also marks the directories of ended processes, and removes directories that were marked a week ago.
"""

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from wherecast.cache_dirs import cache_parents, can_write
from wherecast.model import ConfigError

_KEPT_S = 7 * 24 * 3600
_LOCK, _ENDED = ".lock", ".ended"


def own_directory() -> Path:
    """The directory of this process."""
    return _made(os.getpid())


@cache
def _made(process: int) -> Path:
    for parent in cache_parents():
        home = parent / "filters"
        if can_write(home):
            _remove_old(home)
            directory = Path(tempfile.mkdtemp(prefix=f"{process}-", dir=home))
            fcntl.flock(os.open(directory / _LOCK, os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX)
            # Another process may have got the lock first and have marked the directory as ended.
            (directory / _ENDED).unlink(missing_ok=True)
            return directory
    raise ConfigError("no place for filters: set WHERECAST_CACHE_DIR to a writable directory")


def _remove_old(home: Path) -> None:
    """Marks the directories of ended processes; removes those that were marked long ago."""
    for directory in home.iterdir():
        with (
            suppress(OSError),
            _free(directory) as free,
        ):  # another process may remove the directory first
            if not free:
                continue
            if not (directory / _ENDED).exists():
                (directory / _ENDED).touch()
            elif _is_old(directory / _ENDED):
                shutil.rmtree(directory)


@contextmanager
def _free(directory: Path) -> Iterator[bool]:
    """Whether the process of a directory has ended; holds the lock of the directory meanwhile."""
    try:
        handle = os.open(directory / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        yield _is_old(directory)  # a new directory has no lock yet
        return
    try:
        yield _got_lock(handle)
    finally:
        os.close(handle)


def _got_lock(handle: int) -> bool:
    """Whether this call got the lock, which lasts until the file is closed."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_old(path: Path) -> bool:
    return time.time() - path.stat().st_mtime > _KEPT_S


def remove_own() -> None:
    """Removes the directory of this process; its filters can no longer be used."""
    if _made.cache_info().currsize:
        shutil.rmtree(own_directory(), ignore_errors=True)
        _made.cache_clear()
