"""Blobs as files below a directory of a POSIX file system, on one host or shared by many.

Contract. `create` writes a temporary file, and links it to its name in one step, which fails where
the name is taken: so it is safe with any number of writers, over NFS too, but needs hard links. It
returns when the blob would survive a loss of power. Temporary files are named `.<random>.tmp`;
`put_file` deletes those in its folder that a writer left behind more than a day ago. `delete` also
removes the folders that are empty then, up to the directory itself.
"""

import errno
import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.blobs import MissingBlob, checked_name

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
_LEFT_BEHIND_S = 86_400
_PIECE_BYTES = 1 << 20
_TRIES = 100  # of making a folder that others delete


def path_of(uri: str) -> Path:
    """The path that a `file:` URI names.

    Raises:
        ConfigError: it names another host.
    """
    rest = uri[len("file:") :]
    if rest.startswith("//"):
        host, _, rest = rest[2:].partition("/")
        if host not in ("", "localhost"):
            raise ConfigError(f"{uri} names the host {host!r}; write file:///… for a file here")
        rest = f"/{rest}"
    return Path(unquote(rest))


class PosixBlobs:
    """Blobs as files below a directory, which the first write makes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory.absolute()
        self.uri = self.directory.as_uri()

    def read(self, name: str) -> bytes:
        """The content of a blob."""
        path = self.local_path(name)
        with _told("read", path), self._missing(name):
            return path.read_bytes()

    def create(self, name: str, content: bytes) -> bool:
        """Makes a blob with its content, in one step, and says whether this call made it."""
        path = self.local_path(name)
        with _told("write", path):
            if os.path.lexists(path):
                return False
            with _temporary(path) as temporary:
                _write(temporary, BytesIO(content))
                created = _link(temporary, path)
                _sync_folder(path.parent)
        return created

    def put_file(self, name: str, path: Path) -> None:
        """Copies a local file in, whole or not at all, where there is none of that name."""
        target = self.local_path(name)
        with path.open("rb") as source, _told("write", target):
            if os.path.lexists(target):
                return
            with _temporary(target) as temporary:
                _write(temporary, source)
                os.replace(temporary, target)
            with suppress(FileNotFoundError):  # deleted since, and its folder with it
                _sync_folder(target.parent)
                _drop_left_behind(target.parent)

    def fetch(self, name: str, path: Path) -> None:
        """Copies a blob to a local file."""
        source = self.local_path(name)
        with _told("read", source), self._missing(name):
            source.open("rb").close()
        with self._missing(name):
            shutil.copyfile(source, path)

    def local_path(self, name: str) -> Path:
        """Where a blob can be mapped in place, if it is there."""
        return self.directory / checked_name(name)

    def names(self, under: str) -> list[str]:
        """The names of all blobs in a folder and its folders, sorted."""
        top = self.local_path(under) if under else self.directory
        found: list[str] = []
        with _told("list", top):
            for folder, folders, files in os.walk(top, onerror=_unless_missing):
                folders[:] = [name for name in folders if not name.startswith(".")]
                inside = Path(folder).relative_to(self.directory)
                found += [(inside / name).as_posix() for name in files if not name.startswith(".")]
        return sorted(found)

    def exists(self, name: str) -> bool:
        """Whether there is a blob of that name."""
        path = self.local_path(name)
        with _told("read", path):
            return path.is_file()

    def delete(self, name: str) -> None:
        """Deletes a blob, and the folders that are empty then; nothing where there is none."""
        path = self.local_path(name)
        with _told("delete", path), suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()
        with suppress(OSError):  # one that is not empty, or that another has deleted
            for folder in path.parents:
                if folder == self.directory:
                    break
                folder.rmdir()

    @contextmanager
    def _missing(self, name: str) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, NotADirectoryError):
            raise MissingBlob(self.uri, name) from None


@contextmanager
def _told(action: str, path: Path) -> Iterator[None]:
    """Errors of the operating system, as one line that names the path."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot {action} {path}: {error.strerror or error}") from error


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """An unfinished file beside a path, empty yet. While it is there, its folder stays."""
    temporary = path.parent / f".{uuid.uuid4().hex}.tmp"
    _make_empty(temporary)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _make_empty(path: Path) -> None:
    """Makes an empty file and its folder, anew where who deletes finds that folder empty."""
    for _ in range(_TRIES - 1):
        with suppress(FileNotFoundError):
            _make_folder(path.parent)
            path.touch(exist_ok=False)
            return
    _make_folder(path.parent)
    path.touch(exist_ok=False)


def _write(path: Path, source: BinaryIO) -> None:
    """Writes a file, which survives a loss of power once its folder does."""
    with path.open("wb") as file:
        shutil.copyfileobj(source, file, _PIECE_BYTES)
        file.flush()
        _sync(file.fileno())


def _link(temporary: Path, path: Path) -> bool:
    """Gives a finished file its name, and says whether that was free."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        # NFS may lose the answer, and finds the name taken by the link it made itself.
        return temporary.stat().st_nlink > 1
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        why = "its file system has no hard links, which writing safely needs"
        raise ConfigError(f"cannot create {path}: {why}") from error
    return True


def _make_folder(folder: Path) -> None:
    """Makes a folder and those above it, so that they survive a loss of power."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF):  # not every file system syncs folders
            raise


def _unless_missing(error: OSError) -> None:
    """A folder that is not there, or not any more, has no blobs."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _drop_left_behind(folder: Path) -> None:
    """Deletes the unfinished files of writers that died."""
    for temporary in folder.glob(".*.tmp"):
        with suppress(FileNotFoundError):
            if temporary.stat().st_mtime < time.time() - _LEFT_BEHIND_S:
                temporary.unlink()
