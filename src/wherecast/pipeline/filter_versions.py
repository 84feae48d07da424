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

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise

from wherecast.model import ConflictError, Schema, SnapshotError
from wherecast.pipeline.filter_changes import Counts
from wherecast.pipeline.stored import FORMAT, Folder, StoredFilters, schema_of
from wherecast.store.blobs import Blobs, MissingBlob, open_blobs

_SET = "set.json"
_PINS_KEPT = 100
_LOOK_AHEAD_S = 30  # less than any version is kept
_latest: dict[str, tuple[int, float]] = {}  # by URI: what this process saw last, and when


@dataclass(frozen=True, slots=True)
class SetOptions:
    """What a set of filters was made for.

    Attributes:
        schema: of the publications.
        enforced: whether it also decides which publications are good.
        keep: the further columns of the filters that the set keeps.
        keep_for_s: how long a version is kept after the next one was made.
    """

    schema: Schema
    enforced: bool
    keep: tuple[str, ...]
    keep_for_s: float

    def to_json(self) -> bytes:
        """The options as `from_json` reads them."""
        schema = {"attributes": self.schema.to_dict(), "open": self.schema.open}
        schema["unsupported"] = dict(self.schema.unsupported)
        rest = {"enforced": self.enforced, "keep": self.keep, "keep_for_s": self.keep_for_s}
        return json.dumps({"format": FORMAT, "schema": schema, **rest}).encode()

    @staticmethod
    def from_json(text: bytes) -> "SetOptions":
        """The options in a JSON text that `to_json` wrote."""
        given = json.loads(text)
        return SetOptions(
            schema_of(given["schema"]), given["enforced"], tuple(given["keep"]), given["keep_for_s"]
        )


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a set.

    Attributes:
        number: counted from 1.
        made_s: when it was made, in seconds since 1970.
        counts: what changed.
        filters: all filters, None before the first were added.
    """

    number: int
    made_s: float
    counts: Counts
    filters: StoredFilters | None


class FilterVersions:
    """The versions under a URI. Threads and processes may share a URI, each with its own object."""

    def __init__(self, uri: str, clock: Callable[[], float] = time.time) -> None:
        self.blobs: Blobs = open_blobs(uri, conditional=True)
        self.uri = self.blobs.uri
        self._clock = clock

    def options(self) -> SetOptions | None:
        """What the set was made for, None where there is no set."""
        try:
            content = self.blobs.read(_SET)
        except MissingBlob:
            return None
        return SetOptions.from_json(self._checked(content, _SET))

    def make(self, options: SetOptions) -> SetOptions:
        """Makes an empty set; returns the options of the one that is there then."""
        self.blobs.create(_SET, options.to_json())
        made = self.options()
        assert made is not None
        self._create(Version(1, self._clock(), Counts(), None))
        return made

    def latest(self) -> int:
        """The number of the newest version."""
        now = self._clock()
        number, seen_s = _latest.get(self.uri, (0, 0.0))
        if number and 0 <= now - seen_s < _LOOK_AHEAD_S:
            # What followed was there after that, so it was not removed yet: no gaps.
            while self.blobs.exists(_name(number + 1)):
                number += 1
        else:
            names = self.blobs.names("versions")
            if not names:
                raise SnapshotError(f"there is no set of filters at {self.uri}")
            number = int(names[-1].rpartition("/")[2])
        _latest[self.uri] = (number, now)
        return number

    def read(self, number: int) -> Version:
        """A version.

        Raises:
            SnapshotError: it was removed, or never was, or is damaged.
        """
        try:
            content = self.blobs.read(_name(number))
        except MissingBlob:
            raise SnapshotError(
                f"version {number} of the filters at {self.uri} is not there (any more)"
            ) from None
        given = json.loads(self._checked(content, _name(number)))
        filters = given["filters"]
        stored = None if filters is None else StoredFilters.from_json(json.dumps(filters))
        return Version(number, given["made_s"], Counts(**given["counts"]), stored)

    def folder(self, number: int) -> Folder:
        """Where the files of a version go that is being made."""
        return Folder(self.blobs, f"blobs/{number:020}")

    def commit(self, number: int, filters: StoredFilters, counts: Counts) -> Version:
        """Makes a version, the next one after the newest; removes what is due.

        Raises:
            ConflictError: another writer made it; nothing changed.
        """
        version = Version(number, self._clock(), counts, filters)
        if not self._create(version):
            raise ConflictError(
                f"another writer made version {number} of the filters at {self.uri}; nothing was"
                " changed, try again"
            )
        _latest[self.uri] = (number, self._clock())
        self._remove_old()
        return version

    def pin(self, query: str, batch: int) -> int:
        """The version that a micro-batch uses: the newest when the first task asks."""
        name = f"pins/{query}/{batch:020}"
        if not self.blobs.exists(name) and self.blobs.create(name, b"%d" % self.latest()):
            self.blobs.delete(f"pins/{query}/{batch - _PINS_KEPT:020}")
        return int(self.blobs.read(name))

    def _create(self, version: Version) -> bool:
        """Makes the file of a version; whether it is this one that is there then."""
        stored = version.filters
        writer = uuid.uuid4().hex  # tells a lost answer from another writer
        content = json.dumps(
            {
                "format": FORMAT,
                "made_s": version.made_s,
                "writer": writer,
                "counts": asdict(version.counts),
                "filters": None if stored is None else json.loads(stored.to_json()),
            },
            indent=1,
        ).encode()
        name = _name(version.number)
        return self.blobs.create(name, content) or self.blobs.read(name) == content

    def _remove_old(self) -> None:
        """Removes versions that were kept long enough, and the files that only they had."""
        options = self.options()
        assert options is not None
        numbers = [int(name.rpartition("/")[2]) for name in self.blobs.names("versions")]
        oldest = numbers[0]
        for number, following in pairwise(numbers):
            if self._clock() - self.read(following).made_s < options.keep_for_s:
                break
            self.blobs.delete(_name(number))
            oldest = following
        if oldest != numbers[0]:
            self._remove_files(oldest)

    def _remove_files(self, oldest: int) -> None:
        """Removes the files of versions up to the oldest that is kept, if that does not use them.

        A version uses what the one before used, or came with itself. So what the oldest does not
        use of the files up to it, no later one uses.
        """
        filters = self.read(oldest).filters
        used = set() if filters is None else set(filters.blobs)
        for name in self.blobs.names("blobs"):
            if int(name.split("/")[1]) <= oldest and name not in used:
                self.blobs.delete(name)

    def _checked(self, content: bytes, name: str) -> bytes:
        try:
            format_ = json.loads(content)["format"]
        except (ValueError, KeyError, TypeError):
            raise SnapshotError(f"{self.uri}/{name} is damaged") from None
        if format_ > FORMAT:
            raise SnapshotError(
                f"{self.uri}/{name} has format {format_}, this version reads up to {FORMAT};"
                " a newer Wherecast wrote it"
            )
        return content


def _name(number: int) -> str:
    return f"versions/{number:020}"
