"""What all stores of blobs share: names are checked, and errors become those of the contract.

A subclass does the bare work, on names that are valid, and raises what its library raises.
"""

import errno
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from typing_extensions import override

from wherecast.model.errors import ConfigError, WherecastError, reason_of
from wherecast.store.blobs.blobs import Blobs, MissingBlob, checked_name, is_name

PIECE_BYTES = 1 << 20
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # of the local disk, where a blob is read


class CheckedBlobs(Blobs):
    """Named byte blobs under a URI, over the bare calls of a file system or object store."""

    def __init__(self, uri: str) -> None:
        self.uri = uri

    @override
    def read(self, name: str) -> bytes:
        with self._at("read", checked_name(name)):
            return self._read(name)

    @override
    def create(self, name: str, content: bytes) -> bool:
        with self._at("write", checked_name(name)):
            return self._create(name, content)

    @override
    def put_file(self, name: str, path: Path) -> None:
        with path.open("rb") as source, self._at("write", checked_name(name)):
            if not self._exists(name):
                self._put(name, source)

    @override
    def fetch(self, name: str, path: Path) -> None:
        with path.open("wb") as target, self._at("read", checked_name(name)):
            self._fetch(name, target)

    @override
    def local_path(self, name: str) -> Path | None:
        return None

    @override
    def names(self, under: str) -> list[str]:
        with suppress(MissingBlob), self._at("list", checked_name(under) if under else ""):
            return sorted(filter(is_name, self._names(under)))
        return []

    @override
    def exists(self, name: str) -> bool:
        with suppress(MissingBlob), self._at("read", checked_name(name)):
            return self._exists(name)
        return False

    @override
    def delete(self, name: str) -> None:
        with suppress(MissingBlob), self._at("delete", checked_name(name)):
            self._delete(name)

    @abstractmethod
    def _read(self, name: str) -> bytes: ...

    @abstractmethod
    def _create(self, name: str, content: bytes) -> bool: ...

    @abstractmethod
    def _put(self, name: str, source: BinaryIO) -> None:
        """Copies an open local file in; its `name` is its path. No blob of that name was there."""

    @abstractmethod
    def _fetch(self, name: str, target: BinaryIO) -> None:
        """Copies a blob to an open local file, whose `name` is its path."""

    @abstractmethod
    def _names(self, under: str) -> Iterable[str]:
        """The names in a folder and its folders, in any order, those of other files too."""

    @abstractmethod
    def _exists(self, name: str) -> bool: ...

    @abstractmethod
    def _delete(self, name: str) -> None: ...

    def _place(self, name: str) -> str:
        """How an error names a blob."""
        return f"{self.uri}/{name}"

    @contextmanager
    def _at(self, action: str, name: str) -> Iterator[None]:
        """Errors of a call as those of the contract, in one line that names the blob."""
        with as_config_error(action, self._place(name)):
            try:
                yield
            except (FileNotFoundError, NotADirectoryError):
                if action == "write":  # then what the blob would be in is missing
                    raise
                raise MissingBlob(self.uri, name) from None


@contextmanager
def as_config_error(action: str, place: str) -> Iterator[None]:
    """Whatever a library raises, as a ConfigError that names the place.

    A full local disk stays an OSError where a blob is copied to it.
    """
    try:
        yield
    except WherecastError:
        raise
    except Exception as error:
        # Each library has a tree of its own, and errors of the network from below it.
        if action == "read" and isinstance(error, OSError) and error.errno in _FULL:
            raise
        raise ConfigError(f"cannot {action} {place}: {reason_of(error)}") from error
