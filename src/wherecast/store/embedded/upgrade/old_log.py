"""The history of a log of layout 1, in the order in which it came, and its cursors."""

import heapq
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import apsw
import numpy as np

from wherecast.store.embedded.upgrade.old_files import rows
from wherecast.store.embedded.upgrade.old_rows import (
    OldBounds,
    OldChanges,
    OldDamage,
    OldEntry,
    OldTrimmed,
    checksum,
    old_bounds,
    old_changes,
    old_entry,
    old_trimmed,
)

# Text as bytes, since a damaged text could not be read at all.
_ENTRIES = """SELECT first, count, at, crc, CAST(stream AS BLOB), ids, rows, attributes, envelopes
    FROM entries ORDER BY first"""
_TRIMMED = "SELECT first, count, at, ids FROM trimmed_ids ORDER BY first"
_CHANGES = "SELECT version, count, at, acts_from, batch FROM changes ORDER BY version"
_BOUNDS = "SELECT start, end, version, bytes, crc FROM marks"
_CURSORS = "SELECT CAST(subscriber AS BLOB), through, lost, beyond, checksum FROM cursors"
_log = logging.getLogger("wherecast.store")

OldRecord = OldTrimmed | OldEntry | OldChanges
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class OldCursor:
    """What a subscriber acknowledged.

    Attributes:
        subscriber: its name.
        through: every notification before this offset is acknowledged.
        beyond: single acknowledged offsets.
        lost: number of notifications removed from the queue.
    """

    subscriber: str
    through: int
    beyond: tuple[int, ...]
    lost: int


def history(connection: apsw.Connection) -> Iterator[OldRecord]:
    """Publications, ids of trimmed ones and changes as they came, without damaged ones."""
    records: Iterator[OldRecord] = _intact(rows(connection, _ENTRIES), old_entry, "publication")
    trimmed: Iterator[OldRecord] = _intact(rows(connection, _TRIMMED), old_trimmed, "trimmed id")
    changes: Iterator[OldRecord] = _intact(rows(connection, _CHANGES), old_changes, "change")
    return heapq.merge(changes, trimmed, records, key=_place)


def read_bounds(connection: apsw.Connection, matched: int) -> OldBounds:
    """Where the log begins and ends; damaged bounds are counted anew.

    Args:
        connection: reads `log.db`.
        matched: end of the batches. Only what was matched is ever trimmed, so the log ends where
            its tables end, or there.
    """
    found = old_bounds(connection.execute(_BOUNDS).fetchone())
    if found is not None:
        return found
    start, end = connection.execute("SELECT min(first), max(first + count) FROM entries").get
    version, acts_from = connection.execute(
        "SELECT max(version + count), max(acts_from) FROM changes"
    ).get
    trimmed = connection.execute("SELECT max(first + count) FROM trimmed_ids").get
    end = max(end or 0, acts_from or 0, trimmed or 0, matched)
    if end:
        _log.warning("the marks of the log were damaged; it ends at %d", end)
    return OldBounds(end if start is None else start, end, version or 0)


def read_registry(connection: apsw.Connection, table: str) -> list[Any]:
    """The rows of a table of the registry."""
    return connection.execute(f"SELECT * FROM {table}").fetchall()


def read_cursors(connection: apsw.Connection) -> Iterator[OldCursor]:
    """Every cursor that is intact."""
    for data, *fields, expected in rows(connection, _CURSORS):
        name = data.decode(errors="replace")
        if checksum(name, *fields) != expected:
            _log.warning("the cursor of %r is damaged: its queue is delivered again", name)
            continue
        through, lost, beyond = fields
        yield OldCursor(name, through, tuple(np.frombuffer(beyond, "<i8").tolist()), lost)


def _place(record: OldRecord) -> tuple[int, bool]:
    """The order of history: changes come before the publications on which they act."""
    if isinstance(record, OldChanges):
        return record.acts_from, False
    return record.first, True


def _intact(found: Iterator[Any], read: Callable[[Sequence[Any]], Row], noun: str) -> Iterator[Row]:
    """The rows that are as they were written; a warning names each other one."""
    for row in found:
        try:
            yield read(row)
        except OldDamage as damage:
            _log.warning("%s %d of the log is damaged: %s", noun, row[0], damage)
