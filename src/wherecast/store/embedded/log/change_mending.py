"""A damaged change, made again from the registry, which keeps what the changes made.

The other changes make a registry, too. In what that differs from the one that is kept, the damaged
change was the last to touch anything: so the difference, put in its place, makes the same again.
What later changes superseded is not known any more.

Concurrency: the owner mends before anybody else of its process reads or writes.
"""

import logging
from dataclasses import dataclass, field

import numpy as np

from wherecast.model import StoreError
from wherecast.store.changes.change_batches import batch_of
from wherecast.store.changes.projection import Projection
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.change_reading import read_changes
from wherecast.store.embedded.log.change_rows import change_row
from wherecast.store.embedded.log.entry_rows import Damage, unsealed
from wherecast.store.embedded.log.log_reading import first_rows
from wherecast.store.embedded.log.log_tables import INSERT_CHANGE, Marks, read_marks
from wherecast.store.embedded.log.registry import EmbeddedRegistry
from wherecast.store.embedded.log.registry_mending import difference, rows_between
from wherecast.store.position import Position
from wherecast.store.records import ChangeEntry

_SCANNED_MAX = 200_000  # rows; reading more at each start would take too long
_ROWS_MAX = 65_536  # in one entry
_ROWS = """SELECT version, count, at, acts_from, CAST(batch AS BLOB) FROM changes
    WHERE version >= ? ORDER BY version"""
_log = logging.getLogger("wherecast.store")


def mend_changes(database: Database) -> None:
    """Makes a damaged change again, where the registry tells what it made.

    Where more than one is damaged, nobody can tell which made what: they stay as they are.
    """
    with database.reading() as connection:
        marks = read_marks(connection)
    if not _has_damage(database, marks.version):
        return
    found = _Found(marks)
    for entry in read_changes(database, 0, marks.version):
        found.take(entry)
    if len(found.damaged) != 1:
        return
    try:
        mended = _mended(database, found)
    except StoreError:  # the registry is damaged, too
        return
    if mended is not None:
        bad, known = found.damaged[0], mended.changes.num_rows
        what = "%s: %s; it is made again from the registry, which knows %d of its changes"
        _log.warning(what, database.path, bad.damage, known)
        with database.transaction() as connection:
            connection.execute("DELETE FROM changes WHERE version = ?", (bad.version,))
            connection.execute(INSERT_CHANGE, change_row(mended))


def _has_damage(database: Database, version: int) -> bool:
    """Whether a change is damaged or missing, among the first ones."""
    expected = scanned = 0
    while expected < version and scanned < _SCANNED_MAX:
        with database.reading() as connection:
            rows = first_rows(connection.execute(_ROWS, (expected,)))
        for row in rows:
            try:
                unsealed(row[:4], row[4])
            except Damage:
                return True
            if row[0] != expected:
                return True
            expected += row[1]
        if not rows:
            return True
        scanned += len(rows)
    return False


@dataclass
class _Found:
    """What the changes are, but for damaged ones.

    Attributes:
        marks: where the log ends.
        made: what the others make.
        damaged: those that cannot be read.
        before: from where the last one acts before a damaged one.
        after: from where the first one acts after it.
        compacted_to: where what was compacted ends.
    """

    marks: Marks
    made: Projection = field(default_factory=Projection)
    damaged: list[ChangeEntry] = field(default_factory=list)
    before: int = 0
    after: int | None = None
    compacted_to: int = 0

    def take(self, entry: ChangeEntry) -> None:
        """Takes in the next entry."""
        if entry.version == 0:  # it may come again
            self.damaged, self.before, self.after = [], 0, None
        self.made.take(entry)
        if entry.damage is not None:
            self.damaged.append(entry)
        elif not self.damaged:
            self.before = entry.acts_from[0]
        elif self.after is None:
            self.after = entry.acts_from[0]
        self.compacted_to = max(self.compacted_to, entry.compacted_to or 0)


def _mended(database: Database, found: _Found) -> ChangeEntry | None:
    """The entry that makes the registry as it is; None where none does."""
    (bad,) = found.damaged
    registry = EmbeddedRegistry(database)
    rows = list(rows_between(found.made, registry))
    if len(rows) > _ROWS_MAX:
        return None
    times = np.array([at for _, at in rows], np.int64)
    to = max(found.compacted_to, 0 if bad.version else bad.end)
    mended = ChangeEntry(
        bad.version,
        bad.count,
        Position({0: _acts_from(database, found)}),
        int(times.max(initial=0)),
        batch_of([row for row, _ in rows]),
        times=times,
        compacted_to=to if bad.version < to else None,
    )
    whole = Projection()
    for entry in read_changes(database, 0, found.marks.version):
        whole.take(mended if entry.version == bad.version else entry)
    return mended if difference(registry, whole) is None else None


def _acts_from(database: Database, found: _Found) -> int:
    """From where a damaged change acts: as it says, if that is between those before and after it.

    Otherwise from where it may have acted at the earliest, so that nothing is lost.
    """
    last = found.marks.end if found.after is None else found.after
    with database.reading() as connection:
        own = "SELECT acts_from FROM changes WHERE version = ?"
        said = connection.execute(own, (found.damaged[0].version,)).get
    return said if said is not None and found.before <= said <= last else found.before
