"""The directory of an embedded store: who may use it, its format, and its files.

    format      the version of the format, and the identity and incarnation of the store
    lock        held by the owner, with its process id
    log.db      publications, changes, the registry and cursors; written by the owner
    log.mark    what log.db held after its last commit; written by the owner
    batches.db  the record per batch; written by the pipeline, and by an owner who mends segments
    segments/   notifications; written by the same
    snapshots/  indexes; written by the pipeline
    figures/    what the pipeline did, for people; written by the pipeline
    wake/       who waits for commits of batches; written by those
    wake-log/   who waits for new records of the log; written by those
    layout-1/   what the directory held before it was upgraded; nobody needs it

One process owns a directory. A pipeline and readers work in it beside the owner without its lock.
Only the user whose process it is may read the directory and its files.
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
from wherecast.store.embedded.upgrade.upgrade_store import upgrade_layout_1
from wherecast.store.folders import make_folder, make_private, private_opener, sync_folder

FORMAT = 2
MIGRATIONS: Mapping[int, Callable[[Path], Mapping[str, Any]]] = {1: upgrade_layout_1}
"""By version, the step that brings a directory to the next version. The step returns what the file
`format` gets with the next version. A step that is cut short at any point is run again."""

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
        identity: a random word that no other store has, but for its backups.
        incarnation: a random word that no other store and no backup has; empty for a copy that no
            owner has opened yet.
        unscoped_ids: the offset before which ids of publications were unique among all streams and
            publishers, and the time of the last such publication; 0 and 0 if there are none.

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
                _refuse_foreign(self.path)
                make_folder(self.path, is_private=True)
                self._lock = _take_lock(self.path)
        try:
            with _as_config_error(self.path):
                found = self._opened()
                self.identity, self.incarnation = str(found["identity"]), _incarnation(found)
                self.unscoped_ids = _unscoped_ids(found)
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

    def drop_snapshots(self) -> None:
        """Removes all snapshots; the log tells the same.

        Raises:
            ConfigError: one cannot be removed.
        """
        with _as_config_error(self.snapshots):
            for folder, _, names in os.walk(self.snapshots):
                for name in names:
                    Path(folder, name).unlink(missing_ok=True)
                sync_folder(Path(folder))

    def close(self) -> None:
        """Gives the lock back."""
        if self._lock is not None:
            with suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_UN)  # a child may have the descriptor too
            os.close(self._lock)
            self._lock = None

    def _opened(self) -> Mapping[str, Any]:
        """Makes or migrates the directory where that is necessary; returns its format."""
        found = _read_format(self.path)
        if self.role != "owner":
            if found is None:
                raise ConfigError(f"{self.path} is no store")
            if found["version"] != FORMAT:
                raise _other_format(self.path, found["version"])
            return found
        make_private(self.path)
        if found is None:
            found = {"version": FORMAT, "identity": _word(), "incarnation": _word()}
            _write_format(self.path, found)
        while found["version"] < FORMAT:
            found = self._migrated(found)
        if found["version"] > FORMAT:
            raise _other_format(self.path, found["version"])
        if not _incarnation(found):  # a backup that is opened for the first time
            found["incarnation"] = _word()
            _write_format(self.path, found)
        for folder in (self.segments, self.snapshots):
            make_folder(folder, is_private=True)
        return found

    def _migrated(self, found: dict[str, Any]) -> dict[str, Any]:
        """One version further."""
        version = found["version"]
        if version not in MIGRATIONS:
            raise _other_format(self.path, version)
        later = found | dict(MIGRATIONS[version](self.path)) | {"version": version + 1}
        _write_format(self.path, later)
        return later


def _take_lock(path: Path) -> int:
    """The descriptor of the lock file, locked, with this process in it."""
    descriptor = private_opener(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
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


def copied_format(path: Path) -> bytes:
    """The content of the file `format` for a copy of a store: it has no incarnation yet.

    Raises:
        StoreError: the file is damaged or missing.
    """
    found = _read_format(path)
    if found is None:
        raise StoreError(f"{path / 'format'} is missing")
    return (json.dumps(found | {"incarnation": ""}) + "\n").encode()


def is_upgradable(path: Path) -> bool:
    """Whether a directory has an older format that its owner upgrades."""
    try:
        found = _read_format(path)
    except StoreError:
        return False
    return found is not None and found["version"] in MIGRATIONS


def _word() -> str:
    return secrets.token_hex(8)


def _incarnation(found: Mapping[str, Any]) -> str:
    return str(found.get("incarnation", ""))


def _unscoped_ids(found: Mapping[str, Any]) -> tuple[int, int]:
    end, at = found.get("unscoped_ids", (0, 0))
    return int(end), int(at)


def _read_format(path: Path) -> dict[str, Any] | None:
    """The version and the identity; None where there is no such file."""
    try:
        content = (path / "format").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        found = json.loads(content)
        if type(found["version"]) is int and type(found["identity"]) is str:
            _unscoped_ids(found)
            return dict(found)
    except (ValueError, TypeError, KeyError):
        pass
    raise StoreError(f"{path / 'format'} is damaged; run: wherecast store check {path}")


def _write_format(path: Path, found: Mapping[str, Any]) -> None:
    """Writes the file in one step."""
    new = path / ".format.new"
    with open(new, "w", opener=private_opener) as file:
        file.write(json.dumps(found) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path / "format")
    sync_folder(path)


def _other_format(path: Path, version: int) -> StoreError:
    if version > FORMAT:
        why = "a newer one wrote it"
    elif version in MIGRATIONS:
        why = "open it with wherecast serve or wherecast.Broker first, which upgrades it"
    else:
        why = "it cannot be brought to that one here"
    return StoreError(f"{path} has format {version}, this Wherecast knows {FORMAT}; {why}")


def _refuse_foreign(path: Path) -> None:
    """Raises ConfigError if a new store would mix with other files; nothing is written before."""
    try:
        names = set(os.listdir(path))
    except FileNotFoundError:
        return
    others = sorted(names - _FOREIGN_OK)
    if others and "format" not in names:
        raise ConfigError(f"{path} is no store, and not empty: it has {others[0]}")


@contextmanager
def _as_config_error(path: Path) -> Iterator[None]:
    """Errors of the operating system, as one line that names the directory."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot use {path}: {reason_of(error)}") from error
