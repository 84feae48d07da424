"""The embedded log: one partition, in `log.db`.

Concurrency: any number of threads. One process, the owner of the directory, appends; others read.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Lock

import apsw
import pyarrow as pa
from typing_extensions import override

from wherecast.model.errors import StoreError
from wherecast.store.changes.change_batches import check_changes
from wherecast.store.clock import boot_us, now_us
from wherecast.store.contracts import Log
from wherecast.store.crash_points import reached
from wherecast.store.embedded.directory import Directory
from wherecast.store.embedded.log.change_reading import count_damaged_changes, read_changes
from wherecast.store.embedded.log.log_commit import LogCommits
from wherecast.store.embedded.log.log_compaction import LogCompaction
from wherecast.store.embedded.log.log_mark import NAME, read_mark
from wherecast.store.embedded.log.log_reading import EntryParts, read_entries
from wherecast.store.embedded.log.log_tables import (
    LAYOUT,
    KnownMarks,
    Marks,
    has_damaged_marks,
    read_marks,
)
from wherecast.store.embedded.log.log_transaction import LogTransaction, recent_ids
from wherecast.store.embedded.log.log_trimming import trim_some
from wherecast.store.embedded.log.lost_commits import (
    Loss,
    accept_loss,
    accepted_losses,
    find_loss,
)
from wherecast.store.embedded.log.named_rows import read_link_marks
from wherecast.store.embedded.log.rebuild_counters import rebuild_counters
from wherecast.store.embedded.log.rebuild_registry import CHANGES_MAX, rebuild_registry
from wherecast.store.embedded.log.registry import EmbeddedRegistry
from wherecast.store.embedded.log.restate_registry import restate_registry
from wherecast.store.ids.recent_ids import IdWindow, RecentIds
from wherecast.store.ids.sifting import UnscopedIds
from wherecast.store.log_time import LogTime
from wherecast.store.position import Position
from wherecast.store.records import (
    Accepted,
    ChangeEntry,
    Entry,
    LinkMark,
    Progress,
    Publications,
    Receipt,
    Withdrawals,
)
from wherecast.store.store_items import (
    PendingChanges,
    PendingCursors,
    PendingPublications,
    PendingRecords,
    PendingTick,
    PendingWithdrawals,
    StoreItem,
    StoreResult,
)
from wherecast.store.wake import Bell

_FILE = "log.db"
_log = logging.getLogger("wherecast.store")


class EmbeddedLog(Log):
    """Records and changes on disk.

    Args:
        directory: where the log is.
        window: for how long the id of a publication counts.
        monotonic: a clock that nobody sets, in microseconds.
        accepts_loss: whether an owner goes on without commits that the log has lost.

    Attributes:
        identity: a random word that no other log has, but for its backups.
        incarnation: a random word that no other log and no backup has.
        registry: the projection of the changes.
        database: the file `log.db`, which holds the cursors, too.

    Raises:
        StoreError: the log is damaged, missing, or has lost commits.
    """

    def __init__(
        self,
        directory: Directory,
        window: IdWindow | None = None,
        monotonic: Callable[[], int] = boot_us,
        accepts_loss: bool = False,
    ) -> None:
        is_owner = directory.role == "owner"
        known = read_mark(directory.path)  # before the log: an owner may commit meanwhile
        if is_owner:
            _refuse_missing(directory.path, known)
        # Before a writer opens the log: it would write over what may tell of lost commits.
        loss = _loss(directory, known)
        if loss is not None and not (is_owner and accepts_loss):
            raise loss.error(directory.path / _FILE)
        self._directory = directory
        self.identity = directory.identity
        self.incarnation = directory.incarnation
        self.database = directory.database(_FILE, LAYOUT, is_owner)
        self._accepts_loss = accepts_loss
        self._marks = KnownMarks(self.database, is_owner)
        self.registry = EmbeddedRegistry(self.database, self._marks)
        self._commits = LogCommits(self.database, self._marks, known)
        self._compaction = LogCompaction(self.database, self._commits, self.registry)
        self._compacting = Lock()
        self._writing = Lock()
        self._recent = RecentIds(window)
        self._recent_end = 0  # the ids before this offset are in there
        self._unscoped_ids = UnscopedIds(*directory.unscoped_ids)
        self._damaged_changes: int | None = None  # counted once
        self._bell = Bell(directory.path / "wake-log")
        self._monotonic = monotonic
        if is_owner:
            try:
                self._begin(directory.path, known, loss)
            except BaseException:
                self.close()
                raise
        known_at = 0 if known is None else known.last_at  # the bounds of the log may be damaged
        self._time = LogTime(max(known_at, self._marks.now().last_at))

    def _begin(self, folder: Path, known: Marks | None, loss: Loss | None) -> None:
        """Takes over the log for writing."""
        if loss is not None:
            self._accept(loss)
        with self.database.reading() as connection:
            marks = read_marks(connection)
            losses = list(accepted_losses(connection))
            self._recent, self._recent_end = self._caught_up(connection, marks), marks.end
        if known is None and marks.commits:
            _log.warning("%s is missing or damaged: it is written anew", folder / NAME)
        elif known is not None and known.commits < marks.commits:
            _log.info("%s is older than the log: it is written anew", folder / NAME)
        for what in losses:
            _log.warning("%s: %s", self.database.path, what)
        self._commits.open_mark(folder, marks)

    @property
    def transactions(self) -> int:
        """How many were committed since the log was opened; each is one sync."""
        return self.database.transactions

    @override
    def append(self, publications: Publications, at: int, mark: LinkMark | None = None) -> Receipt:
        return self._receipt(PendingPublications(publications, at, mark))

    @override
    def withdraw(self, withdrawals: Withdrawals, at: int, mark: LinkMark | None = None) -> Receipt:
        return self._receipt(PendingWithdrawals(withdrawals, at, mark))

    @override
    def tick(self, at: int) -> Receipt:
        return self._receipt(PendingTick(at))

    def _receipt(self, item: PendingRecords) -> Receipt:
        (receipt,) = self.write([item])
        assert isinstance(receipt, Receipt)
        return receipt

    @override
    def change(self, changes: pa.RecordBatch, at: int) -> Accepted:
        (accepted,) = self.write([PendingChanges(changes, at)])
        assert isinstance(accepted, Accepted)
        return accepted

    @override
    def time(self, at: int) -> int:
        return self._time.at(at, self._monotonic(), self._marks.now().last_at)

    @override
    def link_marks(self) -> Mapping[str, LinkMark]:
        with self.database.reading() as connection:
            return read_link_marks(connection)

    @override
    def read(
        self, partition: int, start: int, end: int, headers: bool = False, payloads: bool = False
    ) -> Iterator[Entry]:
        assert partition == 0, "an embedded log has one partition"
        return read_entries(self.database, start, end, EntryParts(headers, payloads))

    @override
    def changes(self, start: int, end: int) -> Iterator[ChangeEntry]:
        return read_changes(self.database, start, end)

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
    def wait(self, is_enough: Callable[[Position], bool], timeout_s: float) -> bool:
        return self._bell.wait(lambda: is_enough(self.ends()), timeout_s)

    @override
    def wake(self) -> None:
        self._bell.ring()

    @override
    def bytes(self) -> int:
        return self._marks.now().bytes

    @override
    def size(self) -> int:
        marks = self._marks.now()
        return marks.end - marks.start  # this log is dense

    @override
    def count(self, partition: int, start: int, end: int) -> int:
        marks = self._marks.now()
        return max(0, min(end, marks.end) - max(start, marks.start))

    @override
    def skip(self, partition: int, start: int, count: int) -> int:
        marks = self._marks.now()
        return min(max(start, marks.start) + count, marks.end)

    @override
    def damaged_changes(self) -> int:
        if self._damaged_changes is None:
            self._damaged_changes = count_damaged_changes(self.database)
        return self._damaged_changes

    @override
    def trim(self, position: Position) -> None:
        is_more = True
        while is_more:
            with self._commits.begin() as commit:
                is_more = trim_some(commit, position[0], self._recent.window)
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
        path, end = self.database.path, matched.position[0]
        with self.database.reading() as connection:
            marks, is_damaged = read_marks(connection), has_damaged_marks(connection)
        if is_damaged:
            marks = marks.reaching(end)
        if marks.end < end or marks.version < matched.changes:
            further = replace(
                marks, end=max(marks.end, end), version=max(marks.version, matched.changes)
            )
            loss = Loss(marks, further, "batches.db")
            if not self._accepts_loss:
                raise loss.error(path)
            self._accept(loss)
            marks = further
        if is_damaged:
            _log.warning("the marks of %s were damaged; it ends at %d", path, marks.end)
            self.write_bounds(marks)
        if count := self.damaged_changes():
            what = "%s: %d changes are damaged and passed over; run: wherecast store check %s"
            _log.warning(what, path, count, path.parent)
        self.rebuild_registry(None if count else CHANGES_MAX)

    def write_bounds(self, marks: Marks) -> None:
        """Writes other bounds, where the ones of the file are damaged or end too soon."""
        with self._commits.begin() as commit:
            commit.chain("bounds")
            last_at = max(marks.last_at, commit.marks.last_at)
            commit.marks = replace(
                marks, last_at=last_at, commits=commit.marks.commits, chain=commit.marks.chain
            )

    def _accept(self, loss: Loss) -> None:
        # First: a snapshot of changes that are lost would not be what the registry says.
        self._directory.drop_snapshots()
        with self._commits.begin() as commit:
            accept_loss(commit, loss, now_us())

    def rebuild_registry(self, changes_max: int | None = None) -> str | None:
        """Rebuilds the registry where it is not what the changes make; the first difference.

        Where changes are damaged and the registry is intact, the registry stays, and new changes
        restate what is in it. A log with more changes than `changes_max` is left as it is.
        """
        if changes_max is None:
            restate_registry(self.database, self._commits)
        return rebuild_registry(self.database, changes_max)

    def rebuild_counters(self) -> None:
        """Rebuilds the counters of publishers where one is damaged."""
        rebuild_counters(self.database, self._commits)

    def close(self) -> None:
        """Closes the file, and its second place; waits for nothing any more."""
        self._bell.close()
        self._commits.close()
        self.database.close()

    def write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
        """Adds items in one transaction. What is known in memory changes after the commit."""
        for item in items:
            if isinstance(item, PendingChanges):
                check_changes(item.changes)
        has_cursors = any(isinstance(item, PendingCursors) for item in items)
        has_others = not all(isinstance(item, PendingCursors) for item in items)
        with self._writing:
            with self._commits.begin() as commit:
                end = commit.marks.end
                recent = self._caught_up(commit.connection, commit.marks)
                adding = LogTransaction(
                    commit, self.identity, recent, self._time_of, self._unscoped_ids
                )
                results = [adding.add(item) for item in items]
                if has_cursors:
                    reached("cursors.before")
                if has_others:
                    reached("log.before")
            if has_others:
                reached("log.after")
            if has_cursors:
                reached("cursors.after")
            self._recent, self._recent_end = adding.recent, adding.marks.end
        if adding.marks.end > end:
            self._bell.ring()
        return results

    def _time_of(self, at: int) -> int:
        return self._time.at(at, self._monotonic())

    def _caught_up(self, connection: apsw.Connection, marks: Marks) -> RecentIds:
        """The ids that came lately, read anew where the file has more than memory knows."""
        if marks.end == self._recent_end:
            return self._recent
        return recent_ids(connection, self._recent, self._recent_end, marks)


def _loss(directory: Directory, known: Marks | None) -> Loss | None:
    """What the log lacks of what its second place knows; the log is read and left as it is."""
    log = directory.path / _FILE
    if known is None or not (log.exists() and log.stat().st_size):
        return None
    with closing(directory.database(_FILE, LAYOUT, is_writer=False)) as database:
        return find_loss(database, known)


def _refuse_missing(path: Path, known: Marks | None) -> None:
    """Raises StoreError where other files are there, so that a log was there too, but is not now.

    A new one would give out the offsets of the lost one again.
    """
    log = path / _FILE
    is_there = log.exists() and log.stat().st_size > 0
    was_there = (path / "batches.db").exists() or (known is not None and known.commits > 0)
    if was_there and not is_there:
        raise StoreError(f"{log} is missing or empty; run: wherecast store check {path}")
