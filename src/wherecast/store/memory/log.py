"""The log in memory, with any number of partitions.

Concurrency: one lock for everything. Appends go to the partitions in turn, a call to one of them.
"""

import secrets
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import override

from wherecast.arrays.vectors import array_of
from wherecast.store.changes.change_batches import check_changes
from wherecast.store.changes.compaction import compact, first_due
from wherecast.store.contracts import Log
from wherecast.store.ids.publication_ids import hash_ids
from wherecast.store.ids.recent_ids import IdWindow, RecentIds
from wherecast.store.ids.sifting import Known, sift
from wherecast.store.memory.registry import MemoryRegistry
from wherecast.store.position import Position
from wherecast.store.records import Accepted, ChangeEntry, Entry, Publications, Receipt

_SORT_OUT_MIN = 1_024  # entries, before those that do not count any more are looked for


@dataclass(frozen=True, slots=True, eq=False)
class _PlacedEntry:
    """An entry with its place.

    Attributes:
        entry: with its envelopes.
        place: of its first publication among those of all partitions.
    """

    entry: Entry
    place: int

    @property
    def end(self) -> int:
        return self.entry.first + self.entry.count

    @property
    def bytes(self) -> int:
        envelopes = self.entry.envelopes
        assert envelopes is not None
        return len(self.entry.attributes) + int(envelopes.nbytes)


class MemoryLog(Log):
    """Publications and changes that end with the process.

    Args:
        partitions: number of partitions.
        window: for how long the id of a publication counts.
        identity: a word that no other log has; empty draws a random one.

    Attributes:
        identity: a random word that no other log has.
        registry: the projection of the changes.
    """

    def __init__(
        self, partitions: int = 1, window: IdWindow | None = None, identity: str = ""
    ) -> None:
        self.identity = identity or secrets.token_hex(8)
        self.registry = MemoryRegistry()
        self._lock = threading.Lock()
        self._partitions: list[list[_PlacedEntry]] = [[] for _ in range(partitions)]
        self._starts = [0] * partitions
        self._ends = [0] * partitions
        self._next = 0
        self._changes: list[ChangeEntry] = []
        self._due = first_due(0, 0)
        self._past = _Past(self.identity, RecentIds(window), self._partitions, self._ends)
        self._bytes = 0

    @override
    def append(self, publications: Publications, at: int) -> Receipt:
        hashes = hash_ids(publications.envelopes.column("id"))
        with self._lock:
            sifted = sift(publications, hashes, at, self._past)
            partition = self._next
            first = self._ends[partition]
            offsets = np.full(len(hashes), -1, np.int64)
            if count := len(sifted.rows):
                offsets[sifted.rows] = np.arange(first, first + count)
                kept = self._kept(publications, sifted.rows, at)
                self._partitions[partition].append(kept)
                self._past.add(kept, hashes[sifted.rows], publications.digests[sifted.rows])
                self._ends[partition] = kept.end
                self._next = (partition + 1) % len(self._partitions)
                self._bytes += kept.bytes
        return Receipt(partition, offsets, sifted.duplicates, sifted.conflicts)

    @override
    def change(self, changes: pa.RecordBatch, at: int) -> Accepted:
        check_changes(changes)
        with self._lock:
            accepted = Accepted(self.registry.version, self._position(self._ends))
            self.registry.apply(changes, at)
            self._changes.append(
                ChangeEntry(accepted.version, changes.num_rows, accepted.acts_from, at, changes)
            )
        return accepted

    @override
    def read(
        self, partition: int, start: int, end: int, envelopes: bool = False
    ) -> Iterator[Entry]:
        with self._lock:
            kept = self._partitions[partition]
            begin = bisect_right(kept, start, key=lambda one: one.end)
            stop = bisect_right(kept, end - 1, key=lambda one: one.entry.first)
            entries = [one.entry for one in kept[begin:stop]]
        for entry in entries:
            yield entry if envelopes else replace(entry, envelopes=None)

    @override
    def changes(self, start: int, end: int) -> Iterator[ChangeEntry]:
        with self._lock:
            entries = list(self._changes)
        compacted_to = (entries[0].compacted_to or 0) if entries else 0
        if start < min(compacted_to, end):
            start, end = 0, max(end, compacted_to)
        for entry in entries:
            if entry.version < end and start < entry.end:
                yield entry

    @override
    def starts(self) -> Position:
        with self._lock:
            return self._position(self._starts)

    @override
    def ends(self) -> Position:
        with self._lock:
            return self._position(self._ends)

    @override
    def changes_end(self) -> int:
        return self.registry.version

    @override
    def trim(self, position: Position) -> None:
        with self._lock:
            for partition, kept in enumerate(self._partitions):
                gone = bisect_right(kept, position[partition], key=lambda one: one.end)
                self._bytes -= sum(one.bytes for one in kept[:gone])
                del kept[:gone]
                self._starts[partition] = kept[0].entry.first if kept else self._ends[partition]
            self._compact(self._position(self._starts))

    @override
    def bytes(self) -> int:
        return self._bytes

    @override
    def damaged_changes(self) -> int:
        """Always 0: memory is not verified."""
        return 0

    def _compact(self, start: Position) -> None:
        """Compacts the changes that act from a position or earlier, where that is worth while."""
        acting = bisect_left(self._changes, True, key=lambda one: not start.reaches(one.acts_from))
        end = self._changes[acting - 1].end if acting else 0
        if end >= self._due:
            found = compact(self._changes[:acting], start, end)
            self._due = found.due
            if found.parts:
                self._changes[:acting] = found.parts

    def _kept(
        self, publications: Publications, rows: npt.NDArray[np.int32], at: int
    ) -> _PlacedEntry:
        """The entry of the rows that are new, at the end of the partition whose turn it is."""
        is_whole = len(rows) == publications.envelopes.num_rows
        envelopes = publications.envelopes
        entry = Entry(
            self._next,
            self._ends[self._next],
            len(rows),
            publications.stream,
            at,
            publications.attributes,
            None if is_whole else rows,
            envelopes if is_whole else envelopes.take(array_of(rows)),
        )
        return _PlacedEntry(entry, self._past.end)

    def _position(self, offsets: Sequence[int]) -> Position:
        return Position(dict(enumerate(offsets)))


