"""Cursors in memory."""

import threading
from collections.abc import Iterator, Mapping

from wherecast.store.records import Cursor


class MemoryCursors:
    """What each subscriber acknowledged. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cursors: dict[str, Cursor] = {}

    def read(self, subscriber: str) -> Cursor | None:
        """The cursor of a subscriber, if it has one."""
        with self._lock:
            return self._cursors.get(subscriber)

    def write(self, cursors: Mapping[str, Cursor | None]) -> None:
        """Sets cursors, all or none; None deletes one."""
        with self._lock:
            for name, cursor in cursors.items():
                if cursor is None:
                    self._cursors.pop(name, None)
                else:
                    self._cursors[name] = cursor

    def all(self) -> Iterator[tuple[str, Cursor]]:
        """Every cursor, by name."""
        with self._lock:
            return iter(sorted(self._cursors.items()))
