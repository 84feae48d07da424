"""Segments in memory.

Concurrency: one lock for the segments and the records of the batches they come from, so a reader
sees a batch whole or not at all. Segments are immutable; they are searched and joined without it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from typing_extensions import override

from wherecast.model import ConflictError
from wherecast.store.contracts import ENDLESS, Mailboxes
from wherecast.store.memory.committed import Committed, Kept
from wherecast.store.records import Batch, Queued
from wherecast.store.segments import segments as columns
from wherecast.store.segments.merging import due
from wherecast.store.segments.segment_queues import counted, queue
from wherecast.store.sequences import NumberedNotifications, check_cover, numbered


class MemoryMailboxes(Mailboxes):
    """Segments in the order of their sequences."""

    def __init__(self, committed: Committed) -> None:
        self._committed = committed
        self._lock = committed.lock

    @override
    def queued(self, subscriber: str, start: int, limit: int) -> Queued:
        with self._lock:
            found, end = self._from(start), self._committed.progress.sequence
        return queue((one.notifications for one in found), subscriber, start, limit, end)

    @override
    def counts(self, starts: Mapping[str, int], end: int = ENDLESS) -> dict[str, int]:
        with self._lock:
            found = self._from(min(starts.values(), default=ENDLESS))
        return counted((one.notifications for one in found), starts, end)

    @override
    def since(self, start: int, bytes_max: int = ENDLESS) -> list[NumberedNotifications] | None:
        with self._lock:
            found = self._from(start)
        size = sum(one.notifications.nbytes for one in found)
        return found if size <= bytes_max else None

    @override
    def merge(self) -> int:
        while True:
            with self._lock:
                kept = self._committed.kept
                found = due([one.tier for one in kept], [one.bytes for one in kept])
                if not found:
                    return 0
                old = kept[found.begin : found.end]
            joined = _joined([one.numbered for one in old])  # takes long, so without the lock
            with self._lock:
                begin = bisect_left(kept, joined.first, key=lambda one: one.numbered.first)
                if kept[begin : begin + len(old)] == old:
                    kept[begin : begin + len(old)] = [Kept.of(joined, found.tier)]
                    return len(old) - 1

    @override
    def replace(self, first: int, end: int, batches: Sequence[tuple[int, Batch]]) -> None:
        numbering = self._committed.numbering
        given = [numbered(batch, start, numbering) for start, batch in batches]
        check_cover(given, first, end)
        with self._lock:
            kept = self._committed.kept
            begin = bisect_right(kept, first, key=lambda one: one.numbered.end)
            after = bisect_left(kept, end, key=lambda one: one.numbered.first)
            old = kept[begin:after]
            if not old or old[0].numbered.first != first or old[-1].numbered.end != end:
                raise ConflictError(f"sequences {first} to {end - 1} were merged or trimmed since")
            kept[begin:after] = [Kept.of(_joined(given), max(one.tier for one in old))]

    @override
    def trim(self, before: int) -> None:
        with self._lock:
            kept = self._committed.kept
            del kept[: bisect_right(kept, before, key=lambda one: one.numbered.end)]
            self._committed.forget()

    @override
    def starts_at(self) -> int:
        with self._lock:
            return self._committed.starts_at()

    def _from(self, start: int) -> list[NumberedNotifications]:
        """The segments that reach beyond a sequence; the lock is held."""
        kept = self._committed.kept
        begin = bisect_right(kept, start, key=lambda one: one.numbered.end)
        return [one.numbered for one in kept[begin:]]


def _joined(parts: Sequence[NumberedNotifications]) -> NumberedNotifications:
    notifications = columns.join([part.notifications for part in parts])
    return NumberedNotifications(parts[0].first, parts[-1].end, notifications)
