"""Cursors that have changed since they were stored; the next transaction takes them along.

Concurrency: any number of threads.
"""

from collections.abc import Callable
from threading import Lock

from wherecast.store.contracts import Cursors
from wherecast.store.records import Cursor
from wherecast.store.store_items import CursorWrites


class ChangedCursors:
    """The changed cursors of queues, and of subscribers without a queue.

    Args:
        stored: the cursors as they are stored.
        lock: guards the queues.
        current: gives the cursor of a subscriber as it is now, None where it has no queue. It is
            called with the lock held.
    """

    def __init__(
        self, stored: Cursors, lock: Lock, current: Callable[[str], Cursor | None]
    ) -> None:
        self._stored = stored
        self._lock = lock
        self._current = current
        self._changed: dict[str, None] = {}  # names in the order in which they changed
        self._fixed: dict[str, Cursor | None] = {}  # of subscribers without a queue
        self._fixing = Lock()

    def changed(self, name: str) -> None:
        """Notes that the cursor of a queue is another than the stored one; the lock is held."""
        self._changed[name] = None
        self._fixed.pop(name, None)

    def trim(self, name: str, start: int, lost: int) -> None:
        """Lets the stored cursor of a subscriber without a queue begin at a sequence."""
        with self._fixing:  # or it could be forgotten between the two steps
            with self._lock:  # or they could be collected between the two steps
                is_fixed, cursor = name in self._fixed, self._fixed.get(name)
            if not is_fixed:
                cursor = self._stored.read(name)
            if cursor is not None and cursor.through < start:
                beyond = frozenset(one for one in cursor.beyond if one >= start)
                self._fix(name, Cursor(start, beyond, cursor.lost + lost))

    def forget(self, name: str) -> None:
        """Removes the cursor of a subscriber that has no queue any more."""
        with self._fixing:
            self._fix(name, None)

    def collect(self) -> CursorWrites:
        """The changed cursors as they are now; they count as stored from now on.

        The lock is held for one queue at a time.
        """
        if not self._changed and not self._fixed:
            return {}
        with self._lock:
            names, self._changed = self._changed, {}
            found, self._fixed = self._fixed, {}
        for name in names:
            with self._lock:
                cursor = self._current(name)
            if cursor is not None:
                found[name] = cursor
        return found

    def restore(self, cursors: CursorWrites) -> None:
        """Takes back cursors that could not be stored; newer changes stay."""
        with self._lock:
            for name, cursor in cursors.items():
                if name in self._fixed:
                    continue
                if self._current(name) is not None:
                    self._changed[name] = None
                elif name not in self._changed:
                    self._fixed[name] = cursor

    def _fix(self, name: str, cursor: Cursor | None) -> None:
        with self._lock:
            self._changed.pop(name, None)
            self._fixed[name] = cursor