@dataclass(frozen=True, slots=True, eq=False)
class _Ids:
    """What the check of ids needs of an entry, which may be gone.

    Attributes:
        place: of its first publication.
        ids: as they were given; string with nulls, shape (n,).
        digests: uint64, shape (n,).
        accepted_at: when they were appended.
    """

    place: int
    ids: pa.Array
    digests: npt.NDArray[np.uint64]
    accepted_at: int


class _Past:
    """The ids of all partitions in the order accepted, as long as they count."""

    def __init__(
        self,
        identity: str,
        recent: RecentIds,
        partitions: Sequence[list[_PlacedEntry]],
        ends: Sequence[int],
    ) -> None:
        self.identity = identity
        self.recent = recent
        self.end = 0
        self._partitions = partitions
        self._ends = ends
        self._order: list[_Ids] = []
        self._sort_out_at = _SORT_OUT_MIN

    def add(
        self, kept: _PlacedEntry, hashes: npt.NDArray[np.uint64], digests: npt.NDArray[np.uint64]
    ) -> None:
        """Takes in an entry, with the hashes of its ids and the digests of its publications."""
        entry = kept.entry
        assert entry.envelopes is not None
        self.end = kept.place + entry.count
        places = np.arange(kept.place, self.end)
        self.recent = self.recent.adding(hashes, places, entry.accepted_at)
        ids = _Ids(kept.place, entry.envelopes.column("id"), digests, entry.accepted_at)
        self._order.append(ids)
        if len(self._order) >= self._sort_out_at:
            self._order = [one for one in self._order if self._counts(one, entry.accepted_at)]
            self._sort_out_at = max(_SORT_OUT_MIN, 2 * len(self._order))

    def known(self, places: Sequence[int]) -> Mapping[int, Known]:
        """What is known of publications, by place."""
        found = {}
        for place in places:
            number = bisect_right(self._order, place, key=lambda ids: ids.place) - 1
            if number < 0:
                continue
            ids = self._order[number]
            if (row := place - ids.place) < len(ids.ids):
                found[place] = Known(ids.ids[row].as_py(), int(ids.digests[row]), ids.accepted_at)
        return found

    def place_of(self, partition: int, offset: int) -> int | None:
        """The place of an offset, -1 where it is gone; None where it was not given out yet."""
        if partition >= len(self._partitions) or offset >= self._ends[partition]:
            return None
        kept = self._partitions[partition]
        number = bisect_right(kept, offset, key=lambda one: one.end)
        if number == len(kept) or offset < kept[number].entry.first:
            return -1
        return kept[number].place + offset - kept[number].entry.first

    def _counts(self, ids: _Ids, at: int) -> bool:
        last = ids.place + len(ids.ids) - 1
        return self.recent.window.has(ids.accepted_at, last, at, self.end)
