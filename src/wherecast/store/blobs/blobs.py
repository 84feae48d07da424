"""Named byte blobs under a URI: what every kind of store promises, and how to open one.

Contract. A blob appears whole or not at all, under `create` and `put_file` alike: no reader sees
part of one, and a writer that dies leaves no blob. It is never changed after that, only deleted.
What one process wrote, every other process sees at once.

Names are relative, their parts joined by `/`; no part begins with a dot. A store keeps files of its
own beside the blobs under such names (unfinished writes, for one): `names` does not list them, and
those that are older than a day may be deleted at any time.
"""

import re
from pathlib import Path
from typing import Protocol

from wherecast.model.errors import ConfigError, SnapshotError

SAFE = "they are on paths, s3://, gs:// and abfs://"
# `word:/…` has a scheme. `word:…` is a path, as file names may have colons.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")
_NAME = re.compile(r"[^/.\0][^/\0]*(/[^/.\0][^/\0]*)*")


class MissingBlob(SnapshotError):
    """A blob that is not there.

    Attributes:
        uri: the store.
        name: the blob.
    """

    def __init__(self, uri: str, name: str) -> None:
        self.uri = uri
        self.name = name
        super().__init__(uri, name)

    def __str__(self) -> str:
        return f"{self.name} is missing in {self.uri}"


class Blobs(Protocol):
    """Named byte blobs under a URI. Can be pickled, and used after a fork.

    Every method raises ConfigError, in one line that names the place, where the store cannot be
    reached, read or written.

    Attributes:
        uri: place of the blobs; `open_blobs(uri)` opens the same blobs, from any directory.
    """

    uri: str

    def read(self, name: str) -> bytes:
        """The content of a blob.

        Raises:
            MissingBlob: no blob has that name.
        """
        ...

    def create(self, name: str, content: bytes) -> bool:
        """Makes a blob with its content in one step; returns whether this call made it.

        If the name is taken, the blob stays as it is, and the result is False. Of any number of
        writers one gets True, if the store was opened as `conditional`. A network may lose the
        answer to a write that was done, and the retry then finds the blob: content that names its
        writer tells the two cases apart.
        """
        ...

    def put_file(self, name: str, path: Path) -> None:
        """Copies a local file to a blob, whole or not at all.

        For names that are made from the content: if the name is taken, nothing is copied.
        """
        ...

    def fetch(self, name: str, path: Path) -> None:
        """Copies a blob to a local file, which is unfinished where this fails.

        Raises:
            MissingBlob: no blob has that name.
            OSError: the local file cannot be written.
        """
        ...

    def local_path(self, name: str) -> Path | None:
        """The path at which a blob that exists can be mapped; None if the store is remote."""
        ...

    def names(self, under: str) -> list[str]:
        """The names of all blobs below a folder, sorted; `""` is the whole store."""
        ...

    def exists(self, name: str) -> bool:
        """Whether a blob of that name exists; a folder is no blob."""
        ...

    def delete(self, name: str) -> None:
        """Deletes a blob if it exists. A process that has mapped the blob keeps its content."""
        ...


def open_blobs(uri: str | Path, conditional: bool = False) -> Blobs:
    """The blobs under a path, a `file:` URI or the URI of a remote store.

    Args:
        uri: the place. A folder that is missing is made by the first write.
        conditional: whether `create` must be safe with two writers.

    Raises:
        ConfigError: the scheme is not known, its library is missing, or the store cannot do what
            `conditional` asks for.
    """
    # Each kind of store imports its libraries, so only the one that is asked for is imported.
    from wherecast.store.blobs.posix_blobs import PosixBlobs, path_of

    if isinstance(uri, Path):
        return PosixBlobs(uri)
    scheme = scheme_of(uri)
    if scheme in ("", "file"):
        return PosixBlobs(path_of(uri) if scheme else Path(uri))
    from wherecast.store.blobs.object_blobs import LIBRARIES, ObjectBlobs

    if scheme in LIBRARIES:
        return ObjectBlobs(uri, conditional)
    if conditional:
        raise ConfigError(f"cannot use {uri}: two writers are not safe on {scheme}://; {SAFE}")
    from wherecast.store.blobs.arrow_blobs import ArrowBlobs

    return ArrowBlobs(uri)


def scheme_of(uri: str) -> str:
    """The scheme of a URI in lower case, empty for a plain path."""
    found = _SCHEME.match(uri)
    return found.group(1).lower() if found else ""


def checked_name(name: str) -> str:
    """The name, if it can be the name of a blob (or of a folder of blobs).

    Raises:
        ConfigError: it cannot; with it a store could be left by `..`, for one.
    """
    if is_name(name):
        return name
    raise ConfigError(f"{name!r} cannot be the name of a blob: parts begin with no dot")


def is_name(name: str) -> bool:
    """Whether a text can be the name of a blob."""
    return _NAME.fullmatch(name) is not None
