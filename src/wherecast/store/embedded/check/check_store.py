"""Verifies everything that a directory holds, whether or not a server runs on it.

What is looked at first must not refer beyond what is looked at later, since a server may write
meanwhile: batches come first, then the log with its cursors.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from wherecast.model import StoreError
from wherecast.store.embedded.batches import batch_tables
from wherecast.store.embedded.check.check_batches import (
    check_batches,
    check_dead_letters,
    check_segments,
)
from wherecast.store.embedded.check.check_log import check_changes, check_entries, check_registry
from wherecast.store.embedded.check.check_report import CheckFinding
from wherecast.store.embedded.database import Database, Layout, backup_advice
from wherecast.store.embedded.directory import Directory, is_upgradable
from wherecast.store.embedded.log import log_tables
from wherecast.store.embedded.log.cursor_rows import cursor_of, cursor_rows
from wherecast.store.embedded.log.log_mark import NAME, read_mark
from wherecast.store.embedded.log.log_tables import Marks
from wherecast.store.embedded.log.lost_commits import accepted_losses, find_loss
from wherecast.store.sequences import SLOT_BITS

_PROBLEMS_MAX = 20  # of one file, as SQLite tells them


@dataclass
class _Ends:
    """How far each file goes, as the check has seen it."""

    known: Marks | None = None
    matched: int = 0
    changes: int = 0


def check_store(path: Path) -> Iterator[CheckFinding]:
    """Checks everything in a directory; yields the checked records and each problem.

    Raises:
        ConfigError: the directory is no store, or cannot be read.
    """
    try:
        Directory(path, "reader").close()
    except StoreError as error:
        yield CheckFinding("format", "", 0, str(error))
        if is_upgradable(path):
            return
    ends = _Ends(known=read_mark(path))  # before the log: an owner may commit meanwhile
    yield from _file(path, "batches.db", batch_tables.LAYOUT, lambda found: _batches(found, ends))
    yield from _file(path, "log.db", log_tables.LAYOUT, lambda found: _log(found, ends))


Part = Callable[[Database], Iterator[CheckFinding]]


def _file(path: Path, name: str, layout: Layout, part: Part) -> Iterator[CheckFinding]:
    """A database file: SQLite's own pages first, then what is in it."""
    try:
        database = Database(path / name, layout, is_writer=False)
    except StoreError as error:
        yield CheckFinding(name, "", 0, str(error))
        return
    try:
        with database.reading() as connection:
            lines = connection.execute(f"PRAGMA integrity_check({_PROBLEMS_MAX})").fetchall()
        for (line,) in lines:
            if line != "ok":
                yield CheckFinding(name, "", 0, str(line))
        if lines != [("ok",)] and (advice := backup_advice(name)):
            yield CheckFinding(name, "", 0, advice)
        with database.reading() as connection:
            database.check_tables(connection)
        yield from part(database)
    except StoreError as error:
        yield CheckFinding(name, "", 0, str(error))
    finally:
        database.close()


def _cursors(database: Database) -> Iterator[CheckFinding]:
    """Every cursor, and that none is beyond the log, which is looked at after the cursors."""
    acknowledged = 0
    for row in cursor_rows(database):
        cursor = cursor_of(row)
        if cursor is None:
            problem = f"the cursor of {row[0]!r} is damaged: its queue is delivered again"
            yield CheckFinding("log.db", "cursor", 1, problem)
        else:
            acknowledged = max(acknowledged, cursor.through, *cursor.beyond)
            yield CheckFinding("log.db", "cursor", 1)
    with database.reading() as connection:
        marks = log_tables.read_marks(connection)
    if acknowledged > marks.end << SLOT_BITS:  # batches may end earlier: they are made again
        offset = acknowledged >> SLOT_BITS
        problem = f"notification {offset} is acknowledged, but it ends at {marks.end}"
        yield CheckFinding("log.db", "", 0, problem)


def _batches(database: Database, ends: _Ends) -> Iterator[CheckFinding]:
    with database.reading() as connection:
        progress = batch_tables.read_progress(connection, database.path)
        segments_end = connection.execute('SELECT max("end") FROM segments').get or 0
    ends.matched, ends.changes = progress.position[0], progress.changes
    if segments_end > progress.sequence:
        beyond = segments_end >> SLOT_BITS
        problem = f"its records end at {ends.matched}, but its segments at {beyond}"
        yield CheckFinding("batches.db", "", 0, problem)
    yield from check_batches(database)
    yield from check_segments(database, progress.sequence)
    yield from check_dead_letters(database)


def _log(database: Database, ends: _Ends) -> Iterator[CheckFinding]:
    with database.reading() as connection:
        marks = log_tables.read_marks(connection)
        is_damaged = log_tables.has_damaged_marks(connection)
        losses = list(accepted_losses(connection))
    yield from _second_place(database, marks, ends.known)
    for what in losses:
        yield CheckFinding("log.db", "", 0, note=what)
    if is_damaged:
        problem = "the marks of its beginning and end are damaged: they are counted anew"
        yield CheckFinding("log.db", "", 0, problem)
        marks = marks.reaching(ends.matched)
    if ends.matched > marks.end or ends.changes > marks.version:
        yield CheckFinding("log.db", "", 0, f"it ends at {marks.end}, batches at {ends.matched}")
    yield from _cursors(database)
    yield from _lost_batches(database.path.parent / "batches.db", marks.start)
    yield from check_entries(database, marks)
    yield from check_changes(database, marks)
    yield from check_registry(database)


def _second_place(database: Database, marks: Marks, known: Marks | None) -> Iterator[CheckFinding]:
    """That the log holds no less than its second place knows."""
    if known is None and marks.commits:
        note = "it is missing or damaged, which is harmless: the next start writes it anew"
        yield CheckFinding(NAME, "", 0, note=note)
    loss = find_loss(database, known)
    if loss is not None:
        yield CheckFinding("log.db", "", 0, str(loss.error(database.path)))


def _lost_batches(path: Path, start: int) -> Iterator[CheckFinding]:
    """That the records of batches reach the start of the log.

    They are read again, after the log: a server may have matched and trimmed more meanwhile.
    """
    end = start
    with (
        suppress(StoreError),  # a file that cannot be read is named already
        closing(Database(path, batch_tables.LAYOUT, is_writer=False)) as database,
        database.reading() as connection,
    ):
        end = batch_tables.read_progress(connection, path).position[0]
    if end < start:
        problem = f"its records end at {end}, but the log begins at {start}"
        yield CheckFinding(path.name, "", 0, problem)
