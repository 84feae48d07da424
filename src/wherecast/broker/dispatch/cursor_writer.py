"""Cursors on their way to the disk: all that changed go with one transaction.

Concurrency: any number of threads. Whoever writes takes the changes of the others along; these find
theirs written when their turn comes.
"""

from collections.abc import Callable, Iterable
from threading import Lock

from wherecast.store.contracts import Cursors
from wherecast.store.records import Cursor


class CursorWriter:
    """Writes the cursors of queues.

    Args:
        cursors: where they are stored.
        lock: guards the queues; it is not held while cursors are stored.
        current: gives the cursor of a subscriber as it is now, None where it has no queue. It is
            called with the lock held.
    """

    def __init__(
        self, cursors: Cursors, lock: Lock, current: Callable[[str], Cursor | None]
    ) -> None:
        self._cursors = cursors
        self._lock = lock
        self._current = current
        self._changed: dict[str, None] = {}  # names in the order in which they changed
        self._writing = Lock()

    def changed(self, name: str) -> None:
        """Notes that a cursor is another than the stored one; the lock is held."""
        self._changed[name] = None

    def write(self, names: Iterable[str]) -> None:
        """Returns when the cursors of some subscribers are stored as they are now.

        Raises:
            StoreError: they could not be stored; whoever writes next tries again.
        """
        with self._writing:
            with self._lock:
                if self._changed.keys().isdisjoint(names):  # another thread has stored them
                    return
                changed, self._changed = self._changed, {}
            try:
                self._cursors.write(self._current_of(changed))
            except BaseException:
                with self._lock:
                    self._changed = changed | self._changed
                raise

    def trim(self, name: str, start: int, lost: int) -> None:
        """Lets the stored cursor of a subscriber without a queue begin at a sequence."""
        with self._writing:  # or it could be forgotten between the two steps
            cursor = self._cursors.read(name)
            if cursor is not None and cursor.through < start:
                beyond = frozenset(one for one in cursor.beyond if one >= start)
                self._cursors.write({name: Cursor(start, beyond, cursor.lost + lost)})

    def forget(self, name: str) -> None:
        """Removes the stored cursor of a subscriber that has no queue any more."""
        with self._writing:  # what is being stored comes first
            self._cursors.write({name: None})

    def _current_of(self, names: Iterable[str]) -> dict[str, Cursor]:
        """The cursors of those that have a queue; the lock is held for one at a time."""
        found = {}
        for name in names:
            with self._lock:
                cursor = self._current(name)
            if cursor is not None:
                found[name] = cursor
        return found
