"""Local copies of content-addressed blobs, shared by all processes of a host.

Contract. A blob is named `<digest>.<suffix>` after its bytes, so a copy is never stale and can be
checked at any time. `HostCache.path` gives a file that was checked since it last changed. Any
number of processes may ask at once: one of them fetches, the others wait for it. A process that
dies while it fetches costs the next one that fetch, nothing else.

For a blob NAME the directory has these files, all of which may be deleted at any time:

- `NAME`: the copy. It is renamed to that when it is complete and was checked.
- `NAME.part`: a copy that is being fetched. Only who holds the lock writes it.
- `NAME.seen`: size, time and inode of the files that were checked, by path; written by a rename.
  Its own time says when the blob was used last, to the hour.
- `NAME.lock`: held (`flock`) by who checks, fetches or removes. Only its holder may delete it, and
  who gets a lock makes sure that it is still the one in the directory.

Whenever something was fetched, copies that nobody used for long are removed, then the least
recently used ones while all together are too large. Who has one mapped keeps it; who got a path but
has not opened it yet may find it gone, and asks again.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from hashlib import blake2b, file_digest
from pathlib import Path

from wherecast.cache_dirs import cache_parents, can_write
from wherecast.model.errors import SnapshotError, reason_of
from wherecast.store.blobs.host_files import (
    Stamp,
    locked,
    read_seen,
    remove_unused,
    stamp_of,
    write_seen,
)

_NAME = re.compile(r"([0-9a-f]{32})\.[A-Za-z0-9_-]+")
_TOUCH_S = 3600
_ADVICE = "WHERECAST_CACHE_DIR can name another directory"


def digest_of(path: Path) -> str:
    """The digest of a file's bytes, as blobs are named: 32 hexadecimal digits."""
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def blob_name(path: Path, suffix: str) -> str:
    """The name of the blob with a file's bytes: its digest and a suffix without a dot."""
    name = f"{digest_of(path)}.{suffix}"
    assert _NAME.fullmatch(name), name
    return name


class HostCache:
    """This host's copies of blobs. Making one touches nothing on disk; threads may share it.

    Attributes:
        fetches: how often this object called a source.
        verifications: how often it read a file to check it, those just fetched included.
    """

    def __init__(
        self,
        directory: Path | None = None,
        bytes_max: int = 16 << 30,
        unused_max: timedelta = timedelta(days=7),
    ) -> None:
        """A cache in a directory; without one, in `snapshots/` of the places for caches.

        Args:
            directory: where the copies are; see `wherecast.cache_dirs` for the default.
            bytes_max: how large all copies together may get; the newest stays in any case.
            unused_max: how long a copy is kept that nobody uses.
        """
        self.bytes_max = bytes_max
        self.unused_max = unused_max
        self.fetches = 0
        self.verifications = 0
        self._directory = directory and directory.absolute()
        self._known: dict[Path, Stamp] = {}
        self._touched_s: dict[str, float] = {}

    @property
    def directory(self) -> Path:
        """Where the copies are.

        Raises:
            SnapshotError: none was given, and none can be written.
        """
        if self._directory is None:
            tried = [parent / "snapshots" for parent in cache_parents()]
            self._directory = next(filter(can_write, tried), None)
            if self._directory is None:
                names = ", ".join(map(str, tried)) or "no directory of this user"
                raise SnapshotError(f"cannot write snapshots (tried {names}); {_ADVICE}")
        return self._directory

    def path(
        self,
        name: str,
        source: Callable[[Path], None],
        in_place: Path | None = None,
        origin: str | None = None,
    ) -> Path:
        """A local file with a blob's bytes, checked. Open it soon: see the top of this module.

        Args:
            name: the blob.
            source: writes the blob's bytes to the path it is given; called where there is no copy.
            in_place: a file of this host that may be used where it is, if its bytes are right.
            origin: where the bytes come from, for errors; by default `in_place`.

        Raises:
            SnapshotError: the source gives wrong bytes, or the directory cannot take the copy.
        """
        if not _NAME.fullmatch(name):
            raise SnapshotError(f"{name!r} is not the name of a snapshot")
        checked = self.verifications
        if in_place is not None and self._is_usable(name, in_place.absolute()):
            self._touch(name)
            if self.verifications > checked:
                self._remove_unused(name)
            return in_place
        copy = self.directory / name
        if not self._is_known(name, copy):
            with self._locked(name):
                fetched = not self._check(name, copy)
                if fetched:
                    self._fetch(name, source, origin or str(in_place or "its source"))
            if fetched:
                self._remove_unused(name)
        self._touch(name)
        return copy

    def _remove_unused(self, name: str) -> None:
        """Removes what the cache holds of other blobs, where it is old or too much."""
        with suppress(OSError, SnapshotError):  # what cannot be removed does no harm
            remove_unused(self.directory, name, self.bytes_max, self.unused_max)

    def _is_usable(self, name: str, path: Path) -> bool:
        """Whether a file outside the cache has a blob's bytes."""
        if stamp_of(path) is None:
            return False
        try:
            if self._is_known(name, path):
                return True
            with self._locked(name):
                return self._check(name, path)
        except SnapshotError:  # no directory to remember it in: each process checks for itself
            return self._check(name, path, remember=False)

    def _is_known(self, name: str, path: Path) -> bool:
        """Whether a file was checked as it is now, by this process or another."""
        stamp = stamp_of(path)
        if stamp is None:
            return False
        if self._known.get(path) != stamp:
            if read_seen(self.directory, name).get(str(path)) != stamp:
                return False
            self._known[path] = stamp
        return True

    def _check(self, name: str, path: Path, remember: bool = True) -> bool:
        """Whether a file has a blob's bytes; read only where that is not known. Needs the lock."""
        stamp = stamp_of(path)
        if stamp is None:
            return False
        if remember and self._is_known(name, path):
            return True
        if self._known.get(path) == stamp:
            return True
        if not self._has_bytes(name, path):
            return False
        self._known[path] = stamp
        if remember:
            write_seen(self.directory, name, path, stamp)
        return True

    def _has_bytes(self, name: str, path: Path) -> bool:
        self.verifications += 1
        try:
            return digest_of(path) == name.partition(".")[0]
        except OSError:
            return False

    def _fetch(self, name: str, source: Callable[[Path], None], origin: str) -> None:
        """Puts a checked copy of a blob in its place. Needs the lock."""
        copy, part = self.directory / name, self.directory / f"{name}.part"
        for left in (copy, part):
            left.unlink(missing_ok=True)
        try:
            self.fetches += 1
            source(part)
            if not self._has_bytes(name, part):
                raise SnapshotError(f"{name} is damaged: {origin} gave other bytes")
            with part.open("rb") as file:
                os.fsync(file.fileno())  # or a loss of power could leave a hole that looks checked
            os.replace(part, copy)
        finally:
            part.unlink(missing_ok=True)
        stamp = stamp_of(copy)
        if stamp is not None:
            self._known[copy] = stamp
            write_seen(self.directory, name, copy, stamp)

    def _touch(self, name: str) -> None:
        """Notes that a blob is used, now and then."""
        now_s = time.monotonic()
        if now_s - self._touched_s.get(name, -_TOUCH_S) >= _TOUCH_S:
            self._touched_s[name] = now_s
            with suppress(OSError, SnapshotError):
                os.utime(self.directory / f"{name}.seen")

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        """Holds a blob's lock; errors of the operating system name the directory."""
        try:
            with locked(self.directory, name):
                yield
        except OSError as error:
            why = reason_of(error)
            message = f"cannot keep {name} in {self.directory}: {why}; {_ADVICE}"
            raise SnapshotError(message) from error
