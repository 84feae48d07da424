"""The counters of publishers and the marks of links, as rows of `log.db`; each has a checksum."""

import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence

import apsw

from wherecast.model.errors import StoreError
from wherecast.store.embedded.log.log_commit import LogCommit
from wherecast.store.position import Position
from wherecast.store.records import LinkMark

_COUNTERS = "SELECT stream, name, counter, crc FROM publishers"
_MARKS = "SELECT link, log, incarnation, position, crc FROM link_marks"


def read_counters(connection: apsw.Connection, stream: str, names: Sequence[str]) -> list[int]:
    """The last counter of each of some publishers of a stream; 0 for a new one.

    Raises:
        StoreError: one is not as it was written.
    """
    statement = f"{_COUNTERS} WHERE stream = ? AND name = ?"
    rows = [connection.execute(statement, (stream, name)).fetchone() for name in names]
    for row in rows:
        if row is not None and (problem := _counter_problem(row)) is not None:
            raise StoreError(problem)
    return [0 if row is None else row[2] for row in rows]


def counter_rows(connection: apsw.Connection) -> Iterator[tuple[str, str, int | None]]:
    """Yields the stream, the name and the last counter of each publisher; None: it is damaged."""
    for row in connection.execute(_COUNTERS):
        yield row[0], row[1], row[2] if _counter_problem(row) is None else None


def write_counters(commit: LogCommit, stream: str, lasts: Mapping[str, int]) -> None:
    """Writes the last counters of publishers of a stream."""
    rows = [(stream, name, last, _crc(stream, name, str(last))) for name, last in lasts.items()]
    commit.connection.executemany("INSERT OR REPLACE INTO publishers VALUES (?, ?, ?, ?)", rows)
    commit.chain("counters", *(row[-1] for row in rows))


def read_link_marks(connection: apsw.Connection) -> dict[str, LinkMark]:
    """The mark of each link.

    Raises:
        StoreError: one is not as it was written.
    """
    found = {}
    for row in connection.execute(_MARKS):
        if (problem := _mark_problem(row)) is not None:
            raise StoreError(problem)
        link, log, incarnation, position, _ = row
        found[link] = LinkMark(link, log, incarnation, Position.from_json(position))
    return found


def write_link_mark(commit: LogCommit, mark: LinkMark) -> None:
    """Writes the mark of a link in the place of the old one."""
    fields = mark.link, mark.log, mark.incarnation, mark.position.to_json()
    row = (*fields, _crc(*fields))
    commit.connection.execute("INSERT OR REPLACE INTO link_marks VALUES (?, ?, ?, ?, ?)", row)
    commit.chain("link mark", row[-1])


def named_problems(connection: apsw.Connection) -> Iterator[str | None]:
    """For each counter and each mark the problem, None where it is as it was written."""
    for row in connection.execute(_COUNTERS):
        yield _counter_problem(row)
    for row in connection.execute(_MARKS):
        yield _mark_problem(row)


def _counter_problem(row: Sequence[str | int]) -> str | None:
    stream, name, counter, crc = row
    if crc == _crc(stream, name, str(counter)):
        return None
    return f"the counter of publisher {name} of stream {stream} in log.db is damaged"


def _mark_problem(row: Sequence[str | int]) -> str | None:
    *fields, crc = row
    return None if crc == _crc(*fields) else f"the mark of link {row[0]} in log.db is damaged"


def _crc(*fields: str | int) -> int:
    crc = 0
    for field in fields:
        data = str(field).encode("utf-8", "surrogateescape")
        crc = zlib.crc32(data, zlib.crc32(struct.pack("<q", len(data)), crc))
    return crc
