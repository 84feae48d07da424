"""Versions of a set of filters under a URI.

    set.json              what the set was made for; never changes
    versions/<number>     a version: the list of its parts; numbers have no gaps
    blobs/<number>/…      the files that came with a version
    pins/<query>/<batch>  the version that a micro-batch of a query uses

Contract. A version is committed by making its file, which only one writer can do; the others get a
`ConflictError` and have changed nothing. A version and its files are kept for a stated time after
the next one was made, and may then be removed by whoever commits. A pin is made by the first task
that asks and read by all others, so that all tasks of a micro-batch use one version, also when
they are tried again or the batch is replayed. The last hundred pins of a query are kept, as many as
Spark keeps of its own batches.
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
_LOOK_AHEAD_S = 30  # less than any version is kept


@dataclass(frozen=True, slots=True)
class SetOptions:
    """What a set of filters was made for.

    Attributes:
        schema: of the publications.
        enforced: whether it also decides which publications are good.
        keep: the further columns of the filters that the set keeps.
        keep_for_s: how long a version is kept after the next one was made.
        id, filter: the columns with the ids and the filters, in what is added.
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
        """The options that `to_dict` gave."""
        schema, keep = schema_of(given["schema"]), tuple(given["keep"])
        return SetOptions(**{**given, "schema": schema, "keep": keep})


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a set.

    Attributes:
        number: counted from 1.
        made_s: when it was made, in seconds since 1970.
        counts: what changed.
        filters: all filters, None before the first were added.
        writer: a name for who made it, never used again.
        after: the writer of the version before.
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
        self._newest = (0, 0.0)  # what this object saw last, and when

    def options(self) -> SetOptions | None:
        """What the set was made for, None where there is no set."""
        found = self._read(_SET)
        return None if found is None else SetOptions.from_dict(found)

    def make(self, options: SetOptions) -> SetOptions:
        """Makes an empty set; returns the options of the one that is there then.

        Raises:
            ConfigError: what was written would be read as something else; nothing was written.
        """
        content = packed(options.to_dict())
        if SetOptions.from_dict(unpacked(content, _SET)) != options:
            raise ConfigError("this schema cannot be stored: it would be read as another one")
        # The version first: with the options a set is complete, whenever its maker dies.
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
            # What followed was there after that, so it was not removed yet: no gaps.
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
        """A version.

        Raises:
            SnapshotError: it was removed, or never was, or is damaged.
        """
        found = self._version(number)
        if found is None:
            gone = f"version {number} of the filters at {self.uri} is not there (any more)"
            raise SnapshotError(gone)
        return found

    def folder(self, number: int) -> Folder:
        """Where the files of a version go that is being made."""
        return Folder(self.blobs, f"blobs/{number:020}")

    def commit(self, before: Version, filters: StoredFilters, counts: ChangeCounts) -> Version:
        """Makes the version after another, which must be the newest; removes what is due.

        Raises:
            ConflictError: another writer made it; nothing changed.
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
        except WherecastError as error:  # the version is made all the same
            warnings.warn(f"old versions of filters are not removed: {error}", stacklevel=2)
        return version

    def pin(self, query: str, batch: int) -> int:
        """The version that a micro-batch uses: the newest when the first task asks."""
        name = f"pins/{query}/{batch:020}"
        found = self._read(name)
        if found is None:
            if self.blobs.create(name, packed({"version": self.latest()})):
                self.blobs.delete(f"pins/{query}/{batch - _PINS_KEPT:020}")
            found = unpacked(self.blobs.read(name), f"{self.uri}/{name}")
        return int(found["version"])

    def _read(self, name: str) -> dict[str, Any] | None:
        """A manifest, None where there is none."""
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
        """Makes the file of a version; whether it is this one that is there then."""
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
        # A network may lose the answer to a write that was done: the content tells.
        return self.blobs.create(name, content) or self._is_there(name, content)

    def _is_there(self, name: str, content: bytes) -> bool:
        try:
            return self.blobs.read(name) == content
        except MissingBlob:  # removed since
            return False

    def _is_late(self, version: Version, numbers: list[int]) -> bool:
        """Whether the number was another's, whose version was removed before this one was made.

        A writer that takes longer than versions are kept finds the name free again. It is then not
        the newest, and what follows did not follow it.
        """
        if numbers[-1:] == [version.number]:
            return False
        following = self._version(version.number + 1)
        if following is not None and following.after == version.writer:
            return False
        self.blobs.delete(_name(version.number))
        return True

    def _remove_old(self, numbers: list[int]) -> None:
        """Removes versions that were kept long enough, and the files that only they had.

        Several writers may do so at once: what another one has removed is passed over.
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
        """Removes the files of versions up to the oldest that is kept, if that does not use them.

        A version uses what the one before used, or came with itself. So what the oldest does not
        use of the files up to it, no later one uses.
        """
        used = set() if oldest.filters is None else set(oldest.filters.blobs)
        for name in self.blobs.names("blobs"):
            number = name.split("/")[1]  # a file of another kind is left alone
            if number.isdecimal() and int(number) <= oldest.number and name not in used:
                self.blobs.delete(name)


def _name(number: int) -> str:
    return f"versions/{number:020}"
