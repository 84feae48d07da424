"""The log of layout 1 as one of today: `log.db` with the cursors, and its second place.

Records and changes are added again in the order in which they came, so that the chain of commits
begins with them. What differs:

Times. Layout 1 kept the clock of each moment; the time of a log never decreases. So a record or a
change gets the latest time up to it.

Versions. Compaction in layout 1 gave up the versions of changes. What stands gets successive ones,
which lie before the end of the compaction, so none is used again.

Ids. Their hashes stay those of the ids alone; see `store.ids.sifting`.

Sequences. Those of cursors were offsets and become moments.

A damaged entry or change is left out: then the log names it as missing.
"""

import logging
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import apsw

from wherecast.store.changes.change_batches import batch_of, timed_of
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.change_rows import change_row
from wherecast.store.embedded.log.cursor_rows import write_cursors
from wherecast.store.embedded.log.entry_rows import (
    INSERT_ENTRY,
    StoredIds,
    entry_row,
    seal_of,
    sealed,
)
from wherecast.store.embedded.log.log_commit import LogCommit, LogCommits
from wherecast.store.embedded.log.log_mark import write_mark
from wherecast.store.embedded.log.log_tables import INSERT_CHANGE, LAYOUT, KnownMarks, Marks
from wherecast.store.embedded.log.registry import project
from wherecast.store.embedded.upgrade.old_log import (
    OldCursor,
    OldRecord,
    history,
    read_registry,
)
from wherecast.store.embedded.upgrade.old_rows import OldBounds, OldChanges, OldEntry, OldTrimmed
from wherecast.store.header_bytes import no_headers
from wherecast.store.position import Position
from wherecast.store.records import HEADERS, ChangeEntry, Cursor, Entry
from wherecast.store.sequences import SLOT_BITS

_PAGE_BYTES = 8 << 20  # in one transaction
_RECORD_BYTES = 1_000  # of a small record, about
_REGISTRY = {
    "streams": "INSERT INTO streams VALUES (?, ?, '')",
    "subscribers": "INSERT INTO subscribers VALUES (?)",
    "subscriptions": "INSERT INTO subscriptions VALUES (?, ?, ?, ?, '', ?)",
}
_log = logging.getLogger("wherecast.store")


class NewLog:
    """A `log.db` that is filled from one of layout 1.

    Args:
        folder: where the file is made.
        bounds: of the old log.
    """

    def __init__(self, folder: Path, bounds: OldBounds) -> None:
        self._folder = folder
        self._bounds = bounds
        self._database = Database(folder / "log.db", replace(LAYOUT, grown_pages=0), is_writer=True)
        self._marks = KnownMarks(self._database, is_owner=True)
        self._commits = LogCommits(self._database, self._marks)
        self._next_version = 0  # of the changes, if none is missing
        self._is_whole = True
        with self._commits.begin() as commit:
            commit.chain("bounds")
            commit.marks = replace(
                commit.marks, start=bounds.start, end=bounds.end, version=bounds.version
            )

    def fill(self, old: apsw.Connection) -> None:
        """Adds everything that an old log holds."""
        for page in _pages(history(old)):
            with self._commits.begin() as commit:
                for record in page:
                    self._add(commit, record)
        if not self._is_whole or self._next_version != self._bounds.version:
            self._copy_registry(old)

    def add_cursors(self, cursors: Iterable[OldCursor]) -> None:
        """Adds cursors."""
        with self._commits.begin() as commit:
            for cursor in cursors:
                write_cursors(commit, {cursor.subscriber: _moments(cursor)})

    def close(self) -> Marks:
        """Completes the file, and writes its second place; returns the bounds."""
        marks = self._marks.now()
        self._database.close()
        write_mark(self._folder, marks)
        return marks

    def abandon(self) -> None:
        """Closes the file as it is."""
        self._database.close()

    def _add(self, commit: LogCommit, record: OldRecord) -> None:
        at = max(commit.marks.last_at, record.at)
        commit.marks = replace(commit.marks, last_at=at)
        if isinstance(record, OldTrimmed):
            _add_trimmed(commit, record, at)
        elif isinstance(record, OldEntry):
            _add_entry(commit, record, at)
        else:
            self._is_whole &= record.version == self._next_version
            self._next_version = record.version + record.count
            _add_changes(commit, record, at)

    def _copy_registry(self, old: apsw.Connection) -> None:
        """Takes over the old registry: after damage to changes it is the last good copy."""
        with self._database.transaction() as connection:
            for table, statement in _REGISTRY.items():
                connection.execute(f"DELETE FROM {table}")
                connection.executemany(statement, read_registry(old, table))


