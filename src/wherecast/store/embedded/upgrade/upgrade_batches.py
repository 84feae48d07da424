"""The batches of layout 1 as those of today: `batches.db`, and the files of large segments.

Sequences were offsets and become moments. Segments are written again: a damaged or missing one is
left out, and is made again from the log when somebody asks for it. A damaged record stays damaged:
its checksum is wrong, and a repair rebuilds the records.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import pyarrow as pa

from wherecast.store.contracts import ENDLESS
from wherecast.store.embedded.batches.batch_tables import LAYOUT, checksum, read_segments
from wherecast.store.embedded.batches.segment_rows import SegmentRows
from wherecast.store.embedded.database import Database
from wherecast.store.embedded.upgrade.old_files import rows
from wherecast.store.embedded.upgrade.old_rows import (
    OldDamage,
    old_segment,
    segment_file,
)
from wherecast.store.embedded.upgrade.old_rows import checksum as old_checksum
from wherecast.store.segments.segment_files import SegmentFiles
from wherecast.store.segments.segments import renumbered
from wherecast.store.sequences import SLOT_BITS, NumberedNotifications

_BATCHES = 'SELECT first, "end", changes, at, checksum FROM batches ORDER BY first'
_STATE = "SELECT epoch, starts_at, checksum FROM state"
_SEGMENTS = 'SELECT first, "end", digest, data, tier FROM segments ORDER BY first'
_DEAD_LETTERS = """SELECT number, CAST(stream AS BLOB), "partition", "offset",
    CAST(reason AS BLOB), at, checksum FROM dead_letters"""
_ADD_BATCH = "INSERT OR IGNORE INTO batches VALUES (0, ?, ?, ?, ?, NULL, 0, x'', x'', x'', ?)"
_ADD_DEAD_LETTER = """INSERT INTO dead_letters
    VALUES (?, CAST(? AS TEXT), ?, ?, CAST(? AS TEXT), ?, ?)"""
_SEGMENTS_AT_ONCE = 64  # in one transaction
_TIER_MAX = 63
_LAST_SLOT = (1 << SLOT_BITS) - 1
_log = logging.getLogger("wherecast.store")


def matched_end(old: apsw.Connection) -> int:
    """The offset after the last one that an intact record of an old `batches.db` names."""
    ends = (row[1] for row in rows(old, _BATCHES) if _is_intact(row))
    return max(ends, default=0)


def build_batches(old: apsw.Connection, old_segments: Path, folder: Path, files: Path) -> set[str]:
    """Makes `batches.db` in a folder; returns the names of the files that its segments name.

    Args:
        old: reads the old `batches.db`.
        old_segments: the folder of the old segments.
        folder: where the new file is made.
        files: the folder of the new segments.
    """
    layout = replace(LAYOUT, grown_pages=0)
    with closing(Database(folder / "batches.db", layout, is_writer=True)) as database:
        with database.transaction() as connection:
            _add_state(connection, old)
            for row in rows(old, _BATCHES):
                _add_batch(connection, row)
            # The table is the same, so that a damaged dead letter stays what it is.
            connection.executemany(_ADD_DEAD_LETTER, rows(old, _DEAD_LETTERS))
        new = SegmentRows(database, SegmentFiles(files))
        left = _moved(old, old_segments)
        # One after the other: a large segment is not kept once its file is written.
        while prepared := [new.prepare(*one) for one in islice(left, _SEGMENTS_AT_ONCE)]:
            with database.transaction() as connection:
                new.insert(connection, prepared)
        with database.reading() as connection:
            return {row.file for row in read_segments(connection, 0, ENDLESS) if row.is_file}


def _add_state(connection: apsw.Connection, old: apsw.Connection) -> None:
    row = old.execute(_STATE).fetchone()
    if row is not None:
        fields = (row[0], _moment(row[1]))
        values = (*fields, _checksum(row, *fields))
        connection.execute("INSERT INTO state VALUES (0, ?, ?, ?)", values)


def _add_batch(connection: apsw.Connection, row: Sequence[Any]) -> None:
    first, end, changes, at, _ = row
    crc = _checksum(row, 0, end, first, changes, at, None, 0, b"", b"", b"")
    connection.execute(_ADD_BATCH, (end, first, changes, at, crc))


def _moved(old: apsw.Connection, old_segments: Path) -> Iterator[tuple[NumberedNotifications, int]]:
    """The segments that are intact, at their moments, each with its tier."""
    files = SegmentFiles(old_segments)
    for *row, tier in rows(old, _SEGMENTS):
        first, end, digest, data = row
        try:
            file = files.map(segment_file(first, end, digest)) if data is None else None
            notifications = old_segment(row, file)
        except FileNotFoundError:
            _log.warning("notifications %d to %d: the file is missing", first, end - 1)
        except (OldDamage, pa.ArrowException) as damage:
            _log.warning("notifications %d to %d are damaged: %s", first, end - 1, damage)
        else:
            moved = renumbered(notifications, lambda offsets: offsets << SLOT_BITS | _LAST_SLOT)
            whole = NumberedNotifications(_moment(first), _moment(end), moved)
            yield whole, min(max(tier, 0), _TIER_MAX)


def _is_intact(row: Sequence[Any]) -> bool:
    return bool(old_checksum(*row[:-1]) == row[-1])


def _checksum(row: Sequence[Any], *fields: int | bytes | None) -> int:
    """The checksum of the fields of a new row; a wrong one if the old row is damaged."""
    right = checksum(*fields)
    return right if _is_intact(row) else right ^ 1


def _moment(offset: int) -> int:
    """The first moment of the gap before an offset; of a damaged offset any number."""
    return offset << SLOT_BITS & (1 << 63) - 1
