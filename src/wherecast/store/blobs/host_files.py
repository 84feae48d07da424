"""The files of a host's cache: locks, what was checked, and the removal of what is not used.

`wherecast.store.blobs.host_cache` says which files there are and who may touch them.
"""

import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

Stamp = tuple[int, int, int]  # size, time of the last change in ns, inode

_FILE = re.compile(r"([0-9a-f]{32}\.[A-Za-z0-9_-]+)(|\.part|\.seen|\.new|\.lock)")


@dataclass(slots=True)
class _BlobUse:
    """What the files of one blob take, and when it was used last."""

    size_bytes: int = 0
    used_s: float = 0.0


def stamp_of(path: Path) -> Stamp | None:
    """What changes when a file does; None where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def read_seen(directory: Path, name: str) -> dict[str, Stamp]:
    """The files that were found to have a blob's bytes, by path, as they were then."""
    try:
        found = json.loads((directory / f"{name}.seen").read_bytes())
        return {path: (size, time_ns, inode) for path, (size, time_ns, inode) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):  # missing or damaged: check again
        return {}


def write_seen(directory: Path, name: str, path: Path, stamp: Stamp) -> None:
    """Remembers that a file has a blob's bytes, if that can be written. Needs the lock."""
    before = read_seen(directory, name)
    seen = {known: before[known] for known in before if Path(known).exists()}
    new = directory / f"{name}.new"
    with suppress(OSError):
        new.write_text(json.dumps(seen | {str(path): stamp}))
        os.replace(new, directory / f"{name}.seen")


@contextmanager
def locked(directory: Path, name: str, wait: bool = True) -> Iterator[bool]:
    """Holds the lock of a blob; False where another has it and this is not to wait."""
    path = directory / f"{name}.lock"
    while True:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            if _is_still(path, descriptor):
                yield True
                return
        finally:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a child may have the descriptor too
            os.close(descriptor)


def remove_unused(directory: Path, keep: str, bytes_max: int, unused_max: timedelta) -> None:
    """Removes blobs unused for long, then the least recently used while there are too many bytes.

    Args:
        directory: of the cache.
        keep: the blob that stays in any case.
        bytes_max: what all together may take.
        unused_max: how long one is kept that nobody uses.
    """
    kept = _kept(directory)
    total = sum(one.size_bytes for one in kept.values())
    oldest_s = time.time() - unused_max.total_seconds()
    for name, one in sorted(kept.items(), key=lambda item: item[1].used_s):
        unwanted = one.used_s < oldest_s or total > bytes_max
        if name != keep and unwanted and _remove(directory, name, one.used_s):
            total -= one.size_bytes


def _is_still(path: Path, descriptor: int) -> bool:
    """Whether an open file is the one at a path."""
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _kept(directory: Path) -> dict[str, _BlobUse]:
    """What there is of each blob."""
    kept: dict[str, _BlobUse] = {}
    with os.scandir(directory) as entries:
        for entry in entries:
            if found := _FILE.fullmatch(entry.name):
                with suppress(FileNotFoundError):
                    status = entry.stat()
                    one = kept.setdefault(found.group(1), _BlobUse())
                    one.size_bytes += status.st_size
                    one.used_s = max(one.used_s, status.st_mtime)
    return kept


def _remove(directory: Path, name: str, used_s: float) -> bool:
    """Removes a blob, and says so, unless it is in other hands or was used meanwhile."""
    with locked(directory, name, wait=False) as held:
        if not held:
            return False
        files = [directory / f"{name}{kind}" for kind in ("", ".part", ".seen", ".new")]
        times = [stamp[1] for stamp in map(stamp_of, files) if stamp]
        if max(times, default=0) > used_s * 1e9 + 1e6:
            return False
        for file in (*files, directory / f"{name}.lock"):  # the lock last: others wait for it
            file.unlink(missing_ok=True)
    return True
