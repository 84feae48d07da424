"""Versions of a set of filters under a URI.

    set.json              the options of the set; never changes
    versions/<number>     a version: the list of its parts; numbers have no gaps
    blobs/<number>/…      the new files of a version
    pins/<query>/<batch>  the version that a micro-batch of a query uses

Contract. A writer commits a version by creating its file, which only one writer can do; the others
get a `ConflictError` and have changed nothing. A version and its files are kept for `keep_for`
after the next version was made; then any commit may remove them. The first task of a micro-batch
creates its pin and the other tasks read it, so that all tasks of the batch use one version, also
when tasks are retried or the batch is replayed. The last hundred pins of a query are kept, as many
as Spark keeps of its own batches.
"""

import time
import uuid
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from wherecast.model import ConfigError, ConflictError, Schema, SnapshotError, WherecastError
from wherecast.pipeline.filters.filter_changes import ChangeCounts
from wherecast.pipeline.filters.manifests import packed, unpacked
from wherecast.pipeline.filters.stored_filters import Folder, StoredFilters, schema_dict, schema_of
from wherecast.store.blobs.blobs import Blobs, MissingBlob

_SET = "set.json"
_PINS_KEPT = 100
_LOOK_AHEAD_S = 30  # shorter than the shortest keep_for


@dataclass(frozen=True, slots=True)
class SetOptions:
    """The options of a set of filters.

    Attributes:
        schema: the schema of the publications.
        enforced: whether publications that violate the schema are refused.
        keep: the further columns of the filters that the set keeps.
        keep_for_s: how long a version is kept after the next version was made.
        id, filter: the columns of the ids and of the filters in added filters.
    """

    schema: Schema
    enforced: bool
    keep: tuple[str, ...] = ()
    keep_for_s: float = 7 * 86_400.0
    id: str = "id"
    filter: str = "filter"

    def to_dict(self) -> dict[str, Any]:
        """The options as `from_dict` reads them."""
        rest = ("enforced", "keep", "keep_for_s", "id", "filter")
        return {
            "schema": schema_dict(self.schema),
            **{name: getattr(self, name) for name in rest},
        }

    @staticmethod
    def from_dict(given: dict[str, Any]) -> "SetOptions":
        """The options from a result of `to_dict`."""
        schema, keep = schema_of(given["schema"]), tuple(given["keep"])
        return SetOptions(**{**given, "schema": schema, "keep": keep})


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a set.

    Attributes:
        number: the number of the version, from 1.
        made_s: the time at which the version was made, in seconds since 1970.
        counts: the numbers of added, replaced and removed filters.
        filters: all filters; None before the first filters were added.
        writer: a unique name for the commit that made the version.
        after: the `writer` of the version before.
    """

    number: int
    made_s: float
    counts: ChangeCounts
    filters: StoredFilters | None
    writer: str
    after: str | None


class FilterVersions:
    """The versions under a URI. Threads and processes may share a URI, each with its own object."""

    def __init__(self, blobs: Blobs, clock: Callable[[], float] = time.time) -> None:
        self.blobs = blobs
        self.uri = blobs.uri
        self._clock = clock
        self._newest = (0, 0.0)  # the newest version that this object saw, and when

    def options(self) -> SetOptions | None:
        """The options of the set, or None if there is no set."""
        found = self._read(_SET)
        return None if found is None else SetOptions.from_dict(found)

    def make(self, options: SetOptions) -> SetOptions:
        """Makes an empty set unless there is one; returns the options of the existing set.

        Raises:
            ConfigError: the options would be read back as others; nothing was written.
        """
        content = packed(options.to_dict())
        if SetOptions.from_dict(unpacked(content, _SET)) != options:
            raise ConfigError("this schema cannot be stored: it would be read as another one")
        # The version comes first, so that a set with options is complete whenever its maker dies.
        self._create(Version(1, self._clock(), ChangeCounts(), None, uuid.uuid4().hex, None))
        self.blobs.create(_SET, content)
        made = self.options()
        assert made is not None
        return made

    def latest(self) -> int:
        """The number of the newest version."""
        now = self._clock()
        number, seen_s = self._newest
        if number and 0 <= now - seen_s < _LOOK_AHEAD_S:
            # Versions made since then are too young to be removed, so there are no gaps.
            while self.blobs.exists(_name(number + 1)):
                number += 1
        else:
            numbers = self._numbers()
            if not numbers:
                raise SnapshotError(
                    f"there is no set of filters at {self.uri}, as seen from this host"
                )
            number = numbers[-1]
        self._newest = (number, now)
        return number

    def read(self, number: int) -> Version:
        """The version with a number.

        Raises:
            SnapshotError: the version was removed, never existed, or is damaged.
        """
        found = self._version(number)
        if found is None:
            gone = f"version {number} of the filters at {self.uri} is not there (any more)"
            kept = self._numbers()
            one = len(kept) == 1
            there = f"version {kept[0]} is" if one else f"versions {kept[0]} to {kept[-1]} are"
            raise SnapshotError(f"{gone}; {there} kept" if kept else gone)
        return found

    def all(self) -> list[Version]:
        """The versions that are kept, the oldest first."""
        found = map(self._version, self._numbers())
        return [version for version in found if version is not None]  # one may have been removed

    def folder(self, number: int) -> Folder:
        """The folder for the files of a new version."""
        return Folder(self.blobs, f"blobs/{number:020}")

    def commit(self, before: Version, filters: StoredFilters, counts: ChangeCounts) -> Version:
        """Makes the version after `before`, which must be the newest; removes expired versions.

        Raises:
            ConflictError: another writer made this version; nothing changed.
        """
        number, writer = before.number + 1, uuid.uuid4().hex
        version = Version(number, self._clock(), counts, filters, writer, before.writer)
        made = self._create(version)
        numbers = self._numbers()
        if not made or self._is_late(version, numbers):
            raise ConflictError(
                f"another writer made version {number} of the filters at {self.uri}; nothing was"
                " changed, try again"
            )
        self._newest = (number, version.made_s)
        try:
            self._remove_old(numbers)
        except WherecastError as error:  # the commit itself has succeeded
            warnings.warn(f"old versions of filters are not removed: {error}", stacklevel=2)
        return version

    def pin(self, query: str, batch: int) -> int:
        """The version that a micro-batch uses: the newest one at the call of its first task."""
        name = f"pins/{query}/{batch:020}"
        found = self._read(name)
        if found is None:
            if self.blobs.create(name, packed({"version": self.latest()})):
                self.blobs.delete(f"pins/{query}/{batch - _PINS_KEPT:020}")
            found = unpacked(self.blobs.read(name), f"{self.uri}/{name}")
        return int(found["version"])

    def _read(self, name: str) -> dict[str, Any] | None:
        """The content of a manifest, or None if it does not exist."""
        try:
            content = self.blobs.read(name)
        except MissingBlob:
            return None
        return unpacked(content, f"{self.uri}/{name}")

    def _version(self, number: int) -> Version | None:
        given = self._read(_name(number))
        if given is None:
            return None
        stored = given.pop("filters")
        filters = None if stored is None else StoredFilters.from_dict(stored)
        return Version(
            number, filters=filters, **{**given, "counts": ChangeCounts(**given["counts"])}
        )

    def _numbers(self) -> list[int]:
        names = (name.rpartition("/")[2] for name in self.blobs.names("versions"))
        return [int(name) for name in names if name.isdecimal()]

    def _create(self, version: Version) -> bool:
        """Creates the file of a version; returns whether the file holds this version then."""
        stored = version.filters
        content = packed(
            {
                "made_s": version.made_s,
                "counts": asdict(version.counts),
                "filters": None if stored is None else stored.to_dict(),
                "writer": version.writer,
                "after": version.after,
            }
        )
        name = _name(version.number)
        # A network may lose the answer to a successful write, so the content decides.
        return self.blobs.create(name, content) or self._is_there(name, content)

    def _is_there(self, name: str, content: bytes) -> bool:
        try:
            return self.blobs.read(name) == content
        except MissingBlob:  # removed since
            return False

    def _is_late(self, version: Version, numbers: list[int]) -> bool:
        """Whether an expired version of another writer had this number; if so, deletes the file.

        A writer that takes longer than versions are kept finds the name of the expired version
        free again. Its version is then not the newest, and the next version did not follow it.
        """
        if numbers[-1:] == [version.number]:
            return False
        following = self._version(version.number + 1)
        if following is not None and following.after == version.writer:
            return False
        self.blobs.delete(_name(version.number))
        return True

    def _remove_old(self, numbers: list[int]) -> None:
        """Removes expired versions, and the files that only they use.

        Several writers may do so at once; versions that another writer has removed are skipped.
        """
        options = self.options()
        assert options is not None
        oldest = None
        for number, following in pairwise(numbers):
            next_ = self._version(following)
            if next_ is None:
                continue
            if self._clock() - next_.made_s < options.keep_for_s:
                break
            self.blobs.delete(_name(number))
            oldest = next_
        if oldest is not None:
            self._remove_files(oldest)

    def _remove_files(self, oldest: Version) -> None:
        """Removes the files of versions up to `oldest` that `oldest` does not use.

        A version uses only files of the version before and its own new files. So a file of an
        earlier version that `oldest` does not use is not used by any later version.
        """
        used = set() if oldest.filters is None else set(oldest.filters.blobs)
        for name in self.blobs.names("blobs"):
            number = name.split("/")[1]  # files with other names are ignored
            if number.isdecimal() and int(number) <= oldest.number and name not in used:
                self.blobs.delete(name)


def _name(number: int) -> str:
    return f"versions/{number:020}"
