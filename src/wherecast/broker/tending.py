"""The upkeep of a store: segments are merged, limits enforced, and what nobody needs is removed.

No publication waits for that: it has a thread of its own.

Concurrency: `run` on one thread; everything else from any thread.
"""

import time
from collections.abc import Callable
from threading import Event

from wherecast.broker.core_limits import Retention
from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.dispatch.retention import enforce
from wherecast.broker.inline_source import InlineSource
from wherecast.model import ConflictError, StoreError
from wherecast.pipeline.live.segment_trimming import trim_segments
from wherecast.store.contracts import DamagedSegment, Store

_RETRY_S = 0.2  # after damage, mended or not, and after an error of the store
_MERGE_AFTER_S = 0.5  # since the first batch whose segments were not looked at


class Tending:
    """Tends a store until `stop`.

    Args:
        store: what is tended.
        courier: has the queues whose cursors move where a limit is passed.
        retention: the limits of queues, and how often they are enforced.
        save: returns when the cursors that have changed are stored.
        clock: gives the time in microseconds.
        matcher: the source that matches in this process, if one does: then the segments are of
            this process, which merges and removes them too.

    Attributes:
        problem: why the last attempt failed; the next one comes by itself.
        queued: notifications in all queues when limits were enforced last; None before that.
    """

    def __init__(
        self,
        store: Store,
        courier: Courier,
        retention: Retention,
        save: Callable[[], None],
        clock: Callable[[], int],
        matcher: InlineSource | None = None,
    ) -> None:
        self.problem: StoreError | None = None
        self.queued: int | None = None
        self._store = store
        self._courier = courier
        self._retention = retention
        self._every_s = retention.every.total_seconds()
        self._save = save
        self._clock = clock
        self._matcher = matcher
        self._trim_at = time.monotonic() + self._every_s
        self._stopped = Event()
        self._commits = Event() if matcher is None else matcher.commits
        self._commits.set()  # an earlier process may have left segments to merge

    def stop(self) -> None:
        """Has `run` return soon."""
        self._stopped.set()
        self._commits.set()

    def run(self) -> None:
        """Merges segments some time after a batch, and enforces limits when it is time to."""
        while not self._stopped.is_set():
            if self._commits.wait(max(0.0, self._trim_at - time.monotonic())):
                self._stopped.wait(_MERGE_AFTER_S)
                self._commits.clear()
            if not self._stopped.is_set() and self._merge():
                self._commits.set()  # more may be due
            if not self._stopped.is_set() and time.monotonic() >= self._trim_at:
                self.enforce_limits()

    def enforce_limits(self) -> None:
        """Moves the cursors of queues that pass a limit, and removes what nobody needs."""
        self._trim_at = time.monotonic() + self._every_s
        try:
            now = self._store.log.time(self._clock())
            self.queued = enforce(self._store, self._courier.trim, self._save, self._retention, now)
            if self._matcher is not None:
                trim_segments(self._store)
            self._courier.release_idle()
            self.problem = None
        except DamagedSegment as damage:
            self._mend(damage)
            self._trim_at = time.monotonic() + _RETRY_S
        except StoreError as error:
            self.problem = error  # told until an attempt succeeds: so the next one comes soon
            self._trim_at = time.monotonic() + min(_RETRY_S, self._every_s)

    def _merge(self) -> bool:
        """Whether segments were due to be merged, and are now."""
        if self._matcher is None:
            return False
        try:
            with self._matcher.figures.timed("merge"):
                count = self._store.mailboxes.merge()
            self.problem = None
            return count > 0
        except DamagedSegment as damage:
            return self._mend(damage)
        except StoreError as error:
            self.problem = error
            return False

    def _mend(self, damage: DamagedSegment) -> bool:
        """Whether damaged notifications are whole again; where not, the damage is met again."""
        try:
            self._courier.mend(damage)
        except ConflictError:  # another thread mended them
            return True
        except StoreError as error:
            self.problem = error
            return False
        return True