def build_log(
    old: apsw.Connection, cursors: Iterable[OldCursor], folder: Path, bounds: OldBounds
) -> Marks:
    """Makes `log.db` and its second place in a folder; returns its bounds.

    Args:
        old: reads the old `log.db`.
        cursors: the old cursors.
        folder: is empty.
        bounds: of the old log.
    """
    new = NewLog(folder, bounds)
    try:
        new.fill(old)
        new.add_cursors(cursors)
    except BaseException:
        new.abandon()
        raise
    return new.close()


def _pages(records: Iterable[OldRecord]) -> Iterator[list[OldRecord]]:
    """Records, some megabytes at a time."""
    page: list[OldRecord] = []
    size = 0
    for record in records:
        page.append(record)
        size += _RECORD_BYTES
        if isinstance(record, OldEntry):
            size += len(record.attributes) + record.envelopes.nbytes
        elif isinstance(record, OldChanges):
            size += sum(column.nbytes for column in record.texts)
        if size > _PAGE_BYTES:
            yield page
            page, size = [], 0
    if page:
        yield page


def _add_trimmed(commit: LogCommit, trimmed: OldTrimmed, at: int) -> None:
    head = (trimmed.first, trimmed.count, at)
    data = sealed(head, trimmed.ids)
    commit.connection.execute("INSERT INTO trimmed_ids VALUES (?, ?, ?, ?)", (*head, data))
    commit.chain("trimmed ids", seal_of(data))


def _add_entry(commit: LogCommit, old: OldEntry, at: int) -> None:
    headers, given = no_headers(old.count), old.envelopes
    for name in ("id", "published_at"):
        place = HEADERS.get_field_index(name)
        headers = headers.set_column(place, HEADERS[place], given.column(name))
    payloads = given.column("payload")
    if old.ids is None:
        what = "the ids of the publications from %d on are damaged: these can be sent again"
        _log.warning(what, old.first)
    ids = None if old.ids is None else StoredIds(old.ids.digests, old.ids.hashes)
    row = entry_row(
        Entry(0, old.first, old.count, old.stream, at, old.attributes, old.rows, headers, payloads),
        ids,
    )
    commit.connection.execute(INSERT_ENTRY, row.values)
    commit.chain("entry", *row.checksums)
    commit.marks = replace(commit.marks, bytes=commit.marks.bytes + row.bytes)


def _add_changes(commit: LogCommit, old: OldChanges, at: int) -> None:
    texts = [*(column.to_pylist() for column in old.texts), [""] * len(old.kinds)]
    changes = batch_of(list(zip(old.kinds, *texts, strict=True)))
    acts_from = Position({0: old.acts_from})
    entry = ChangeEntry(
        old.version,
        old.count,
        acts_from,
        at,
        changes,
        times=old.times,
        compacted_to=old.compacted_to,
    )
    row = change_row(entry)
    commit.connection.execute(INSERT_CHANGE, row)
    commit.chain("change", row[0], seal_of(row[4]))
    project(commit.connection, timed_of(entry))


def _moments(cursor: OldCursor) -> Cursor:
    """A cursor whose sequences were offsets."""
    beyond = frozenset(((offset + 1) << SLOT_BITS) - 1 for offset in cursor.beyond)
    return Cursor(cursor.through << SLOT_BITS, beyond, cursor.lost)
