"""The embedded log: one partition, in `log.db`.

Concurrency: any number of threads. One process, the owner of the directory, appends; others read.
"""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock

import apsw
import pyarrow as pa
from typing_extensions import override

from wherecast.model.errors import StoreError
from wherecast.store.changes.change_batches import check_changes
from wherecast.store.contracts import Log
from wherecast.store.crash_points import reached
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.change_reading import count_damaged_changes, read_changes
from wherecast.store.embedded.log.group_commit import GroupCommit
from wherecast.store.embedded.log.log_compaction import LogCompaction
from wherecast.store.embedded.log.log_reading import read_entries
from wherecast.store.embedded.log.log_tables import (
    LAYOUT,
    KnownMarks,
    Marks,
    has_damaged_marks,
    read_marks,
)
from wherecast.store.embedded.log.log_transaction import (
    Append,
    LogTransaction,
    PendingChanges,
    recent_ids,
)
from wherecast.store.embedded.log.log_trimming import trim_some
from wherecast.store.embedded.log.rebuild_registry import CHANGES_MAX, rebuild_registry
from wherecast.store.embedded.log.registry import EmbeddedRegistry
from wherecast.store.embedded.log.restate_registry import restate_registry
from wherecast.store.ids.publication_ids import hash_ids
from wherecast.store.ids.recent_ids import IdWindow, RecentIds
from wherecast.store.position import Position
from wherecast.store.records import (
    Accepted,
    ChangeEntry,
    Entry,
    Progress,
    Publications,
    Receipt,
)

_log = logging.getLogger("wherecast.store")


class EmbeddedLog(Log):
    """Publications and changes on disk.

    Attributes:
        identity: a random word that no other log has.
        registry: the projection of the changes.
    """

    def __init__(self, directory: Directory, window: IdWindow | None = None) -> None:
        is_owner = directory.role == "owner"
        if is_owner:
            _refuse_lost(directory.path)
        self.identity = directory.identity
        self._database = directory.database("log.db", LAYOUT, is_owner)
        self._marks = KnownMarks(self._database, is_owner)
        self.registry = EmbeddedRegistry(self._database, self._marks)
        self._group: GroupCommit[Append | PendingChanges, Receipt | Accepted] = GroupCommit(
            self._commit
        )
        self._compaction = LogCompaction(self._database, self.registry)
        self._compacting = Lock()
        self._recent = RecentIds(window)
        self._recent_end = 0  # the ids before this offset are in there
        self._damaged_changes: int | None = None  # counted once
        if is_owner:
            with self._database.reading() as connection:
                marks = read_marks(connection)
                self._recent, self._recent_end = self._caught_up(connection, marks), marks.end

    @property
    def transactions(self) -> int:
        """How many were committed since the log was opened; each is one sync."""
        return self._database.transactions

    @property
    def waiting(self) -> int:
        """How many calls wait for the next transaction."""
        return self._group.waiting

    @override
    def append(self, publications: Publications, at: int) -> Receipt:
        hashes = hash_ids(publications.envelopes.column("id"))
        receipt = self._group.submit(Append(publications, hashes, at))
        assert isinstance(receipt, Receipt)
        return receipt

    @override
    def change(self, changes: pa.RecordBatch, at: int) -> Accepted:
        check_changes(changes)
        accepted = self._group.submit(PendingChanges(changes, at))
        assert isinstance(accepted, Accepted)
        return accepted

    @override
    def read(
        self, partition: int, start: int, end: int, envelopes: bool = False
    ) -> Iterator[Entry]:
        assert partition == 0, "an embedded log has one partition"
        return read_entries(self._database, start, end, envelopes)

    @override
    def changes(self, start: int, end: int) -> Iterator[ChangeEntry]:
        return read_changes(self._database, start, end)

    @override
    def starts(self) -> Position:
        return Position({0: self._marks.now().start})

    @override
    def ends(self) -> Position:
        return Position({0: self._marks.now().end})

    @override
    def changes_end(self) -> int:
        return self._marks.now().version

    @override
    def bytes(self) -> int:
        return self._marks.now().bytes

    @override
    def damaged_changes(self) -> int:
        if self._damaged_changes is None:
            self._damaged_changes = count_damaged_changes(self._database)
        return self._damaged_changes

    @override
    def trim(self, position: Position) -> None:
        is_more = True
        while is_more:
            with self._database.transaction() as connection:
                is_more = trim_some(connection, position[0], self._recent.window)
        with self._compacting:
            self._compaction.run()

    def settle(self, matched: Progress) -> None:
        """Rebuilds damaged marks, and makes the changes and the registry agree.

        No offset is given out a second time after it.

        Only what was matched is ever trimmed: so the log ends where its tables end, or where the
        batches end.

        Raises:
            StoreError: the log is not damaged there, but older than the batches.
        """
        path, end = self._database.path, matched.position[0]
        with self._database.reading() as connection:
            marks, is_damaged = read_marks(connection), has_damaged_marks(connection)
        if is_damaged:
            marks = marks.reaching(end)
        if marks.end < end or marks.version < matched.changes:
            raise StoreError(
                f"{path} ends at publication {marks.end} and change {marks.version}, the batches "
                f"at {end} and {matched.changes}; run: wherecast store check {path.parent}"
            )
        if is_damaged:
            _log.warning("the marks of %s were damaged; it ends at %d", path, marks.end)
            with self._database.transaction() as connection:
                marks.write(connection)
        if count := self.damaged_changes():
            what = "%s: %d changes are damaged and passed over; run: wherecast store check %s"
            _log.warning(what, path, count, path.parent)
        self.rebuild_registry(None if count else CHANGES_MAX)

    def rebuild_registry(self, changes_max: int | None = None) -> str | None:
        """Rebuilds the registry where it is not what the changes make; the first difference.

        Where changes are damaged and the registry is intact, the registry stays, and new changes
        restate what is in it. A log with more changes than `changes_max` is left as it is.
        """
        if changes_max is None:
            restate_registry(self._database)
        return rebuild_registry(self._database, changes_max)

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def _commit(self, items: Sequence[Append | PendingChanges]) -> list[Receipt | Accepted]:
        """Adds items in one transaction. What is known in memory changes after the commit."""
        with self._database.transaction() as connection:
            number = self._database.transactions + 1
            marks = self._marks.within(connection)
            recent = self._caught_up(connection, marks)
            adding = LogTransaction(connection, self.identity, recent, marks)
            results = [adding.add(item) for item in items]
            adding.finish()
            reached("log.before")
        reached("log.after")
        self._marks.wrote(number, adding.marks)
        self._recent, self._recent_end = adding.recent, adding.marks.end
        return results

    def _caught_up(self, connection: apsw.Connection, marks: Marks) -> RecentIds:
        """The ids that came lately, read anew where the file has more than memory knows."""
        if marks.end == self._recent_end:
            return self._recent
        return recent_ids(connection, self._recent, self._recent_end, marks)


def _refuse_lost(path: Path) -> None:
    """Raises StoreError where other files are there, so that a log was there too, but is not now.

    A new one would give out the offsets of the lost one again.
    """
    log = path / "log.db"
    is_there = log.exists() and log.stat().st_size > 0
    if not is_there and any((path / name).exists() for name in ("batches.db", "cursors.db")):
        raise StoreError(f"{log} is missing or empty; run: wherecast store check {path}")
