"""Segments of `batches.db`: written with their files, opened and verified.

A file is written before the transaction that names it. Whoever deletes files does so in a
transaction too, and in its transaction the writer looks whether its file is still there: so a file
that a row names is never deleted by another process that swept.

Concurrency: safe from several threads. Opened segments are kept, and so is which were verified:
each is verified once per process; a row that this process wrote is not verified again.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import apsw
import pyarrow as pa

from wherecast.store.contracts import DamagedSegment
from wherecast.store.crash_points import reached
from wherecast.store.embedded.batches.batch_tables import SegmentRow
from wherecast.store.embedded.database import Database
from wherecast.store.segments.segment_files import (
    SegmentFiles,
    decode_file,
    decode_row,
    encode_file,
    encode_row,
    segment_digest,
)
from wherecast.store.segments.segment_settings import DEFAULT_SEGMENTS, SegmentSettings
from wherecast.store.sequences import NumberedNotifications

_VERIFIED_MAX = 100_000


class Swept(Exception):
    """A file or row was removed by another process or thread; the caller lists segments again."""


@dataclass(frozen=True, slots=True, eq=False)
class PreparedSegment:
    """A segment whose file, if it is one, is on disk; no row names it yet."""

    row: SegmentRow
    data: pa.Buffer | None


class SegmentRows:
    """The segments of one database.

    Args:
        database: `batches.db`, which has a row per segment.
        files: the folder of large segments.
        settings: limits.

    Attributes:
        opened_count: number of segments opened so far, for tests of the cost.
    """

    def __init__(
        self, database: Database, files: SegmentFiles, settings: SegmentSettings = DEFAULT_SEGMENTS
    ) -> None:
        self._database = database
        self._files = files
        self._settings = settings
        self._lock = threading.Lock()
        self._opened: OrderedDict[SegmentRow, pa.RecordBatch] = OrderedDict()
        self._verified: set[SegmentRow] = set()
        self.opened_count = 0

    def is_large(self, notifications: pa.RecordBatch) -> bool:
        """Whether a segment becomes a file."""
        return bool(pa.ipc.get_record_batch_size(notifications) >= self._settings.row_bytes_max)

    def prepare(self, segment: NumberedNotifications, tier: int) -> PreparedSegment:
        """Encodes a segment, and writes its file if it is a large one.

        Raises:
            Swept: the folder was swept meanwhile.
            StoreError: the file cannot be written.
        """
        first, end, notifications = segment.first, segment.end, segment.notifications
        is_file = self.is_large(notifications)
        data = encode_file(notifications) if is_file else encode_row(notifications)
        row = SegmentRow(first, end, tier, data.size, segment_digest(first, end, data), is_file)
        if not is_file:
            return PreparedSegment(row, data)
        try:
            self._files.write(row.file, data)
        except FileNotFoundError:
            raise Swept from None
        return PreparedSegment(row, None)

    def insert(self, connection: apsw.Connection, prepared: Iterable[PreparedSegment]) -> None:
        """Adds segments, in the transaction of the caller.

        Raises:
            Swept: a file was deleted meanwhile.
        """
        for one in prepared:
            row = one.row
            if row.is_file:
                if not self._files.exists(row.file):
                    raise Swept
                connection.execute("DELETE FROM dropped WHERE file = ?", (row.file,))
            connection.execute(
                "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)",
                (row.first, row.end, row.tier, row.size_bytes, row.digest, one.data),
            )
            if not row.is_file:  # a file is read back, and with it what the disk made of it
                self._note_verified(row)

    def delete(self, connection: apsw.Connection, rows: Iterable[SegmentRow]) -> None:
        """Removes segments, in the transaction of the caller; their files go later.

        Raises:
            Swept: one was removed meanwhile.
        """
        now = int(time.time())
        for row in rows:
            connection.execute(
                "DELETE FROM segments WHERE first = ? AND digest = ?", (row.first, row.digest)
            )
            if not connection.changes():
                raise Swept
            if row.is_file:
                connection.execute("INSERT OR REPLACE INTO dropped VALUES (?, ?)", (row.file, now))

    def open(self, row: SegmentRow) -> pa.RecordBatch:
        """The notifications of a segment.

        Raises:
            DamagedSegment: they are missing, or not as they were written.
            Swept: the segment was merged or trimmed since.
        """
        with self._lock:
            found = self._opened.get(row)
            if found is not None:
                self._opened.move_to_end(row)
                return found
        problem: str | None = None
        try:
            found = self._verified_batch(row)
        except FileNotFoundError:
            problem = "the file is missing"
        except DamagedSegment as error:
            problem = error.reason
        if found is None:
            if not self._is_there(row):
                raise Swept
            raise DamagedSegment(row.first, row.end, problem or "the row is missing")
        with self._lock:
            self.opened_count += 1
            self._opened[row] = found
            if len(self._opened) > self._settings.opened_max:
                self._opened.popitem(last=False)
        return found

    def sweep_dropped(self, at_least: int = 1) -> None:
        """Deletes the files of segments dropped a while ago, if they are at least `at_least`."""
        before = int(time.time() - self._settings.dropped_kept_s)
        due = "SELECT file FROM dropped WHERE at <= ?"
        with self._database.reading() as connection:
            found = connection.execute(f"{due} LIMIT {at_least}", (before,)).fetchall()
        if len(found) < at_least:
            return
        with self._database.transaction() as connection:
            for (name,) in connection.execute(due, (before,)).fetchall():
                self._files.remove(str(name))
                connection.execute("DELETE FROM dropped WHERE file = ?", (name,))
            reached("sweep.before")

    def sweep_unnamed(self, connection: apsw.Connection) -> None:
        """Deletes the files that nothing names, in the transaction of the caller."""
        segments = connection.execute(
            'SELECT first, "end", tier, bytes, digest, 1 FROM segments WHERE data IS NULL'
        )
        named = {SegmentRow(*row).file for row in segments}
        named.update(name for (name,) in connection.execute("SELECT file FROM dropped"))
        for name in self._files.names():
            if name not in named:
                self._files.remove(name)

    def _verified_batch(self, row: SegmentRow) -> pa.RecordBatch | None:
        """The notifications of a segment; None where its row is not there.

        Raises:
            DamagedSegment: they are not as they were written.
            FileNotFoundError: the file is missing.
        """
        data = self._files.map(row.file) if row.is_file else self._data(row)
        if data is None:
            return None
        if row not in self._verified:
            if segment_digest(row.first, row.end, data) != row.digest:
                raise DamagedSegment(row.first, row.end, "the digest is wrong")
            self._note_verified(row)
        return decode_file(data) if row.is_file else decode_row(data)

    def _note_verified(self, row: SegmentRow) -> None:
        """Notes that this process computed the digest of a segment, and need not do so again."""
        with self._lock:
            if len(self._verified) >= _VERIFIED_MAX:
                self._verified.clear()
            self._verified.add(row)

    def _data(self, row: SegmentRow) -> pa.Buffer | None:
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT data FROM segments WHERE first = ? AND digest = ?", (row.first, row.digest)
            ).fetchone()
        return None if found is None or found[0] is None else pa.py_buffer(found[0])

    def _is_there(self, row: SegmentRow) -> bool:
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT 1 FROM segments WHERE first = ? AND digest = ?", (row.first, row.digest)
            ).fetchone()
        return found is not None
