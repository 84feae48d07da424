"""The directory of an embedded store: who may use it, its format, and its files.

    format      the version of the format, and the identity of the store
    lock        held by the owner, with its process id
    log.db      publications, changes and the registry; written by the owner
    cursors.db  what was acknowledged; written by the owner
    batches.db  the record per batch; written by the pipeline, and by an owner who mends segments
    segments/   notifications; written by the same
    snapshots/  indexes; written by the pipeline
    figures/    what the pipeline did, for people; written by the pipeline
    wake/       who waits for commits; written by those

One process owns a directory. A pipeline and readers work in it beside the owner without its lock.
"""

import fcntl
import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from wherecast.model.errors import ConfigError, StoreError, reason_of
from wherecast.store.contracts import Role
from wherecast.store.embedded.database import Database, Layout
from wherecast.store.folders import make_folder, sync_folder

FORMAT = 1
MIGRATIONS: Mapping[int, Callable[[Path], None]] = {}
"""By version, the step that brings a directory to the next version. A step that is cut short at any
point is run again."""

_FOREIGN_OK = {"lock", ".format.new", "lost+found"}  # in a directory that becomes a store


class Directory:
    """A directory that is open in a role.

    Args:
        path: the directory.
        role: what this process does in the directory.
        vfs: the name of the layer that SQLite reaches its files through; empty is the usual one.

    Attributes:
        path: absolute path of the directory.
        role: what this process does in the directory.
        identity: a random word that no other store has.

    Raises:
        ConfigError: the directory cannot be made, read or written, or is no store.
        StoreError: the directory is in use, or written by a newer version.
    """

    def __init__(self, path: str | Path, role: Role = "owner", vfs: str = "") -> None:
        self.path = Path(path).absolute()
        self.role = role
        self._vfs = vfs
        self._lock: int | None = None
        if role == "owner":
            with _as_config_error(self.path):
                make_folder(self.path)
                self._lock = _take_lock(self.path)
        try:
            with _as_config_error(self.path):
                self.identity = self._opened()
        except BaseException:
            self.close()
            raise

    @property
    def segments(self) -> Path:
        """Where notifications are."""
        return self.path / "segments"

    @property
    def snapshots(self) -> Path:
        """Where indexes are."""
        return self.path / "snapshots"

    @property
    def figures(self) -> Path:
        """Where figures of the pipeline are, once there are any."""
        return self.path / "figures"

    def database(self, name: str, layout: Layout, is_writer: bool) -> Database:
        """A database file of this directory.

        Raises:
            StoreError: it is damaged, missing, or written by a newer version.
        """
        path = self.path / name
        is_new = is_writer and not path.exists()
        database = Database(path, layout, is_writer, self._vfs)
        if is_new:
            with _as_config_error(self.path):
                sync_folder(self.path)
        return database

    def close(self) -> None:
        """Gives the lock back."""
        if self._lock is not None:
            with suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_UN)  # a child may have the descriptor too
            os.close(self._lock)
            self._lock = None

    def _opened(self) -> str:
        """Makes or migrates the directory where that is necessary; returns its identity."""
        found = _read_format(self.path)
        if self.role != "owner":
            if found is None:
                raise ConfigError(f"{self.path} is no store")
            if found["version"] != FORMAT:
                raise _other_format(self.path, found["version"])
            return str(found["identity"])
        if found is None:
            _refuse_foreign(self.path)
            found = {"version": FORMAT, "identity": secrets.token_hex(8)}
            _write_format(self.path, found)
        while found["version"] < FORMAT:
            found = self._migrated(found)
        if found["version"] > FORMAT:
            raise _other_format(self.path, found["version"])
        for folder in (self.segments, self.snapshots):
            make_folder(folder)
        return str(found["identity"])

    def _migrated(self, found: dict[str, Any]) -> dict[str, Any]:
        """One version further."""
        version = found["version"]
        if version not in MIGRATIONS:
            raise _other_format(self.path, version)
        MIGRATIONS[version](self.path)
        later = found | {"version": version + 1}
        _write_format(self.path, later)
        return later


def _take_lock(path: Path) -> int:
    """The descriptor of the lock file, locked, with this process in it."""
    descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip()
            who = f"process {holder}" if holder.isdigit() else "another process"
            raise StoreError(f"{path} is in use by {who}") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _read_format(path: Path) -> dict[str, Any] | None:
    """The version and the identity; None where there is no such file."""
    try:
        content = (path / "format").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        found = json.loads(content)
        if type(found["version"]) is int and type(found["identity"]) is str:
            return dict(found)
    except (ValueError, TypeError, KeyError):
        pass
    raise StoreError(f"{path / 'format'} is damaged; run: wherecast store check {path}")


def _write_format(path: Path, found: Mapping[str, Any]) -> None:
    """Writes the file in one step."""
    new = path / ".format.new"
    with new.open("w") as file:
        file.write(json.dumps(found) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path / "format")
    sync_folder(path)


def _other_format(path: Path, version: int) -> StoreError:
    why = "a newer one wrote it" if version > FORMAT else "it cannot be brought to that one here"
    return StoreError(f"{path} has format {version}, this Wherecast knows {FORMAT}; {why}")


def _refuse_foreign(path: Path) -> None:
    """Raises ConfigError if a new store would mix with other files."""
    others = sorted(set(os.listdir(path)) - _FOREIGN_OK)
    if others:
        raise ConfigError(f"{path} is no store, and not empty: it has {others[0]}")


@contextmanager
def _as_config_error(path: Path) -> Iterator[None]:
    """Errors of the operating system, as one line that names the directory."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot use {path}: {reason_of(error)}") from error
