"""One transaction of the log: publications and changes are added to it in turn.

Concurrency: one thread at a time, within a transaction of the database. Nothing outside it is
changed: whoever commits takes over `recent` and `marks`.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import apsw
import numpy as np
import pyarrow as pa

from wherecast.store.changes.change_batches import timed
from wherecast.store.embedded.log.change_rows import change_row
from wherecast.store.embedded.log.entry_rows import Damage, entry_row, envelopes_of, ids_of
from wherecast.store.embedded.log.log_tables import INSERT_CHANGE, Marks
from wherecast.store.embedded.log.registry import project
from wherecast.store.ids.publication_ids import Hashes
from wherecast.store.ids.recent_ids import RecentIds
from wherecast.store.ids.sifting import Known, sift
from wherecast.store.position import Position
from wherecast.store.records import Accepted, ChangeEntry, Publications, Receipt

_CHANGES_MAX = 65_536  # in one row
_ENTRIES_AT_ONCE = 4_096
_INSERT = "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BEFORE = """SELECT first, count, at, ids, envelopes FROM entries
    WHERE first <= ? ORDER BY first DESC LIMIT 1"""
_TRIMMED_BEFORE = """SELECT first, count, at, ids FROM trimmed_ids
    WHERE first <= ? ORDER BY first DESC LIMIT 1"""
_GIVEN = " UNION ALL ".join(
    f"""SELECT first, count, at, ids FROM {table}
        WHERE first >= ifnull((SELECT max(first) FROM {table} WHERE first <= ?1), 0)
        AND at > ?2 AND length(ids) > 8 * count + 4"""
    for table in ("trimmed_ids", "entries")
)  # in order, as the trimmed ones come first


@dataclass(frozen=True, slots=True, eq=False)
class Append:
    """Publications that wait to be appended, with the hashes of their ids."""

    publications: Publications
    hashes: Hashes
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class PendingChanges:
    """Changes that wait to be appended."""

    changes: pa.RecordBatch
    at: int


class LogTransaction:
    """What is added to the log in one transaction.

    Attributes:
        identity: of the log.
        recent: the ids that came lately, those of this transaction included.
        marks: where the log ends.
    """

    def __init__(
        self, connection: apsw.Connection, identity: str, recent: RecentIds, marks: Marks
    ) -> None:
        self.identity = identity
        self.recent = recent
        self.marks = self._found = marks
        self._connection = connection

    def add(self, item: Append | PendingChanges) -> Receipt | Accepted:
        """Adds publications or changes that wait; returns their outcome."""
        return self._append(item) if isinstance(item, Append) else self._change(item)

    def finish(self) -> None:
        """Writes the marks; the last step before the commit."""
        if self.marks != self._found:
            self.marks.write(self._connection)

    @property
    def end(self) -> int:
        """The place that the next publication gets: with one partition, its offset."""
        return self.marks.end

    def known(self, places: Sequence[int]) -> Mapping[int, Known]:
        """What is known of publications, by place."""
        found: dict[int, Known] = {}
        for row, inside in self._located(_BEFORE, places):
            with suppress(Damage):
                digests = ids_of(row[:3], row[3]).digests
                ids = envelopes_of(row[:3], row[4]).column("id")
                for place in inside:
                    number = place - row[0]
                    found[place] = Known(ids[number].as_py(), int(digests[number]), row[2])
        trimmed = [place for place in places if place < self.marks.start]
        for row, inside in self._located(_TRIMMED_BEFORE, trimmed):
            with suppress(Damage):
                digests = ids_of(row[:3], row[3]).digests
                for place in inside:
                    found[place] = Known(None, int(digests[place - row[0]]), row[2], True)
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

    def _append(self, item: Append) -> Receipt:
        sifted = sift(item.publications, item.hashes, item.at, self)
        offsets = np.full(len(item.hashes), -1, np.int64)
        if count := len(sifted.rows):
            first = self.marks.end
            offsets[sifted.rows] = np.arange(first, first + count)
            row = entry_row(first, item.at, item.publications, item.hashes, sifted.rows)
            self._connection.execute(_INSERT, row)
            size = sum(len(part) for part in row[5:] if part is not None)
            self.marks = replace(self.marks, end=first + count, bytes=self.marks.bytes + size)
            places = np.arange(first, first + count)
            self.recent = self.recent.adding(item.hashes[sifted.rows], places, item.at)
        return Receipt(0, offsets, sifted.duplicates, sifted.conflicts)

    def _change(self, item: PendingChanges) -> Accepted:
        accepted = Accepted(self.marks.version, Position({0: self.marks.end}))
        for start in range(0, item.changes.num_rows, _CHANGES_MAX):
            part = item.changes.slice(start, _CHANGES_MAX)
            entry = ChangeEntry(
                self.marks.version, part.num_rows, accepted.acts_from, item.at, part
            )
            self._connection.execute(INSERT_CHANGE, change_row(entry))
            self.marks = replace(self.marks, version=entry.end)
        project(self._connection, timed(item.changes, item.at))
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
