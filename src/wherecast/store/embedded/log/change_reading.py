"""Changes as they are read from `log.db`.

Each page is read in a short transaction of its own. If changes are compacted between two pages, the
reader gets all parts of the compaction, from version 0 on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import apsw

from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.change_rows import change_of
from wherecast.store.embedded.log.entry_rows import Damage, unsealed
from wherecast.store.embedded.log.log_reading import first_rows
from wherecast.store.embedded.log.log_tables import read_marks
from wherecast.store.position import Position
from wherecast.store.records import NO_CHANGES, ChangeEntry

_SCANNED_MAX = 200_000  # rows; verifying more at each start would take too long
_ROWS = """SELECT version, count, at, acts_from, CAST(batch AS BLOB) FROM changes
    WHERE version > ? ORDER BY version"""
_CHANGES = """SELECT version, count, at, acts_from, CAST(batch AS BLOB) FROM changes
    WHERE version >= ifnull((SELECT max(version) FROM changes WHERE version <= ?1), 0)
    AND version < ?2 ORDER BY version"""


def read_changes(database: Database, start: int, end: int) -> Iterator[ChangeEntry]:
    """The changes that overlap a range of versions, whole, in order.

    Of what was compacted all parts are given, from version 0 on.
    """
    begun: list[int] = []  # what was compacted to these versions is given from its beginning
    while start < end:
        with database.reading() as connection:
            page = _page(connection, start, end)
        if not page:
            return
        compacted_to = {entry.compacted_to for entry in page if entry.compacted_to is not None}
        if new := compacted_to.difference(begun):
            begun.extend(new)
            end = max(end, *new)
            if page[0].version:
                page = []
        start = page[-1].end if page else 0
        for entry in page:
            is_first = begun and entry.version == 0  # it may be damaged
            yield replace(entry, compacted_to=begun[-1]) if is_first else entry


def count_damaged_changes(database: Database) -> int:
    """Number of changes that are damaged or missing, by the checksums of the first rows."""
    with database.reading() as connection:
        end = read_marks(connection).version
    after, expected, scanned, damaged = -1, 0, 0, 0
    while scanned < _SCANNED_MAX:
        with database.reading() as connection:
            rows = first_rows(connection.execute(_ROWS, (after,)))
        if not rows:
            return damaged + end - expected
        for row in rows:
            try:
                unsealed(row[:4], row[4])
            except Damage:
                continue  # its changes are those up to the next row that is intact
            damaged += row[0] - expected
            expected = row[0] + row[1]
        after, scanned = rows[-1][0], scanned + len(rows)
    return damaged


def _page(connection: apsw.Connection, start: int, end: int) -> list[ChangeEntry]:
    """The next entries, some megabytes of them, with one for each hole."""
    end = min(end, read_marks(connection).version)
    if start >= end:
        return []
    rows = first_rows(connection.execute(_CHANGES, (start, end)))
    if not rows:
        return [_missing(start, end)]
    after = "SELECT min(version) FROM changes WHERE version > ?"
    last = connection.execute(after, (rows[-1][0],)).get or read_marks(connection).version
    ends = [*(row[0] for row in rows[1:]), last]
    return list(_without_holes(rows, ends, start))


def _without_holes(rows: Sequence[Any], ends: Sequence[int], start: int) -> Iterator[ChangeEntry]:
    """The entries of rows from a version on, and one for each hole.

    Args:
        rows: overlap the range; the first may begin before it.
        ends: for each row the version of the next one.
        start: first version of the range.
    """
    if start < rows[0][0]:
        yield _missing(start, rows[0][0])
    for row, end in zip(rows, ends, strict=True):
        entry = _entry(row, end)
        if start < entry.end:
            yield entry
        if entry.end < end and start < end:
            yield _missing(max(start, entry.end), end)


def _entry(row: Any, end: int) -> ChangeEntry:
    """The entry of a row, or of its damage up to where the next one begins.

    Args:
        row: version, count, when accepted, from where they act, and the batch.
        end: where the next one begins.
    """
    try:
        return change_of(row)
    except Damage as damage:
        return _damaged(row[0], end, f"{_which(row[0], end, 'is', 'are')} damaged: {damage}")


def _missing(version: int, end: int) -> ChangeEntry:
    return _damaged(version, end, f"{_which(version, end, 'is', 'are')} missing")


def _damaged(version: int, end: int, what: str) -> ChangeEntry:
    return ChangeEntry(version, end - version, Position(), 0, NO_CHANGES, what)


def _which(version: int, end: int, one: str, more: str) -> str:
    if end == version + 1:
        return f"change {version} {one}"
    return f"changes {version} to {end - 1} {more}"
