"""The check of `log.db`: publications, changes, and the registry that they make."""

from collections.abc import Iterator, Sequence
from typing import Any

from wherecast.store.changes.projection import Projection
from wherecast.store.embedded.check.check_report import CheckFinding
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.change_reading import read_changes
from wherecast.store.embedded.log.entry_rows import Damage, ids_of
from wherecast.store.embedded.log.log_reading import EntryParts, read_entries
from wherecast.store.embedded.log.log_tables import Marks, read_marks
from wherecast.store.embedded.log.named_rows import named_problems
from wherecast.store.embedded.log.rebuild_registry import difference
from wherecast.store.embedded.log.registry import EmbeddedRegistry

_PAGE = 1000
_TRIES = 3
_FILE = "log.db"


def check_entries(database: Database, marks: Marks) -> Iterator[CheckFinding]:
    """Every record, with its headers and payload, and what is kept of its id."""
    for entry in read_entries(database, marks.start, marks.end, EntryParts(True, True)):
        yield CheckFinding(_FILE, entry.kind, entry.count, entry.damage)
    for table in ("entries", "trimmed_ids"):
        yield from _check_ids(database, table)
    with database.reading() as connection:
        problems = [problem for problem in named_problems(connection) if problem is not None]
    for problem in problems:
        yield CheckFinding(_FILE, "", 0, problem)


def _check_ids(database: Database, table: str) -> Iterator[CheckFinding]:
    """A finding for each row of stored ids in a table."""
    after = -1
    while True:
        with database.reading() as connection:
            rows: Sequence[Any] = connection.execute(
                f"SELECT first, count, at, ids FROM {table} WHERE first > ? LIMIT {_PAGE}",
                (after,),
            ).fetchall()
        for *head, ids in rows:
            try:
                ids_of(head, ids)
            except Damage as damage:
                problem = f"the ids of the publications from {head[0]} on: {damage}"
                yield CheckFinding(_FILE, "publication", 0, problem)
        if len(rows) < _PAGE:
            return
        after = rows[-1][0]


def check_changes(database: Database, marks: Marks) -> Iterator[CheckFinding]:
    """Every change, and that none is missing."""
    for entry in read_changes(database, 0, marks.version):
        problem = entry.damage
        if problem is not None:
            problem += "; what it made is not matched"
        yield CheckFinding(_FILE, "change", entry.changes.num_rows, problem)


def check_registry(database: Database) -> Iterator[CheckFinding]:
    """That the tables of the registry are what the changes make.

    Where changes come meanwhile, it looks again; a registry that never rests is passed over.
    """
    expected, registry = Projection(), EmbeddedRegistry(database)
    for _ in range(_TRIES):
        version = _version(database)
        for entry in read_changes(database, expected.version, version):
            expected.take(entry)
        problem = difference(registry, expected)
        if problem is None or _version(database) == version:
            yield CheckFinding(_FILE, "", 0, problem)
            return


def _version(database: Database) -> int:
    with database.reading() as connection:
        return read_marks(connection).version
