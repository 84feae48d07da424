"""Segments on disk: small ones are rows of `batches.db`, larger ones are files.

Concurrency: safe from several threads and processes. A reader lists the segments in one step and
opens them then; where one was merged away meanwhile, it lists them again. Merging, replacing and
trimming check in their transaction that what they remove is still there, so they can run beside one
another and beside commits.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

import apsw
from typing_extensions import override

from wherecast.model import ConflictError, StoreError
from wherecast.store.contracts import ENDLESS, DamagedSegment, Mailboxes
from wherecast.store.crash_points import reached
from wherecast.store.embedded.batches.batch_tables import (
    SegmentRow,
    read_progress,
    read_segments,
    read_state,
    segments_end,
    write_state,
)
from wherecast.store.embedded.batches.segment_rows import SegmentRows, Swept
from wherecast.store.embedded.database import Database, damaged
from wherecast.store.records import Batch, Queued
from wherecast.store.segments import segments as columns
from wherecast.store.segments.merging import FAN_IN, due
from wherecast.store.segments.segment_queues import counted, queue
from wherecast.store.sequences import (
    SLOT_BITS,
    MomentNumbering,
    NumberedNotifications,
    check_cover,
    numbered,
)

_TRIES = 20
# The last one stays: it is the progress.
_FORGET_BATCHES = """DELETE FROM batches WHERE "partition" = 0 AND "end" <= ?
    AND "end" < (SELECT max("end") FROM batches WHERE "partition" = 0)"""

Result = TypeVar("Result")


class EmbeddedMailboxes(Mailboxes):
    """Segments by subscriber: what committed batches notify."""

    def __init__(self, database: Database, segments: SegmentRows) -> None:
        self._database = database
        self._segments = segments
        self._merging = threading.Lock()

    @override
    def queued(self, subscriber: str, start: int, limit: int) -> Queued:

        def look() -> Queued:
            rows, end = self._listed(start)
            opened = (self._segments.open(row) for row in rows if not row.is_empty)
            return queue(opened, subscriber, start, limit, end)

        return _retried(look)

    @override
    def counts(self, starts: Mapping[str, int], end: int = ENDLESS) -> dict[str, int]:

        def look() -> dict[str, int]:
            rows, _ = self._listed(min(starts.values(), default=ENDLESS))
            # The newest first: they are merged soon, and it would have to begin again.
            newest = (self._segments.open(row) for row in reversed(rows) if not row.is_empty)
            return counted(newest, starts, end)

        return _retried(look)

    @override
    def since(self, start: int, bytes_max: int = ENDLESS) -> list[NumberedNotifications] | None:

        def look() -> list[NumberedNotifications] | None:
            rows, _ = self._listed(start)
            if sum(row.size_bytes for row in rows) > bytes_max:
                return None
            return [
                NumberedNotifications(row.first, row.end, self._segments.open(row)) for row in rows
            ]

        return _retried(look)

    @override
    def merge(self) -> int:
        with self._merging:
            self._segments.sweep_dropped(at_least=FAN_IN)
            return _retried(self._merge)

    @override
    def replace(self, first: int, end: int, batches: Sequence[tuple[int, Batch]]) -> None:
        given = [numbered(batch, start, MomentNumbering()) for start, batch in batches]
        check_cover(given, first, end)

        def put() -> None:
            with self._database.reading() as connection:
                old = read_segments(connection, first, end)
                is_there = self._covers(connection, first, end)
            if not is_there or any(row.first < first or row.end > end for row in old):
                raise ConflictError(f"sequences {first} to {end - 1} were merged or trimmed since")
            self._put(old, _joined(given), max((row.tier for row in old), default=0))

        _retried(put)

    @override
    def trim(self, before: int) -> None:
        """Removes segments wholly before a sequence, with the records of their batches.

        The last record stays.
        """

        def cut() -> None:
            with self._database.reading() as connection:
                rows = [row for row in read_segments(connection, 0, before) if row.end <= before]
            if rows:
                self._remove(rows)

        _retried(cut)
        self._segments.sweep_dropped()

    @override
    def starts_at(self) -> int:
        with self._database.reading() as connection:
            return read_state(connection, self._database.path)[1]

    def _listed(self, start: int) -> tuple[list[SegmentRow], int]:
        """The segments that reach beyond a sequence, and where all of them end.

        Raises:
            DamagedSegment: some are missing.
        """
        path = self._database.path
        with self._database.reading() as connection:
            _, begins = read_state(connection, path)
            end = read_progress(connection, path).sequence
            rows = read_segments(connection, max(start, begins), end)
            at = max(start, begins)
            for row in rows:
                if row.end <= at:
                    what = f"notifications of publication {at >> SLOT_BITS} are there twice"
                    raise damaged(path, what)
                if row.first > at:
                    before = segments_end(connection, at, begins)
                    raise DamagedSegment(before, row.first, "they are missing")
                at = row.end
            if at < end:
                raise DamagedSegment(segments_end(connection, at, begins), end, "they are missing")
        return rows, end

    def _covers(self, connection: apsw.Connection, first: int, end: int) -> bool:
        """Whether a range of sequences was matched and not trimmed."""
        path = self._database.path
        _, begins = read_state(connection, path)
        return begins <= first < end <= read_progress(connection, path).sequence

    def _merge(self) -> int:
        with self._database.reading() as connection:
            rows = read_segments(connection, 0, ENDLESS)
        found = due([row.tier for row in rows], [row.size_bytes for row in rows])
        if not found:
            return 0
        old = rows[found.begin : found.end]
        for before, after in pairwise(old):
            if before.end < after.first:
                raise DamagedSegment(before.end, after.first, "they are missing")
        joined = _joined(
            [NumberedNotifications(row.first, row.end, self._segments.open(row)) for row in old]
        )
        reached("merge.joined")
        self._put(old, joined, found.tier)
        reached("merge.after")
        return len(old) - 1

    def _put(self, old: Sequence[SegmentRow], new: NumberedNotifications, tier: int) -> None:
        prepared = self._segments.prepare(new, tier)
        with self._database.transaction() as connection:
            self._segments.delete(connection, old)
            self._segments.insert(connection, [prepared])
            reached("merge.before")

    def _remove(self, rows: Sequence[SegmentRow]) -> None:
        start = rows[-1].end
        with self._database.transaction() as connection:
            self._segments.delete(connection, rows)
            epoch, _ = read_state(connection, self._database.path)
            write_state(connection, epoch, start)
            connection.execute(_FORGET_BATCHES, (start >> SLOT_BITS,))


def _joined(parts: Sequence[NumberedNotifications]) -> NumberedNotifications:
    notifications = columns.join([part.notifications for part in parts])
    return NumberedNotifications(parts[0].first, parts[-1].end, notifications)


def _retried(step: Callable[[], Result]) -> Result:
    """The result of a step, tried again where segments were merged or trimmed meanwhile."""
    for _ in range(_TRIES):
        try:
            return step()
        except Swept:
            continue
    raise StoreError("segments change faster than they can be read")
