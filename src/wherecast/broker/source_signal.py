"""The signal that wakes a source: there is work in the log, or something waits for its record.

Concurrency: any number of threads.
"""

from threading import Condition
from time import monotonic


class SourceSignal:
    """What a source is to do.

    Attributes:
        record_after_s: how long matches wait for a batch record at most.
    """

    def __init__(self, record_after_s: float) -> None:
        self.record_after_s = record_after_s
        self._changed = Condition()
        self._has_work = True  # an earlier process may have left some
        self._record_at: float | None = None

    def wake(self) -> None:
        """Says that the log has something that is not matched yet, or that the source is to end."""
        with self._changed:
            self._has_work = True
            self._changed.notify()

    def matched(self) -> None:
        """Says that something was matched that has no record yet."""
        if self._record_at is None:  # else the source knows
            with self._changed:
                self._record_at = monotonic() + self.record_after_s
                self._changed.notify()

    def hurry(self) -> None:
        """Has a record made at once, where something waits for one."""
        with self._changed:
            if self._record_at is not None:
                self._record_at = 0.0
                self._changed.notify()

    def wait(self) -> bool:
        """Returns when there is something to do, which counts as begun then.

        False where nothing in the log was left to the source: it is to make a record alone.
        """
        with self._changed:
            while not self._has_work:
                left = None if self._record_at is None else self._record_at - monotonic()
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
            has_work, self._has_work, self._record_at = self._has_work, False, None
            return has_work
