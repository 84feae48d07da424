"""Entries as they are read from `log.db`.

Each page is read in a short transaction of its own; entries that are trimmed between two pages are
left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from wherecast.store.embedded.database import Database
from wherecast.store.embedded.log.entry_rows import READ_COLUMNS, Damage, entry_of
from wherecast.store.embedded.log.log_tables import read_marks
from wherecast.store.records import Entry

_PAGE_BYTES = 8 << 20

_ENTRIES = f"""SELECT {READ_COLUMNS}, {{}}, {{}} FROM entries
    WHERE first >= ifnull((SELECT max(first) FROM entries WHERE first <= ?1), 0) AND first < ?2
    ORDER BY first"""


@dataclass(frozen=True, slots=True)
class EntryParts:
    """Which parts of an entry are read beside its attributes."""

    headers: bool = False
    payloads: bool = False


def read_entries(database: Database, start: int, end: int, parts: EntryParts) -> Iterator[Entry]:
    """The entries that overlap a range of offsets, whole, in order."""
    while start < end:
        with database.reading() as connection:
            page = _page(connection, start, end, parts)
        if not page:
            return
        yield from page
        start = page[-1].end


def first_rows(rows: Iterable[Any]) -> list[Any]:
    """The first rows, some megabytes of them."""
    some: list[Any] = []
    size = 0
    for row in rows:
        some.append(row)
        size += sum(len(part) for part in row if isinstance(part, bytes))
        if size > _PAGE_BYTES:
            break
    return some


def _page(connection: apsw.Connection, start: int, end: int, parts: EntryParts) -> list[Entry]:
    """The next entries, some megabytes of them, with one for each hole."""
    marks = read_marks(connection)
    start, end = max(start, marks.start), min(end, marks.end)
    if start >= end:
        return []
    statement = _ENTRIES.format(
        "CAST(headers AS BLOB)" if parts.headers else "NULL",
        "CAST(payloads AS BLOB)" if parts.payloads else "NULL",
    )
    rows = first_rows(connection.execute(statement, (start, end)))

    def next_after(place: int) -> int:
        """Where the entry after a row begins."""
        if place + 1 < len(rows):
            return int(rows[place + 1][0])
        after = "SELECT min(first) FROM entries WHERE first > ?"
        return connection.execute(after, (rows[place][0],)).get or marks.end

    return list(_without_holes(rows, next_after, range(start, end), parts))


def _without_holes(
    rows: Sequence[Any], next_after: Callable[[int], int], wanted: range, parts: EntryParts
) -> Iterator[Entry]:
    """The entries of rows, and one for each hole in the range that is wanted.

    Args:
        rows: overlap the range; the first may begin before it.
        next_after: gives the first offset of the entry after a row; called only where necessary.
        wanted: range of offsets.
        parts: what is read of each entry.
    """
    start = wanted.start
    for place, row in enumerate(rows):
        if start < row[0]:
            yield _damaged(start, row[0], "it is missing")
        try:
            entry = entry_of(row, parts.headers, parts.payloads)
        except Damage as damage:
            entry = _damaged(row[0], next_after(place), str(damage))
        if start < entry.end:
            yield entry
            start = entry.end
        end = min(next_after(place), wanted.stop) if start < wanted.stop else start
        if start < end:
            yield _damaged(start, end, "it is missing")
            start = end
    if not rows:
        yield _damaged(start, wanted.stop, "it is missing")


def _damaged(first: int, end: int, what: str) -> Entry:
    which = f"publication {first}" if end == first + 1 else f"publications {first} to {end - 1}"
    return Entry(0, first, end - first, "", 0, b"", damage=f"the entry of {which}: {what}")
