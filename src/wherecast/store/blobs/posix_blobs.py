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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from typing_extensions import override

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.blobs import checked_name
from wherecast.store.blobs.checked_blobs import PIECE_BYTES, CheckedBlobs
from wherecast.store.folders import make_folder, private_opener, sync, sync_folder

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
_LEFT_BEHIND_S = 86_400
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


class PosixBlobs(CheckedBlobs):
    """Blobs as files below a directory, which the first write makes.

    Args:
        directory: the directory.
        is_private: whether only the owner of a blob may read it, whatever the umask.
    """

    def __init__(self, directory: Path, is_private: bool = False) -> None:
        self.directory = directory.absolute()
        self._is_private = is_private
        super().__init__(self.directory.as_uri())

    @override
    def local_path(self, name: str) -> Path:
        return self.directory / checked_name(name)

    @override
    def _read(self, name: str) -> bytes:
        return (self.directory / name).read_bytes()

    @override
    def _create(self, name: str, content: bytes) -> bool:
        path = self.directory / name
        if os.path.lexists(path):
            return False
        with _temporary(path, self._is_private) as temporary:
            _write(temporary, BytesIO(content))
            created = _link(temporary, path)
            sync_folder(path.parent)
        return created

    @override
    def _put(self, name: str, source: BinaryIO) -> None:
        path = self.directory / name
        with _temporary(path, self._is_private) as temporary:
            _write(temporary, source)
            os.replace(temporary, path)
        with suppress(FileNotFoundError):  # deleted since, and its folder with it
            sync_folder(path.parent)
            _drop_left_behind(path.parent)

    @override
    def _fetch(self, name: str, target: BinaryIO) -> None:
        with (self.directory / name).open("rb") as source:
            shutil.copyfileobj(source, target, PIECE_BYTES)

    @override
    def _names(self, under: str) -> Iterable[str]:
        for folder, folders, files in os.walk(self.directory / under, onerror=_unless_missing):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inside = Path(folder).relative_to(self.directory)
            yield from ((inside / name).as_posix() for name in files)

    @override
    def _exists(self, name: str) -> bool:
        return (self.directory / name).is_file()

    @override
    def _delete(self, name: str) -> None:
        path = self.directory / name
        path.unlink()
        with suppress(OSError):  # one that is not empty, or that another has deleted
            for folder in path.parents:
                if folder == self.directory:
                    break
                folder.rmdir()

    @override
    def _place(self, name: str) -> str:
        return str(self.directory / name)


@contextmanager
def _temporary(path: Path, is_private: bool) -> Iterator[Path]:
    """An unfinished file beside a path, empty yet. While it is there, its folder stays."""
    temporary = path.parent / f".{uuid.uuid4().hex}.tmp"
    _make_empty(temporary, is_private)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _make_empty(path: Path, is_private: bool) -> None:
    """Makes an empty file and its folder, anew where who deletes finds that folder empty."""
    opener = private_opener if is_private else None
    for _ in range(_TRIES - 1):
        with suppress(FileNotFoundError):
            make_folder(path.parent, is_private)
            open(path, "xb", opener=opener).close()
            return
    make_folder(path.parent, is_private)
    open(path, "xb", opener=opener).close()


def _write(path: Path, source: BinaryIO) -> None:
    """Writes a file, which survives a loss of power once its folder does."""
    with path.open("wb") as file:
        shutil.copyfileobj(source, file, PIECE_BYTES)
        file.flush()
        sync(file.fileno())


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
