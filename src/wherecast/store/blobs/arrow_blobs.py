"""Blobs as files of any file system that pyarrow or fsspec reads, such as `hdfs://` and `http://`.

Contract. A blob is written under a name `.<random>.tmp` and then moved to its own, so readers see
all of it where the file system moves in one step, as HDFS does. No conditional write is common to
these file systems: `create` looks first and writes then, so two writers are not safe, and
`open_blobs` refuses to open them as `conditional`.
"""

import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow.fs import FileSelector, FileSystem, FileType, FSSpecHandler, PyFileSystem

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.blobs import MissingBlob, checked_name, is_name, scheme_of
from wherecast.store.blobs.remote_errors import reason, told

_PIECE_BYTES = 1 << 20


class ArrowBlobs:
    """Blobs as files below a folder, which the first write makes."""

    def __init__(self, uri: str) -> None:
        self.uri = uri.rstrip("/")
        _opened(self.uri, os.getpid())

    def read(self, name: str) -> bytes:
        """The content of a blob."""
        with self._at("read", name) as (files, path), _stream(files, path) as source:
            return bytes(source.read())

    def create(self, name: str, content: bytes) -> bool:
        """Makes a blob where there is none of that name; not safe with two writers."""
        if self.exists(name):
            return False
        self._write(name, BytesIO(content))
        return True

    def put_file(self, name: str, path: Path) -> None:
        """Copies a local file in, where there is none of that name."""
        if not self.exists(name):
            with path.open("rb") as source:
                self._write(name, source)

    def fetch(self, name: str, path: Path) -> None:
        """Copies a blob to a local file."""
        with (
            path.open("wb") as file,
            self._at("read", name) as (files, there),
            _stream(files, there) as source,
        ):
            shutil.copyfileobj(source, file, _PIECE_BYTES)

    def local_path(self, name: str) -> None:
        """None: the store is remote."""

    def names(self, under: str) -> list[str]:
        """The names of all blobs in a folder and its folders, sorted."""
        with told("list", f"{self.uri}/{under}"):
            files, root = _opened(self.uri, os.getpid())
            folder = f"{root}/{checked_name(under)}" if under else root
            if files.get_file_info(folder or "/").type != FileType.Directory:
                return []
            found = files.get_file_info(FileSelector(folder, recursive=True, allow_not_found=True))
        paths = [info.path for info in found if info.type == FileType.File]
        start = len(root.lstrip("/")) + 1
        return sorted(filter(is_name, (path.lstrip("/")[start:] for path in paths)))

    def exists(self, name: str) -> bool:
        """Whether there is a blob of that name."""
        with self._at("read", name) as (files, path):
            return bool(files.get_file_info(path).type == FileType.File)

    def delete(self, name: str) -> None:
        """Deletes a blob; nothing where there is none."""
        with suppress(MissingBlob), self._at("delete", name) as (files, path):
            if files.get_file_info(path).type == FileType.File:
                files.delete_file(path)

    def _write(self, name: str, source: BinaryIO) -> None:
        with self._at("write", name) as (files, path):
            folder = path.rpartition("/")[0]
            temporary = f"{folder}/.{uuid.uuid4().hex}.tmp"
            files.create_dir(folder, recursive=True)
            try:
                with files.open_output_stream(temporary, compression=None) as file:
                    shutil.copyfileobj(source, file, _PIECE_BYTES)
                files.move(temporary, path)
            except BaseException:
                with suppress(OSError, pa.ArrowException):
                    files.delete_file(temporary)
                raise

    @contextmanager
    def _at(self, action: str, name: str) -> Iterator[tuple[Any, str]]:
        """The file system and a blob's path in it; errors become those of the contract."""
        place = f"{self.uri}/{checked_name(name)}"
        with told(action, place):
            files, root = _opened(self.uri, os.getpid())
            try:
                yield files, f"{root}/{name}"
            except FileNotFoundError as error:
                if action == "write":
                    raise ConfigError(f"cannot write {place}: {reason(error)}") from error
                raise MissingBlob(self.uri, name) from None


def _stream(files: Any, path: str) -> Any:
    return files.open_input_stream(path, compression=None)  # not unpacked, whatever its suffix


@lru_cache(maxsize=64)
def _opened(uri: str, _process: int) -> tuple[Any, str]:
    """The file system of a URI, for one process, and where the blobs are in it.

    Raises:
        ConfigError: it is not known, or its library cannot be loaded.
    """
    with told("open", uri):
        try:
            files, root = FileSystem.from_uri(uri)
        except pa.ArrowInvalid:
            files, root = _through_fsspec(uri)
        return files, root.rstrip("/")


def _through_fsspec(uri: str) -> tuple[Any, str]:
    known = f"cannot open {uri}: {scheme_of(uri)}:// is not known"
    if "://" not in uri:  # fsspec takes it for a path
        raise ConfigError(known)
    try:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(uri, use_listings_cache=False)
    except ImportError as error:  # of fsspec, or of what it needs for the scheme
        raise ConfigError(f"{known} here: {reason(error)}") from error
    except ValueError as error:
        raise ConfigError(known) from error
    return PyFileSystem(FSSpecHandler(files)), root
