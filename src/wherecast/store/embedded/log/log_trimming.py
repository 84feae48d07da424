"""What goes when a log is trimmed, and what of it stays: the ids of the window."""

from dataclasses import replace
from typing import Any

import apsw

from wherecast.store.embedded.log.log_commit import LogCommit
from wherecast.store.embedded.log.log_tables import SIZE, Marks
from wherecast.store.ids.recent_ids import IdWindow

_ENTRIES_AT_ONCE = 1_000  # whoever appends waits for so long


def trim_some(commit: LogCommit, before: int, window: IdWindow) -> bool:
    """Removes the first entries that end before an offset; says whether there may be more.

    The hashes and digests of ids that publishers gave stay as long as the ids count.
    """
    connection, marks = commit.connection, commit.marks
    doomed: list[Any] = connection.execute(
        f"""SELECT first, {SIZE} FROM entries WHERE first < ?1 AND first + count <= ?1
            ORDER BY first LIMIT {_ENTRIES_AT_ONCE}""",
        (before,),
    ).fetchall()
    if doomed:
        _keep_ids(connection, doomed[-1][0], marks, window)
        connection.execute("DELETE FROM entries WHERE first <= ?", (doomed[-1][0],))
        first = connection.execute("SELECT min(first) FROM entries").get
        start = marks.end if first is None else first
        size = marks.bytes - sum(size for _, size in doomed)
        commit.chain("trim", start)
        commit.marks = replace(marks, start=start, bytes=size)
    return len(doomed) == _ENTRIES_AT_ONCE


def _keep_ids(connection: apsw.Connection, last: int, marks: Marks, window: IdWindow) -> None:
    """Keeps the ids of entries up to one, and forgets those that do not count any more."""
    newest = connection.execute("SELECT at FROM entries ORDER BY first DESC LIMIT 1").get
    connection.execute(
        """INSERT INTO trimmed_ids SELECT first, count, at, ids FROM entries
           WHERE first <= ? AND length(ids) > 8 * count + 4""",
        (last,),
    )
    connection.execute(
        "DELETE FROM trimmed_ids WHERE first + count <= ? OR at <= ?",
        (marks.end - window.publications, newest - window.age_us),
    )
