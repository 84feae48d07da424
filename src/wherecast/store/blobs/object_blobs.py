"""Blobs as objects of a store with conditional writes, through fsspec.

Contract. `create` is one conditional write, "if there is no such object", so it is safe with any
number of writers on every host. Some servers that speak S3 ignore the condition: opening a store as
`conditional` tries that out, with an object `.conditional` that it keeps there.

The libraries read their settings from where their users expect them: the environment, files such as
`~/.aws`, the machine's role. Listings are never cached. A file system is looked up for each call,
in fsspec's own cache of them, so these blobs can be pickled and used after a fork.
"""

import importlib
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, BinaryIO

from typing_extensions import override

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.blobs import SAFE, scheme_of
from wherecast.store.blobs.checked_blobs import CheckedBlobs, as_config_error

LIBRARIES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "az": "adlfs",
}
_PROBE = ".conditional"
_ATTEMPTS_MAX = 8
_TAKEN, _CONFLICT = 412, 409  # HTTP status


class ObjectBlobs(CheckedBlobs):
    """Blobs as objects whose names begin with a prefix."""

    def __init__(self, uri: str, conditional: bool = False) -> None:
        super().__init__(uri.rstrip("/"))
        self._opened()
        if conditional:
            self._try_conditions()

    @override
    def _read(self, name: str) -> bytes:
        files, path = self._located(name)
        return bytes(files.cat_file(path))

    @override
    def _create(self, name: str, content: bytes) -> bool:
        files, path = self._located(name)
        for attempt in range(_ATTEMPTS_MAX):
            try:
                files.pipe_file(path, content, mode="create")
            except FileExistsError:
                return False
            except OSError as error:
                status = _status(error)
                if status == _TAKEN:
                    return False
                # Another write to that name is under way, and may yet fail.
                if status != _CONFLICT or attempt == _ATTEMPTS_MAX - 1:
                    raise
                time.sleep(0.05 * 2**attempt)
            else:
                return True
        raise AssertionError("the last attempt returns or raises")

    @override
    def _put(self, name: str, source: BinaryIO) -> None:
        files, path = self._located(name)
        with suppress(FileExistsError):  # where another was faster, it had the same bytes
            files.put_file(source.name, path)

    @override
    def _fetch(self, name: str, target: BinaryIO) -> None:
        files, path = self._located(name)
        files.get_file(path, target.name)

    @override
    def _names(self, under: str) -> Iterable[str]:
        files, folder = self._located(under)
        # What is named like the folder, or marks it, is not in it.
        top = folder.rstrip("/") + "/"
        root = top if not under else top[: -len(under) - 1]
        return [path[len(root) :] for path in files.find(folder) if path.startswith(top)]

    @override
    def _exists(self, name: str) -> bool:
        files, path = self._located(name)
        try:
            return bool(files.info(path)["type"] == "file")
        except FileNotFoundError:
            return False

    @override
    def _delete(self, name: str) -> None:
        files, path = self._located(name)
        files.rm_file(path)

    def _try_conditions(self) -> None:
        """Makes sure that the store refuses to write an object that is there."""
        with self._at("write", _PROBE):
            is_ignored = self._create(_PROBE, b"") and self._create(_PROBE, b"")
        if is_ignored:
            why = "this store ignores conditional writes, so two writers are not safe"
            raise ConfigError(f"cannot use {self.uri}: {why}; {SAFE}")

    def _located(self, name: str) -> tuple[Any, str]:
        """The file system, and the path of a blob or folder in it."""
        files, root = self._opened()
        return files, f"{root.rstrip('/')}/{name}"

    def _opened(self) -> tuple[Any, str]:
        """The file system, and where the blobs are in it."""
        library = LIBRARIES[scheme_of(self.uri)]
        try:
            importlib.import_module(library)
            from fsspec.core import url_to_fs
        except ImportError as error:
            needs = f"reading {self.uri} needs {library}: pip install '{library}'"
            raise ConfigError(needs) from error
        with as_config_error("open", self.uri):
            files, root = url_to_fs(self.uri, use_listings_cache=False)
        return files, root


def _status(error: OSError) -> int | None:
    """The HTTP status of an answer that s3fs has no Python error for.

    It knows a failed condition by a field that not every server that speaks S3 sends.
    """
    answer = getattr(error.__cause__, "response", None) or {}
    status: int | None = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status
