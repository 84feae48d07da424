"""Blobs as files of any file system that pyarrow or fsspec reads, such as `hdfs://` and `http://`.

Contract. A blob is written under a name `.<random>.tmp` and then moved to its own, so readers see
all of it where the file system moves in one step, as HDFS does. No conditional write is common to
these file systems: `create` looks first and writes then, so two writers are not safe, and
`open_blobs` refuses to open them as `conditional`.
"""

import os
import shutil
import uuid
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow.fs import FileSelector, FileSystem, FileType, FSSpecHandler, PyFileSystem
from typing_extensions import override

from wherecast.model.errors import ConfigError, reason_of
from wherecast.store.blobs.blobs import scheme_of
from wherecast.store.blobs.checked_blobs import PIECE_BYTES, CheckedBlobs, as_config_error
from wherecast.store.blobs.object_blobs import LIBRARIES


class ArrowBlobs(CheckedBlobs):
    """Blobs as files below a folder, which the first write makes."""

    def __init__(self, uri: str) -> None:
        super().__init__(uri.rstrip("/"))
        self._opened()

    @override
    def _read(self, name: str) -> bytes:
        with self._stream(name) as source:
            return bytes(source.read())

    @override
    def _create(self, name: str, content: bytes) -> bool:
        if self._exists(name):
            return False
        self._put(name, BytesIO(content))
        return True

    @override
    def _put(self, name: str, source: BinaryIO) -> None:
        files, root = self._opened()
        folder = f"{root}/{name}".rpartition("/")[0]
        temporary = f"{folder}/.{uuid.uuid4().hex}.tmp"
        files.create_dir(folder, recursive=True)
        try:
            with files.open_output_stream(temporary, compression=None) as file:
                shutil.copyfileobj(source, file, PIECE_BYTES)
            files.move(temporary, f"{root}/{name}")
        except BaseException:
            with suppress(OSError, pa.ArrowException):
                files.delete_file(temporary)
            raise

    @override
    def _fetch(self, name: str, target: BinaryIO) -> None:
        with self._stream(name) as source:
            shutil.copyfileobj(source, target, PIECE_BYTES)

    @override
    def _names(self, under: str) -> Iterable[str]:
        files, root = self._opened()
        folder = f"{root}/{under}" if under else root
        if files.get_file_info(folder or "/").type != FileType.Directory:
            return []
        found = files.get_file_info(FileSelector(folder, recursive=True, allow_not_found=True))
        start = len(root.lstrip("/")) + 1
        paths = (info.path for info in found if info.type == FileType.File)
        return [path.lstrip("/")[start:] for path in paths]

    @override
    def _exists(self, name: str) -> bool:
        files, root = self._opened()
        return bool(files.get_file_info(f"{root}/{name}").type == FileType.File)

    @override
    def _delete(self, name: str) -> None:
        if self._exists(name):
            files, root = self._opened()
            files.delete_file(f"{root}/{name}")

    def _stream(self, name: str) -> Any:
        files, root = self._opened()
        # not unpacked, whatever its suffix
        return files.open_input_stream(f"{root}/{name}", compression=None)

    def _opened(self) -> tuple[Any, str]:
        return file_system_of(self.uri)


def file_system_of(uri: str) -> tuple[Any, str]:
    """The file system of a URI, as `pyarrow.fs` has them, and the path of the URI in it.

    Raises:
        ConfigError: the scheme is not known, or its library cannot be loaded.
    """
    return _opened(uri, os.getpid())


@lru_cache(maxsize=64)
def _opened(uri: str, _process: int) -> tuple[Any, str]:
    """The file system of a URI, for one process, and where the blobs are in it.

    Raises:
        ConfigError: it is not known, or its library cannot be loaded.
    """
    with as_config_error("open", uri):
        if scheme_of(uri) in LIBRARIES:  # read by the library that also has their blobs
            files, root = _through_fsspec(uri)
            return files, root.rstrip("/")
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
        raise ConfigError(f"{known} here: {reason_of(error)}") from error
    except ValueError as error:
        raise ConfigError(known) from error
    return PyFileSystem(FSSpecHandler(files)), root
