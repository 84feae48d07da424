"""Changes of `log.db` that are replaced by what stands after them, when the log is trimmed.

Concurrency: one thread at a time. Only the owner appends and compacts, so what is read before the
transaction is still there in it.
"""

import apsw

from wherecast.store.changes.compaction import compact, first_due
from wherecast.store.crash_points import reached
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.change_reading import read_changes
from wherecast.store.embedded.log.change_rows import change_row
from wherecast.store.embedded.log.entry_rows import seal_of
from wherecast.store.embedded.log.log_commit import LogCommits
from wherecast.store.embedded.log.log_tables import INSERT_CHANGE, read_marks
from wherecast.store.embedded.log.registry import EmbeddedRegistry
from wherecast.store.position import Position

_BEFORE = "SELECT version, acts_from FROM changes WHERE version <= ? ORDER BY version DESC LIMIT 1"


class LogCompaction:
    """Compacts the changes of a log, where that is worth while."""

    def __init__(self, database: Database, commits: LogCommits, registry: EmbeddedRegistry) -> None:
        self._database = database
        self._commits = commits
        self._registry = registry
        self._due: int | None = None

    def run(self) -> None:
        """Compacts the changes that act from the start of the log or earlier, in one step."""
        with self._database.reading() as connection:
            marks = read_marks(connection)
            end = _end(connection, marks.start, marks.version)
        if self._due is None:
            self._due = first_due(self._compacted_to(), sum(self._registry.counts().values()))
        if end < self._due:
            return
        start = Position({0: marks.start})
        found = compact(read_changes(self._database, 0, end), start, end)
        if found.parts:
            rows = list(map(change_row, found.parts))
            with self._commits.begin() as commit:
                commit.connection.execute("DELETE FROM changes WHERE version < ?", (found.end,))
                commit.connection.executemany(INSERT_CHANGE, rows)
                commit.chain("compact", found.end, *(seal_of(row[4]) for row in rows))
                reached("compact.before")
            reached("compact.after")
        self._due = found.due

    def _compacted_to(self) -> int:
        """Where what was compacted ends; 0 where nothing was."""
        first = next(read_changes(self._database, 0, 1), None)
        return 0 if first is None else first.compacted_to or 0


def _end(connection: apsw.Connection, start: int, version: int) -> int:
    """Where the changes end that act from an offset or earlier, by halves.

    They are not checked here: where one is damaged, this may be wrong.
    """
    low, high = 0, version
    while low < high:
        middle = (low + high) // 2
        row = connection.execute(_BEFORE, (middle,)).fetchone()
        if row is None or row[1] <= start:
            low = middle + 1
        else:
            high = max(low, row[0])
    return low
