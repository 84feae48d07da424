"""The directory of a sink, on any file system that pyarrow or fsspec writes.

Files are written and moved through `pyarrow.fs`. Small records go through the blobs of the same
URI, whose `create` makes a file whole or not at all.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow.fs import FileInfo, FileSelector, FileType, LocalFileSystem

from wherecast.model import ConfigError
from wherecast.pipeline.filters.blob_location import blobs_at
from wherecast.store.blobs.arrow_blobs import file_system_of
from wherecast.store.blobs.blobs import Blobs, scheme_of
from wherecast.store.blobs.checked_blobs import as_config_error
from wherecast.store.blobs.posix_blobs import path_of

_TRIES = 100


@dataclass(frozen=True, slots=True)
class SinkLocation:
    """The directory that holds the files of a sink; picklable.

    Names are relative to the directory, with `/` between their parts. Every method raises
    ConfigError where the directory cannot be reached.

    Attributes:
        uri: an absolute path or a URI.
    """

    uri: str

    @staticmethod
    def of(path: object) -> "SinkLocation":
        """The location of a path or URI; a relative path becomes absolute.

        Raises:
            ConfigError: the value is neither.
        """
        if not isinstance(path, str | Path) or not str(path):
            raise ConfigError(f"path is a path or URI, not {path!r}")
        given = str(path)
        if scheme_of(given) == "file":
            given = str(path_of(given))
        return SinkLocation(given.rstrip("/") if scheme_of(given) else os.path.abspath(given))

    @property
    def blobs(self) -> Blobs:
        """The small records of the sink."""
        return blobs_at(self.uri)

    @property
    def is_local(self) -> bool:
        """Whether the directory is a path of this host."""
        return not scheme_of(self.uri)

    @contextmanager
    def writing(self, name: str, root: str) -> Iterator[Any]:
        """A stream for a new file; makes the folders of the file below a root.

        Args:
            name: the name of the file.
            root: a folder above the file that a path of this host must have already.
        """
        with as_config_error("write", self._shown(name)):
            files, path = self._located(name)
            if self.is_local:
                self._make_folders(root, name[len(root) :].strip("/").split("/")[:-1])
            else:
                files.create_dir(path.rpartition("/")[0], recursive=True)
            stream = files.open_output_stream(path, compression=None)
        with stream:
            yield stream

    def make_folder(self, name: str) -> None:
        """Makes a folder with those above it, where a file system has folders of their own."""
        if self.is_local:
            with as_config_error("write", self._shown(name)):
                _make_all(os.path.join(self.uri, name))

    def set_aside(self, name: str, target: str) -> str:
        """Renames a folder in one step, if it exists; returns its name afterwards.

        An object store cannot do that, and the folder has its old name.
        """
        if not self.is_local:
            return name
        with as_config_error("write", self._shown(target)), suppress(FileNotFoundError):
            os.rename(os.path.join(self.uri, name), os.path.join(self.uri, target))
        return target

    def size(self, name: str) -> int | None:
        """Number of bytes of a file; None if there is no such file."""
        with as_config_error("read", self._shown(name)):
            files, path = self._located(name)
            info = files.get_file_info(path)
        return int(info.size) if info.type == FileType.File else None

    def entries(self, name: str = "", recursive: bool = False) -> list[FileInfo] | None:
        """What a folder holds, with names relative to the sink; None if there is no folder."""
        with as_config_error("list", self._shown(name)):
            files, path = self._located(name)
            if files.get_file_info(path).type != FileType.Directory:
                return None
            found = files.get_file_info(FileSelector(path, recursive=recursive))
        root = len(self._located("")[1].strip("/")) + 1
        return [
            FileInfo(each.path.strip("/")[root:], each.type, mtime=each.mtime) for each in found
        ]

    def move(self, name: str, target: str) -> None:
        """Renames a file; an object store copies and deletes instead."""
        with as_config_error("write", self._shown(target)):
            files, path = self._located(name)
            _, goal = self._located(target)
            files.create_dir(goal.rpartition("/")[0], recursive=True)
            files.move(path, goal)

    def delete(self, name: str) -> None:
        """Deletes a file if it exists."""
        with as_config_error("delete", self._shown(name)), suppress(FileNotFoundError):
            files, path = self._located(name)
            files.delete_file(path)

    def delete_folder(self, name: str) -> None:
        """Deletes a folder with all its files, if it exists."""
        with as_config_error("delete", self._shown(name)), suppress(FileNotFoundError):
            files, path = self._located(name)
            files.delete_dir(path)

    def drop_empty(self, *names: str) -> None:
        """Removes folders that are empty, where a file system has folders of their own."""
        if self.is_local:
            for name in names:
                with suppress(OSError):
                    os.rmdir(os.path.join(self.uri, name) if name else self.uri)

    def _make_folders(self, root: str, parts: Sequence[str]) -> None:
        """Makes folders below a root, but never the root.

        Raises:
            ConfigError: there is no such root.
        """
        path = os.path.join(self.uri, root)
        try:
            for part in parts:
                path = os.path.join(path, part)
                with suppress(FileExistsError):
                    os.mkdir(path)
        except FileNotFoundError:
            raise ConfigError(
                f"{self._shown(root)} is missing: the job was ended, or this worker does not see"
                " the driver's files; give a path or URI that driver and executors share"
            ) from None

    def _located(self, name: str) -> tuple[Any, str]:
        files, root = (LocalFileSystem(), self.uri) if self.is_local else file_system_of(self.uri)
        return files, f"{root.rstrip('/')}/{name}".rstrip("/") or "/"

    def _shown(self, name: str) -> str:
        return f"{self.uri}/{name}" if name else self.uri


def _make_all(path: str) -> None:
    """Makes a folder with those above it, while other jobs remove what they find empty."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError):
            os.makedirs(path, exist_ok=True)
            return
    os.makedirs(path, exist_ok=True)
