"""The location of the blobs of filters: the URI they were written to, or the files of Spark."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import pyarrow as pa

from wherecast.model import Schema, SnapshotError
from wherecast.pipeline.filters.filter_loading import load
from wherecast.pipeline.filters.filter_table import FilterPart
from wherecast.pipeline.filters.loaded_filters import LoadedFilters
from wherecast.pipeline.filters.stored_filters import Folder, StoredFilters, store_part
from wherecast.store.blobs.blobs import Blobs, MissingBlob, open_blobs, scheme_of
from wherecast.store.blobs.host_cache import HostCache

host_cache = cache(HostCache)  # one per process


def blobs_at(uri: str) -> Blobs:
    """The blobs under a path or a URI; a process opens each once."""
    return _blobs_at(
        uri if scheme_of(uri) else os.path.abspath(uri)
    )  # the working directory may change


_blobs_at = cache(open_blobs)


@dataclass(frozen=True, slots=True)
class Place:
    """The location of blobs.

    Attributes:
        uri: the URI under which the blobs were written.
        shipped: whether Spark also distributes the blobs, as files of the session.
    """

    uri: str
    shipped: bool = False

    def open(self, name: str) -> Path:
        """The verified local file of a blob; a remote blob is copied once per host.

        Raises:
            SnapshotError: the blob is missing or damaged.
        """
        short, there = name.rpartition("/")[2], blobs_at(self.uri).local_path(name)
        return host_cache().path(short, partial(self._copy, name), there, f"{self.uri}/{name}")

    def _copy(self, name: str, path: Path) -> None:
        shipped = self._shipped(name.rpartition("/")[2])
        if shipped is not None:
            _link_or_copy(shipped, path)
            return
        try:
            blobs_at(self.uri).fetch(name, path)
        except MissingBlob as error:
            there = blobs_at(self.uri).local_path(name)
            if there is None or there.parent.exists():
                raise SnapshotError(f"{error}; the filters are damaged") from None
            raise SnapshotError(
                f"the filters are not at {self.uri} as seen from this host: save them where driver"
                " and executors can read them, with filters.save(uri) and load_filters(uri)"
            ) from None

    def _shipped(self, name: str) -> Path | None:
        """The file that Spark distributed, or None."""
        if not self.shipped:
            return None
        from pyspark import SparkFiles

        path = Path(SparkFiles.get(name))
        return path if path.exists() else None


@dataclass(frozen=True, slots=True)
class PlacedFilters:
    """Filters by the names of their blobs, with the location of the blobs."""

    stored: StoredFilters
    place: Place

    def load(self) -> LoadedFilters:
        """The filters, memory-mapped in this process."""
        return load(self.stored, self.place.open)


def store_in_directory(
    part: FilterPart, id_type: pa.DataType, schema: Schema, enforced: bool, directory: Path
) -> PlacedFilters:
    """Stores filters of this process in a directory, from which tasks load them."""
    blobs = open_blobs(directory)
    parts = (store_part(part, Folder(blobs)),) if len(part.part) else ()
    stored = StoredFilters(schema, enforced, "[]", str(id_type), parts)
    return PlacedFilters(stored, Place(blobs.uri))


def _link_or_copy(source: Path, target: Path) -> None:
    link: Callable[[Path, Path], None] = os.link
    with suppress(OSError):  # another file system, or one without links
        target.unlink(missing_ok=True)
        link(source, target)
        return
    shutil.copyfile(source, target)
