"""Cursors in memory."""

import threading
from collections.abc import Iterator, Mapping

from typing_extensions import override

from wherecast.store.contracts import Cursors
from wherecast.store.records import Cursor


class MemoryCursors(Cursors):
    """What each subscriber acknowledged. Safe from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cursors: dict[str, Cursor] = {}

    @override
    def read(self, subscriber: str) -> Cursor | None:
        with self._lock:
            return self._cursors.get(subscriber)

    @override
    def write(self, cursors: Mapping[str, Cursor | None]) -> None:
        with self._lock:
            for name, cursor in cursors.items():
                if cursor is None:
                    self._cursors.pop(name, None)
                else:
                    self._cursors[name] = cursor

    @override
    def all(self) -> Iterator[tuple[str, Cursor]]:
        with self._lock:
            return iter(sorted(self._cursors.items()))
