"""Where the blobs of filters are that were compiled but not saved: a directory of this process.

Contract. The directory stays after the process has ended, so that pickled filters can be used by
another one of this host. It may be removed a week after that; whoever makes a directory marks those
whose process has ended, and removes those that were marked a week ago. The process holds a lock on
its directory while it runs.
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
            # Another may have been quicker with the lock, and found no process behind it.
            (directory / _ENDED).unlink(missing_ok=True)
            return directory
    raise ConfigError("no place for filters: set WHERECAST_CACHE_DIR to a directory to write to")


def _remove_old(home: Path) -> None:
    """Removes the directories of processes that have ended, after a time."""
    for directory in home.iterdir():
        with suppress(OSError), _free(directory) as free:  # or someone else is quicker
            if not free:
                continue
            if not (directory / _ENDED).exists():
                (directory / _ENDED).touch()
            elif _is_old(directory / _ENDED):
                shutil.rmtree(directory)


@contextmanager
def _free(directory: Path) -> Iterator[bool]:
    """Whether the process of a directory has ended; no other one gets its lock meanwhile."""
    try:
        handle = os.open(directory / _LOCK, os.O_RDWR)
    except FileNotFoundError:
        yield _is_old(directory)  # a new one has no lock yet
        return
    try:
        yield _got_lock(handle)
    finally:
        os.close(handle)


def _got_lock(handle: int) -> bool:
    """Whether this call got the lock, which is free again when the file is closed."""
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
