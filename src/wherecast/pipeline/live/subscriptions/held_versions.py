"""The versions that a roster holds: of whom each one is, and which one stands for each name.

    tables (perhaps mapped)                    additions (small)
      names:    subscriber, id                   new names
      standing: version, stream, by name         standing versions of names that changed
      versions: name, by version                 new versions, dropped versions

Once the additions are a sixteenth of the tables, new tables are made of both.

Concurrency: one thread at a time.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.arrays.vectors import array_of, values_of
from wherecast.pipeline.live.subscriptions.name_table import NameTable
from wherecast.pipeline.live.subscriptions.names import Names
from wherecast.pipeline.live.subscriptions.version_table import VersionTable

Ints = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]
_ADDITIONS_MIN = 4_096
_TABLE_PER_ADDITION = 16
_NAMES_MAX = 4_096  # names that are kept as texts
_NOBODY = -1
_NO_VERSIONS = VersionTable(np.zeros(0, np.int64), np.zeros(0, np.int32))


class HeldVersions:
    """Versions by number, and the standing version of each name.

    Attributes:
        names: of the subscriptions.
        streams: the names of streams, by their numbers here.
    """

    def __init__(self) -> None:
        self.names = Names(NameTable.empty())
        self.streams: list[str] = []
        self._stream_numbers: dict[str, int] = {}
        self._standing = np.zeros(0, np.int64)  # by name in the table; -1: none
        self._standing_streams = np.zeros(0, np.int32)
        self._changed: dict[int, tuple[int, int]] = {}  # name → standing version and stream
        self._versions = _NO_VERSIONS
        self._new: dict[int, int] = {}  # version → name
        self._new_table: VersionTable | None = None
        self._dropped: set[int] = set()
        self._name_cache: dict[int, tuple[str, str]] = {}

    def __len__(self) -> int:
        return len(self._versions) + len(self._new) - len(self._dropped)

    @property
    def rows(self) -> int:
        """Number of rows of the largest table with its additions."""
        versions = len(self._versions) + len(self._new)
        return max(versions, len(self.names), len(self._standing), len(self._dropped))

    def __contains__(self, version: int) -> bool:
        return self.name_of(version) >= 0 and version not in self._dropped

    def enter(self, version: int, subscriber: str, id: str, stream: str) -> int:
        """Holds a version, which stands for its name from now on; the number of its stream."""
        number = self._stream_numbers.get(stream)
        if number is None:
            number = self._stream_numbers[stream] = len(self.streams)
            self.streams.append(stream)
        name = self.names.enter(subscriber, id)
        self._changed[name] = version, number
        self._new[version] = name
        self._new_table = None
        return number

    def end(self, subscriber: str, id: str) -> list[tuple[int, int]]:
        """Takes the standing version off a name; the version and its stream, where there is one."""
        name = self.names.find(subscriber, id)
        return [] if name is None else self._end(name)

    def end_all(self, subscriber: str) -> list[tuple[int, int]]:
        """Takes the standing versions off all names of a subscriber."""
        return [one for name in self.names.of(subscriber) for one in self._end(name)]

    def _end(self, name: int) -> list[tuple[int, int]]:
        found = self._changed.get(name)
        if found is None:
            found = int(self._standing[name]), int(self._standing_streams[name])
        if found[0] == _NOBODY:
            return []
        self._changed[name] = _NOBODY, _NOBODY
        return [found]

    def drop(self, versions: Iterable[int]) -> None:
        """Holds some versions no longer; none of them stands for a name."""
        for version in versions:
            if self._new.pop(version, None) is None:
                self._dropped.add(version)
            else:
                self._new_table = None
        self.settle()

    def names_of(self, versions: Ints) -> Int32s:
        """The number of the name of each version, -1 for an unknown one; int32, same shape."""
        names = self._versions.names_of(versions)
        if self._new:
            if self._new_table is None:
                self._new_table = _table_of(self._new)
            unknown = np.flatnonzero(names < 0)
            if len(unknown):
                names[unknown] = self._new_table.names_of(versions[unknown])
        return names

    def name_of(self, version: int) -> int:
        """The number of the name of a version, -1 for an unknown one."""
        name = self._new.get(version)
        return self._versions.name_of(version) if name is None else name

    def name(self, version: int) -> tuple[str, str] | None:
        """The subscriber and the id of a version, which never change; None for an unknown one."""
        found = self._name_cache.get(version)
        if found is None:
            number = self.name_of(version)
            if number < 0:
                return None
            if len(self._name_cache) >= _NAMES_MAX:
                self._name_cache.clear()
            found = self._name_cache[version] = self.names.name(number)
        return found

    def versions(self) -> Ints:
        """The versions held, ascending; int64."""
        return self._all()[0]

    def settle(self) -> None:
        """Makes new tables where the additions are large."""
        additions = max(len(self._new), len(self._dropped), len(self._changed))
        if additions > max(_ADDITIONS_MIN, len(self._versions) // _TABLE_PER_ADDITION):
            self.merge()

    def merge(self) -> None:
        """Makes new tables of the tables and the additions to them."""
        versions, names = self._all()
        kept = np.zeros(len(self.names), np.bool_)
        kept[names] = True
        standing, streams = self._standing_of_all()
        self.names, renumbered = self.names.merged(kept)
        self._standing = np.empty(len(self.names), np.int64)
        self._standing_streams = np.empty(len(self.names), np.int32)
        self._standing[renumbered[kept]] = standing[kept]
        self._standing_streams[renumbered[kept]] = streams[kept]
        self._versions = VersionTable(versions, renumbered[names])
        self._changed, self._new, self._dropped = {}, {}, set()
        self._new_table = None

    def state(self) -> dict[str, pa.RecordBatch]:
        """The tables as batches, after a merge."""
        if self._changed or self._new or self._dropped:
            self.merge()
        subscribers, names = self.names.table.state()
        columns = [*names.columns, array_of(self._standing), array_of(self._standing_streams)]
        held = [array_of(self._versions.versions), array_of(self._versions.names)]
        return {
            "subscribers": subscribers,
            "names": pa.RecordBatch.from_arrays(columns, ["id", "owner", "standing", "stream"]),
            "versions": pa.RecordBatch.from_arrays(held, ["version", "name"]),
            "streams": pa.RecordBatch.from_arrays(
                [pa.array(self.streams, pa.string())], ["stream"]
            ),
        }

    @staticmethod
    def restored(state: Mapping[str, pa.RecordBatch]) -> "HeldVersions":
        """The versions of what `state` gave; the batches may be mapped."""
        made, names = HeldVersions(), state["names"]
        made.names = Names(NameTable.restored(state["subscribers"], names))
        made._standing, made._standing_streams = map(values_of, names.columns[2:])
        made._versions = VersionTable(*map(values_of, state["versions"].columns))
        made.streams = state["streams"].column(0).to_pylist()
        made._stream_numbers = {stream: number for number, stream in enumerate(made.streams)}
        return made

    def _all(self) -> tuple[Ints, Int32s]:
        """The versions held, ascending, with their names."""
        new = _table_of(self._new)
        versions = np.concatenate([self._versions.versions, new.versions])
        names = np.concatenate([self._versions.names, new.names])
        if self._dropped:
            held = ~np.isin(versions, np.fromiter(self._dropped, np.int64, len(self._dropped)))
            versions, names = versions[held], names[held]
        if len(versions) > 1 and (np.diff(versions) < 0).any():
            order = np.argsort(versions)
            versions, names = versions[order], names[order]
        return versions, names

    def _standing_of_all(self) -> tuple[Ints, Int32s]:
        """The standing version of each name, and its stream."""
        standing = np.full(len(self.names), _NOBODY, np.int64)
        streams = np.full(len(self.names), _NOBODY, np.int32)
        standing[: len(self._standing)] = self._standing
        streams[: len(self._standing)] = self._standing_streams
        count = len(self._changed)
        changed = np.fromiter(self._changed, np.int64, count)
        both = np.array(list(self._changed.values()), np.int64).reshape(count, 2)
        standing[changed], streams[changed] = both[:, 0], both[:, 1]
        return standing, streams


def _table_of(names: Mapping[int, int]) -> VersionTable:
    """The table of versions with their names."""
    versions = np.fromiter(names, np.int64, len(names))
    numbers = np.fromiter(names.values(), np.int32, len(names))
    if len(versions) > 1 and (np.diff(versions) < 0).any():
        order = np.argsort(versions)
        versions, numbers = versions[order], numbers[order]
    return VersionTable(versions, numbers)
