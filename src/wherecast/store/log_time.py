"""The time of a log: it never decreases, and follows a clock that jumps ahead only slowly.

Ages decide what expires and which ids are forgotten. A clock that is days ahead for some seconds
would end all of them, and would leave times behind that no later record could pass. So the time of
a running log moves by no more than a second clock does that nobody can set, and a little more:
`BUDGET_US` at once, which comes back at one part in `REFILL` of that clock. A step ahead that lasts
is followed at that pace. A clock that was set back lets the time stand still until it is passed.

A step at opening is believed: nobody knows how long the log was closed.

Concurrency: any number of threads.
"""

import logging
from threading import Lock

_log = logging.getLogger("wherecast.store")

BUDGET_US = 1_000_000
REFILL = 8
_TOLD_US = 1_000_000  # smaller steps are not worth a line


class LogTime:
    """The time of one log, by two clocks that the caller reads.

    Args:
        last: the time of the last record; 0 for an empty log.
    """

    def __init__(self, last: int = 0) -> None:
        self._last = last
        self._read_at: int | None = None  # by the monotonic clock
        self._budget = float(BUDGET_US)
        self._unused = 0  # what the monotonic clock moved while the wall clock stood or was behind
        self._is_limited = False
        self._lock = Lock()

    def at(self, wall: int, monotonic: int, floor: int = 0) -> int:
        """The time of the log now; not before any time that was given earlier.

        Args:
            wall: the wall clock, in microseconds since 1970.
            monotonic: a clock that nobody sets, in microseconds since any moment.
            floor: a time of the log that another process may have written.
        """
        with self._lock:
            self._last = max(self._last, floor)
            if self._read_at is None:
                _tell_opening(self._last, wall)
                self._last = max(self._last, wall)
            else:
                self._move(wall, max(0, monotonic - self._read_at))
            self._read_at = max(monotonic, self._read_at or monotonic)
            return self._last

    def _move(self, wall: int, elapsed: int) -> None:
        self._budget = min(BUDGET_US, self._budget + elapsed / REFILL)
        self._unused += elapsed
        if wall <= self._last:
            return
        steady = self._last + self._unused
        time = min(wall, steady + int(self._budget))
        self._budget -= max(0, time - steady)
        self._unused = 0
        self._last = time
        self._tell_limited(wall - time)

    def _tell_limited(self, ahead: int) -> None:
        """Says once that the wall clock jumped ahead."""
        is_limited = ahead > _TOLD_US or (self._is_limited and ahead > 0)
        if is_limited and not self._is_limited:
            text = "the clock jumped ahead by %.0f s; the time of the log follows slowly"
            _log.warning(text, ahead / 1e6)
        self._is_limited = is_limited


def _tell_opening(last: int, wall: int) -> None:
    step = (wall - last) / 1e6
    if last and step < -_TOLD_US / 1e6:
        text = "the clock is %.0f s before the last time of the log, which stands still until then"
        _log.warning(text, -step)
    elif last and step > _TOLD_US / 1e6:
        _log.info("the time of the log moves by %.0f s, since it was opened", step)
