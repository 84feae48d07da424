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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from wherecast.model.errors import ConfigError
from wherecast.store.blobs.blobs import SAFE, MissingBlob, checked_name, is_name, scheme_of
from wherecast.store.blobs.remote_errors import reason, told

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


class ObjectBlobs:
    """Blobs as objects whose names begin with a prefix."""

    def __init__(self, uri: str, conditional: bool = False) -> None:
        self.uri = uri.rstrip("/")
        self._opened()
        if conditional:
            self._try_conditions()

    def read(self, name: str) -> bytes:
        """The content of a blob."""
        with self._at("read", checked_name(name)) as (files, path):
            return bytes(files.cat_file(path))

    def create(self, name: str, content: bytes) -> bool:
        """Makes a blob with its content, in one step, and says whether this call made it."""
        return self._create(checked_name(name), content)

    def put_file(self, name: str, path: Path) -> None:
        """Copies a local file in, whole or not at all, where there is none of that name."""
        if self.exists(name):
            return
        # Where another was faster, it had the same bytes.
        with self._at("write", name) as (files, target), suppress(FileExistsError):
            files.put_file(str(path), target)

    def fetch(self, name: str, path: Path) -> None:
        """Copies a blob to a local file."""
        with self._at("read", checked_name(name)) as (files, source):
            files.get_file(source, str(path))

    def local_path(self, name: str) -> None:
        """None: the store is remote."""

    def names(self, under: str) -> list[str]:
        """The names of all blobs in a folder and its folders, sorted."""
        with suppress(MissingBlob), self._at("list", checked_name(under) if under else "") as found:
            files, folder = found
            # What is named like the folder, or marks it, is not in it.
            top = folder.rstrip("/") + "/"
            root = top if not under else top[: -len(under) - 1]
            inside = [path[len(root) :] for path in files.find(folder) if path.startswith(top)]
            return sorted(name for name in inside if is_name(name))
        return []

    def exists(self, name: str) -> bool:
        """Whether there is a blob of that name."""
        with suppress(MissingBlob), self._at("read", checked_name(name)) as (files, path):
            return bool(files.info(path)["type"] == "file")
        return False

    def delete(self, name: str) -> None:
        """Deletes a blob; nothing where there is none."""
        with suppress(MissingBlob), self._at("delete", checked_name(name)) as (files, path):
            files.rm_file(path)

    def _create(self, name: str, content: bytes) -> bool:
        with self._at("write", name) as (files, path):
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

    def _try_conditions(self) -> None:
        """Makes sure that the store refuses to write an object that is there."""
        if self._create(_PROBE, b"") and self._create(_PROBE, b""):
            why = "this store ignores conditional writes, so two writers are not safe"
            raise ConfigError(f"cannot use {self.uri}: {why}; {SAFE}")

    @contextmanager
    def _at(self, action: str, name: str) -> Iterator[tuple[Any, str]]:
        """The file system and a blob's path in it; errors become those of the contract."""
        place = f"{self.uri}/{name}"
        with told(action, place):
            files, root = self._opened()
            try:
                yield files, f"{root.rstrip('/')}/{name}"
            except FileNotFoundError as error:
                if action == "write":  # then the bucket is what is missing
                    raise ConfigError(f"cannot write {place}: {reason(error)}") from error
                raise MissingBlob(self.uri, name) from None

    def _opened(self) -> tuple[Any, str]:
        """The file system, and where the blobs are in it."""
        library = LIBRARIES[scheme_of(self.uri)]
        try:
            importlib.import_module(library)
            from fsspec.core import url_to_fs
        except ImportError as error:
            needs = f"reading {self.uri} needs {library}: pip install '{library}'"
            raise ConfigError(needs) from error
        with told("open", self.uri):
            files, root = url_to_fs(self.uri, use_listings_cache=False)
        return files, root


def _status(error: OSError) -> int | None:
    """The HTTP status of an answer that s3fs has no Python error for.

    It knows a failed condition by a field that not every server that speaks S3 sends.
    """
    answer = getattr(error.__cause__, "response", None) or {}
    status: int | None = answer.get("ResponseMetadata", {}).get("HTTPStatusCode")
    return status
