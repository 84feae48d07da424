"""The log in memory, with any number of partitions.

Concurrency: one lock for everything; a record wakes those who wait. Appends go to the partitions in
turn, a call to one of them.
"""

import secrets
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from typing_extensions import override

from wherecast.store.changes.change_batches import check_changes
from wherecast.store.changes.compaction import compact, first_due
from wherecast.store.clock import boot_us
from wherecast.store.contracts import Log
from wherecast.store.ids.counters import numbered
from wherecast.store.ids.publication_ids import Hashes, hash_keys
from wherecast.store.ids.recent_ids import IdWindow, RecentIds
from wherecast.store.ids.sifting import Known, sift
from wherecast.store.log_time import LogTime
from wherecast.store.memory.registry import MemoryRegistry
from wherecast.store.new_entries import (
    EntryPlace,
    new_headers,
    publications_entry,
    receipt_of,
    tick_entry,
    withdrawals_entry,
)
from wherecast.store.position import Position
from wherecast.store.records import (
    Accepted,
    ChangeEntry,
    Entry,
    LinkMark,
    Publications,
    Receipt,
    Withdrawals,
)

_HOLES_TO = 16  # of a sparse log: the offset of an entry is a multiple of it
_SORT_OUT_MIN = 1_024  # entries, before those that do not count any more are looked for


@dataclass(frozen=True, slots=True, eq=False)
class _PlacedEntry:
    """An entry with its place.

    Attributes:
        entry: with its headers and payloads.
        place: of its first record among those of all partitions.
    """

    entry: Entry
    place: int

    @property
    def end(self) -> int:
        return self.entry.first + self.entry.count

    @property
    def bytes(self) -> int:
        headers, payloads = self.entry.headers, self.entry.payloads
        assert headers is not None
        assert payloads is not None
        return len(self.entry.attributes) + int(headers.nbytes) + int(payloads.nbytes)


