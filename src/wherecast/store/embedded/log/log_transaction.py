"""What one transaction adds to the log: records, changes and cursors, in turn.

Concurrency: one thread at a time, within a transaction of the database. Nothing outside it is
changed: whoever commits takes over `recent`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import apsw
import numpy as np
import pyarrow as pa

from wherecast.model.errors import StoreError
from wherecast.store.changes.change_batches import timed
from wherecast.store.embedded.log.change_rows import change_row
from wherecast.store.embedded.log.cursor_rows import write_cursors
from wherecast.store.embedded.log.entry_rows import (
    INSERT_ENTRY,
    Damage,
    StoredIds,
    entry_row,
    headers_of,
    ids_of,
    seal_of,
)
from wherecast.store.embedded.log.log_commit import LogCommit
from wherecast.store.embedded.log.log_tables import INSERT_CHANGE, Marks
from wherecast.store.embedded.log.named_rows import (
    read_counters,
    write_counters,
    write_link_mark,
)
from wherecast.store.embedded.log.registry import project
from wherecast.store.ids.counters import numbered
from wherecast.store.ids.publication_ids import Hashes, hash_keys
from wherecast.store.ids.recent_ids import RecentIds
from wherecast.store.ids.sifting import NO_UNSCOPED_IDS, Known, UnscopedIds, sift
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
    Receipt,
)
from wherecast.store.sequences import OFFSETS
from wherecast.store.store_items import (
    PendingChanges,
    PendingCursors,
    PendingPublications,
    PendingTick,
    PendingWithdrawals,
    StoreItem,
    StoreResult,
)

_CHANGES_MAX = 65_536  # in one row
_ENTRIES_AT_ONCE = 4_096
_BEFORE = """SELECT first, count, at, ids, headers, CAST(stream AS BLOB) FROM entries
    WHERE first <= ? ORDER BY first DESC LIMIT 1"""
_TRIMMED_BEFORE = """SELECT first, count, at, ids FROM trimmed_ids
    WHERE first <= ? ORDER BY first DESC LIMIT 1"""
_GIVEN = " UNION ALL ".join(
    f"""SELECT first, count, at, ids FROM {table}
        WHERE first >= ifnull((SELECT max(first) FROM {table} WHERE first <= ?1), 0)
        AND at > ?2 AND length(ids) > 8 * count + 4"""
    for table in ("trimmed_ids", "entries")
)  # in order, as the trimmed ones come first


class LogTransaction:
    """Adds records, changes and cursors to the log in one transaction.

    Attributes:
        identity: of the log.
        recent: the ids that came lately, those of this transaction included.

    Args:
        commit: the transaction.
        identity: of the log.
        recent: the ids that came lately.
        time_of: gives the time of the log for a time of the wall clock.
        unscoped_ids: the publications whose ids are unique among all streams and publishers.
    """

    def __init__(
        self,
        commit: LogCommit,
        identity: str,
        recent: RecentIds,
        time_of: Callable[[int], int],
        unscoped_ids: UnscopedIds = NO_UNSCOPED_IDS,
    ) -> None:
        self.identity = identity
        self.recent = recent
        self._commit = commit
        self._connection = commit.connection
        self._time_of = time_of
        self._unscoped_ids = unscoped_ids

    def add(self, item: StoreItem) -> StoreResult:
        """Adds an item; returns its result."""
        if isinstance(item, PendingCursors):
            write_cursors(self._commit, item.cursors)
            return None
        at = self._time_of(item.at)
        if isinstance(item, PendingChanges):
            return self._change(item, at)
        if isinstance(item, PendingTick):
            return self._insert(tick_entry(EntryPlace(0, self.marks.end, at)))
        source = ""
        if item.mark is not None:
            write_link_mark(self._commit, item.mark)
            source = item.mark.link
        place = EntryPlace(0, self.marks.end, at, source)
        if isinstance(item, PendingWithdrawals):
            return self._insert(withdrawals_entry(place, item.withdrawals))
        return self._append(item, place)

    @property
    def marks(self) -> Marks:
        """Where the log begins and ends."""
        return self._commit.marks

    @property
    def end(self) -> int:
        """The place that the next publication gets: with one partition, its offset."""
        return self.marks.end

    def known(self, places: Sequence[int]) -> Mapping[int, Known]:
        """The ids and digests of publications, by place."""
        found: dict[int, Known] = {}
        for row, inside in self._located(_BEFORE, places):
            with suppress(Damage):
                digests = ids_of(row[:3], row[3]).digests
                if not len(digests):  # no publications
                    continue
                headers, stream = headers_of(row[:3], row[4]), row[5].decode(errors="replace")
                ids, publishers = headers.column("id"), headers.column("publisher")
                for place in inside:
                    number = place - row[0]
                    key = stream, publishers[number].as_py() or "", ids[number].as_py()
                    found[place] = Known(*key, int(digests[number]), row[2])
        trimmed = [place for place in places if place < self.marks.start]
        for row, inside in self._located(_TRIMMED_BEFORE, trimmed):
            with suppress(Damage):
                digests = ids_of(row[:3], row[3]).digests
                for place in inside:
                    found[place] = Known("", "", None, int(digests[place - row[0]]), row[2], True)
        return found

    def _located(self, statement: str, places: Sequence[int]) -> Iterator[tuple[Any, list[int]]]:
        """Yields the rows that hold some of the places, each with the places it holds."""
        wanted = sorted(set(places))
        while wanted and (row := self._connection.execute(statement, (wanted[-1],)).fetchone()):
            first, count = row[:2]
            inside = []
            while wanted and wanted[-1] >= first:
                inside.append(wanted.pop())
            yield row, [place for place in inside if place < first + count]

    def place_of(self, partition: int, offset: int) -> int | None:
        """The place of an offset; None where it was not given out yet."""
        return offset if partition == 0 and offset < self.marks.end else None

    def _append(self, item: PendingPublications, place: EntryPlace) -> Receipt:
        given = item.publications
        publishers, ids = (given.headers.column(name) for name in ("publisher", "id"))
        hashes = hash_keys(given.stream, publishers, ids)
        sifted = sift(given, hashes, place.at, self, self._unscoped_ids)
        offsets = np.full(len(hashes), -1, np.int64)
        if len(sifted.rows):
            headers = self._numbered(given.stream, new_headers(given, sifted.rows))
            entry = publications_entry(place, given, sifted.rows, headers)
            stored = StoredIds(given.digests[sifted.rows], hashes[sifted.rows])
            offsets[sifted.rows] = self._insert(entry, stored).offsets
            places = np.arange(entry.first, entry.end)
            self.recent = self.recent.adding(stored.hashes, places, place.at)
        partitions = np.zeros(len(offsets), np.int32)
        return Receipt(partitions, offsets, sifted.duplicates, sifted.conflicts, place.at)

    def _numbered(self, stream: str, headers: pa.RecordBatch) -> pa.RecordBatch:
        """Headers with the counters of their publishers."""
        with_counters, lasts = numbered(
            headers, lambda names: read_counters(self._connection, stream, names)
        )
        if lasts:
            write_counters(self._commit, stream, lasts)
        return with_counters

    def _insert(self, entry: Entry, ids: StoredIds | None = None) -> Receipt:
        """Adds an entry at the end of the log."""
        if entry.end > OFFSETS:
            raise StoreError("the log has given out all its offsets: go on with a new store")
        row = entry_row(entry, ids)
        self._connection.execute(INSERT_ENTRY, row.values)
        self._commit.chain("entry", *row.checksums)
        self._commit.marks = replace(
            self.marks,
            end=entry.end,
            bytes=self.marks.bytes + row.bytes,
            last_at=entry.accepted_at,
        )
        return receipt_of(entry)

    def _change(self, item: PendingChanges, at: int) -> Accepted:
        accepted = Accepted(self.marks.version, Position({0: self.marks.end}))
        for start in range(0, item.changes.num_rows, _CHANGES_MAX):
            part = item.changes.slice(start, _CHANGES_MAX)
            entry = ChangeEntry(self.marks.version, part.num_rows, accepted.acts_from, at, part)
            row = change_row(entry)
            self._connection.execute(INSERT_CHANGE, row)
            self._commit.chain("change", row[0], seal_of(row[4]))
            self._commit.marks = replace(self.marks, version=entry.end, last_at=at)
        project(self._connection, timed(item.changes, at))
        return accepted


def recent_ids(
    connection: apsw.Connection, known: RecentIds, start: int, marks: Marks
) -> RecentIds:
    """The ids that are known, and those from an offset on."""
    start = max(start, marks.end - known.window.publications)
    newest = connection.execute("SELECT at FROM entries ORDER BY first DESC LIMIT 1").get
    rows = connection.execute(_GIVEN, (start, (newest or 0) - known.window.age_us))
    pending: list[tuple[Hashes, int, int]] = []
    for first, count, at, data in rows:
        try:
            pending.append((ids_of((first, count, at), data).hashes, first, at))
        except Damage:
            continue
        if len(pending) == _ENTRIES_AT_ONCE:
            known, pending = _adding(known, pending), []
    return _adding(known, pending) if pending else known


def _adding(known: RecentIds, entries: Sequence[tuple[Hashes, int, int]]) -> RecentIds:
    """The ids that are known, and those of some entries: hashes, first offset, when accepted."""
    hashes = np.concatenate([hashes for hashes, _, _ in entries])
    places = np.concatenate([np.arange(first, first + len(one)) for one, first, _ in entries])
    return known.adding(hashes, places, max(at for _, _, at in entries))