class MemoryLog(Log):
    """Records and changes that end with the process.

    Args:
        partitions: number of partitions.
        window: for how long the id of a publication counts.
        identity: a word that no other log has; empty draws a random one.
        monotonic: a clock that nobody sets, in microseconds.
        is_sparse: whether there are holes between the offsets of entries, as in logs whose offsets
            also count what is no publication.

    Attributes:
        identity: a random word that no other log has.
        incarnation: a random word that no other log has, even with the same identity.
        registry: the projection of the changes.
    """

    def __init__(
        self,
        partitions: int = 1,
        window: IdWindow | None = None,
        identity: str = "",
        monotonic: Callable[[], int] = boot_us,
        is_sparse: bool = False,
    ) -> None:
        self._is_sparse = is_sparse
        self.identity = identity or secrets.token_hex(8)
        self.incarnation = secrets.token_hex(8)
        self.registry = MemoryRegistry()
        self._lock = threading.Condition(threading.Lock())
        self._partitions: list[list[_PlacedEntry]] = [[] for _ in range(partitions)]
        self._starts = [0] * partitions
        self._ends = [0] * partitions
        self._next = 0
        self._changes: list[ChangeEntry] = []
        self._due = first_due(0, 0)
        self._past = _Past(self.identity, RecentIds(window), self._partitions, self._ends)
        self._bytes = 0
        self._uncounted: list[_PlacedEntry] = []  # entries whose bytes nobody has asked for
        self._counters: dict[tuple[str, str], int] = {}  # the last one, by stream and publisher
        self._link_marks: dict[str, LinkMark] = {}
        self._monotonic = monotonic
        self._time = LogTime()

    @override
    def append(self, publications: Publications, at: int, mark: LinkMark | None = None) -> Receipt:
        given = publications.headers
        hashes = hash_keys(publications.stream, given.column("publisher"), given.column("id"))
        with self._lock:
            place = self._next_place(at, mark)
            sifted = sift(publications, hashes, place.at, self._past)
            offsets = np.full(len(hashes), -1, np.int64)
            if len(sifted.rows):
                rows = sifted.rows
                headers = self._numbered(publications.stream, new_headers(publications, rows))
                entry = publications_entry(place, publications, rows, headers)
                offsets[rows] = np.arange(entry.first, entry.end)
                self._keep(entry, hashes[rows], publications.digests[rows])
                self._next = (place.partition + 1) % len(self._partitions)
            self._take(mark)
        partitions = np.full(len(hashes), place.partition, np.int32)
        return Receipt(partitions, offsets, sifted.duplicates, sifted.conflicts, place.at)

    @override
    def withdraw(self, withdrawals: Withdrawals, at: int, mark: LinkMark | None = None) -> Receipt:
        with self._lock:
            entry = withdrawals_entry(self._next_place(at, mark), withdrawals)
            self._keep(entry)
            self._next = (entry.partition + 1) % len(self._partitions)
            self._take(mark)
        return receipt_of(entry)

    @override
    def tick(self, at: int) -> Receipt:
        with self._lock:
            now = self.time(at)
            ends = enumerate(list(self._ends))
            entries = [tick_entry(EntryPlace(partition, end, now)) for partition, end in ends]
            for entry in entries:
                self._keep(entry)
        taken = np.zeros(len(entries), np.bool_)
        partitions = np.arange(len(entries), dtype=np.int32)
        offsets = np.array([entry.first for entry in entries], np.int64)
        return Receipt(partitions, offsets, taken, taken, now)

    @override
    def change(self, changes: pa.RecordBatch, at: int) -> Accepted:
        check_changes(changes)
        with self._lock:
            now = self.time(at)
            accepted = Accepted(self.registry.version, self._position(self._ends))
            self.registry.apply(changes, now)
            self._changes.append(
                ChangeEntry(accepted.version, changes.num_rows, accepted.acts_from, now, changes)
            )
        return accepted

    @override
    def time(self, at: int) -> int:
        return self._time.at(at, self._monotonic())

    @override
    def link_marks(self) -> Mapping[str, LinkMark]:
        with self._lock:
            return dict(self._link_marks)

    @override
    def read(
        self, partition: int, start: int, end: int, headers: bool = False, payloads: bool = False
    ) -> Iterator[Entry]:
        with self._lock:
            entries = [one.entry for one in self._overlapping(partition, start, end)]
        for entry in entries:
            yield replace(
                entry,
                headers=entry.headers if headers else None,
                payloads=entry.payloads if payloads else None,
            )

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
    def wait(self, is_enough: Callable[[Position], bool], timeout_s: float) -> bool:
        with self._lock:
            return self._lock.wait_for(
                lambda: is_enough(self._position(self._ends)), max(timeout_s, 0)
            )

    @override
    def wake(self) -> None:
        with self._lock:
            self._lock.notify_all()

    @override
    def trim(self, position: Position) -> None:
        with self._lock:
            self._count_bytes()
            for partition, kept in enumerate(self._partitions):
                gone = bisect_right(kept, position[partition], key=lambda one: one.end)
                self._bytes -= sum(one.bytes for one in kept[:gone])
                del kept[:gone]
                self._starts[partition] = kept[0].entry.first if kept else self._ends[partition]
            self._compact(self._position(self._starts))

    @override
    def bytes(self) -> int:
        with self._lock:
            return self._count_bytes()

    def _count_bytes(self) -> int:
        """The bytes of all entries; the lock is held."""
        self._bytes += sum(one.bytes for one in self._uncounted)
        self._uncounted.clear()
        return self._bytes

    @override
    def size(self) -> int:
        with self._lock:
            return sum(one.entry.count for kept in self._partitions for one in kept)

    @override
    def count(self, partition: int, start: int, end: int) -> int:
        with self._lock:
            return sum(
                max(0, min(one.end, end) - max(one.entry.first, start))
                for one in self._overlapping(partition, start, end)
            )

    @override
    def skip(self, partition: int, start: int, count: int) -> int:
        with self._lock:
            end = self._ends[partition]
            for one in self._overlapping(partition, start, end):
                first = max(one.entry.first, start)
                if count <= one.end - first:
                    return first + count
                count -= one.end - first
            return end

    def _overlapping(self, partition: int, start: int, end: int) -> list[_PlacedEntry]:
        """The entries that overlap a range of offsets; the lock is held."""
        kept = self._partitions[partition]
        begin = bisect_right(kept, start, key=lambda one: one.end)
        stop = bisect_right(kept, end - 1, key=lambda one: one.entry.first)
        return kept[begin:stop]

    def _after(self, kept: _PlacedEntry) -> int:
        """The offset of the entry after one."""
        return (kept.end // _HOLES_TO + 1) * _HOLES_TO if self._is_sparse else kept.end

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

    def _next_place(self, at: int, mark: LinkMark | None) -> EntryPlace:
        """The end of the partition whose turn it is."""
        source = "" if mark is None else mark.link
        return EntryPlace(self._next, self._ends[self._next], self.time(at), source)

    def _take(self, mark: LinkMark | None) -> None:
        if mark is not None:
            self._link_marks[mark.link] = mark

    def _numbered(self, stream: str, headers: pa.RecordBatch) -> pa.RecordBatch:
        """Headers with the counters of their publishers."""
        with_counters, lasts = numbered(
            headers, lambda names: [self._counters.get((stream, name), 0) for name in names]
        )
        self._counters |= {(stream, name): last for name, last in lasts.items()}
        return with_counters

    def _keep(
        self, entry: Entry, hashes: Hashes | None = None, digests: Hashes | None = None
    ) -> None:
        """Takes in an entry; publications come with the hashes of their ids and their digests."""
        kept = _PlacedEntry(entry, self._past.end)
        self._partitions[entry.partition].append(kept)
        self._ends[entry.partition] = self._after(kept)
        self._uncounted.append(kept)
        self._past.end += entry.count
        self._lock.notify_all()
        if hashes is not None and digests is not None:
            self._past.add(kept, hashes, digests)

    def _position(self, offsets: Sequence[int]) -> Position:
        return Position(dict(enumerate(offsets)))


@dataclass(frozen=True, slots=True, eq=False)
class _Ids:
    """What the check of ids needs of an entry, which may be gone.

    Attributes:
        place: of its first publication.
        stream: of its publications.
        headers: of its publications.
        digests: uint64, shape (n,).
        accepted_at: when they were appended.
    """

    place: int
    stream: str
    headers: pa.RecordBatch
    digests: Hashes
    accepted_at: int


class _Past:
    """The ids of all partitions in the order accepted, as long as they count.

    Attributes:
        identity: of the log.
        recent: the ids that came lately.
        end: the place of the next record.
    """

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

    def add(self, kept: _PlacedEntry, hashes: Hashes, digests: Hashes) -> None:
        """Takes in an entry, with the hashes of its ids and the digests of its publications."""
        entry = kept.entry
        assert entry.headers is not None
        places = np.arange(kept.place, kept.place + entry.count)
        self.recent = self.recent.adding(hashes, places, entry.accepted_at)
        ids = _Ids(kept.place, entry.stream, entry.headers, digests, entry.accepted_at)
        self._order.append(ids)
        if len(self._order) >= self._sort_out_at:
            self._order = [one for one in self._order if self._counts(one, entry.accepted_at)]
            self._sort_out_at = max(_SORT_OUT_MIN, 2 * len(self._order))

    def known(self, places: Sequence[int]) -> Mapping[int, Known]:
        """The ids and digests of publications, by place."""
        found = {}
        for place in places:
            number = bisect_right(self._order, place, key=lambda ids: ids.place) - 1
            if number < 0:
                continue
            ids = self._order[number]
            if (row := place - ids.place) < len(ids.digests):
                publisher = ids.headers.column("publisher")[row].as_py() or ""
                key = ids.stream, publisher, ids.headers.column("id")[row].as_py()
                found[place] = Known(*key, int(ids.digests[row]), ids.accepted_at)
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
        last = ids.place + len(ids.digests) - 1
        return self.recent.window.has(ids.accepted_at, last, at, self.end)
