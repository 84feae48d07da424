"""The door: publications, changes and cursors pass it on their way to the log.

    hand in → the leader writes all that waits: one transaction, one sync → follow → settle

Whoever hands something in while nobody writes becomes the leader: it writes everything that waits,
has the followers act on it (match, tell the queues) in the order of the log, gives all who wait
their results, and hands the lead to the first that came meanwhile. So there is one order, calls
that come together share a sync, and nobody is woken in vain. A server has a committer instead: one
thread that always leads, so that an event loop never waits.

Concurrency: any number of threads hand in; one leads at a time.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any, Protocol

from wherecast.broker.door.door_calls import Done, DoorCall, DoorItem, DoorQueue, PendingSave
from wherecast.broker.door.door_group import DoorWrite, WrittenGroup, writes_of
from wherecast.model import StoreError
from wherecast.store.store_items import CursorWrites, PendingCursors, StoreItem, StoreResult

_CALLS_MAX = 1_000  # of one transaction


def _ignore(call: DoorCall) -> None:
    """Nobody waits for a call."""


class StoreWriter(Protocol):
    """Writes what one transaction takes; see `Store.write`."""

    def write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
        """Writes items in one transaction, in order, all or none."""
        ...


class CursorSource(Protocol):
    """Knows which cursors have changed since they were stored."""

    def collect(self) -> CursorWrites:
        """The changed cursors as they are now; they count as stored from now on."""
        ...

    def restore(self, cursors: CursorWrites) -> None:
        """Takes back cursors that could not be stored."""
        ...


class Door:
    """Writes to the log of a store.

    Args:
        store: what is written.
        cursors: gives the changed cursors; each transaction takes them along.
        follow: acts on the records that a transaction added, before those who wait are told; it
            raises nothing. The group is empty where the leader was interrupted, so that nobody
            knows what was added.
        calls_max: how many calls go into one transaction at most.

    Attributes:
        groups: number of transactions.
        calls: number of calls in all transactions.
    """

    def __init__(
        self,
        store: StoreWriter,
        cursors: CursorSource | None = None,
        follow: Callable[[WrittenGroup], None] | None = None,
        calls_max: int = _CALLS_MAX,
    ) -> None:
        self.groups = 0
        self.calls = 0
        self._store = store
        self._cursors = cursors
        self._follow = follow
        self._calls_max = calls_max
        self._lock = Lock()
        self._queue = DoorQueue()
        self._has_leader = False
        self._bell: Lock | None = None  # of a committer that sleeps
        self._is_served = False

    @property
    def waiting(self) -> int:
        """How many calls wait for the next transaction."""
        return len(self._queue)

    @property
    def has_leader(self) -> bool:
        """Whether a thread writes what was handed in."""
        return self._has_leader

    # Handing in.

    def write(self, item: DoorItem, key: str = "") -> Any:
        """The result of an item, once it is stored.

        An item that fails alone fails for itself: the others are then stored without it.

        Args:
            item: what is written.
            key: calls of different keys get turns, so that nobody who floods holds up others.

        Raises:
            StoreError: the item could not be stored.
        """
        call = DoorCall(item)
        if self._leads_with(call, key):
            self._lead(call)
        if call.error is not None:
            raise call.error
        return call.result

    def save_cursors(self) -> None:
        """Returns when the cursors that have changed by now are stored."""
        self.write(PendingSave())

    def submit(self, item: DoorItem, done: Done = _ignore, key: str = "") -> None:
        """Hands in an item and returns at once; a committer writes it.

        Args:
            item: what is written.
            done: called with the call on the committer's thread once the item is stored or failed.
            key: as for `write`.

        Raises:
            StoreError: there is no committer any more.
        """
        with self._lock:
            if not self._is_served:
                raise StoreError("the broker is closing; nothing was stored")
            self._queue.put(key, DoorCall(item, done))
            self._ring()

    # A committer.

    def open_to_submit(self) -> None:
        """Lets `submit` take items; a committer is about to `serve`."""
        with self._lock:
            self._is_served = True

    def serve(self, on_group: Callable[[], None] = lambda: None) -> None:
        """Writes whatever is handed in, on the thread of the caller, until `stop_serving`.

        Args:
            on_group: called after each group, once everybody was told.
        """
        first = DoorCall(PendingSave())
        while not self._leads_with(first, ""):
            first = DoorCall(PendingSave())
        try:
            while self._wait_for_calls():
                try:
                    self._step()
                finally:
                    on_group()
        except BaseException:  # those who wait lead themselves from now on
            with self._lock:
                self._is_served = False
                self._pass_lead()
            raise

    def stop_serving(self) -> None:
        """Has `serve` return once nothing waits."""
        with self._lock:
            self._is_served = False
            self._ring()

    def _wait_for_calls(self) -> bool:
        """Waits for the next call; False where the committer ends, and so leads no more."""
        while True:
            with self._lock:
                if self._queue:
                    return True
                if not self._is_served:
                    self._pass_lead()
                    return False
                self._bell = bell = Lock()
                bell.acquire()
            bell.acquire()

    def _ring(self) -> None:
        """Wakes a committer that sleeps; the lock is held."""
        if self._bell is not None:
            self._bell.release()
            self._bell = None

    # Leading.

    def _leads_with(self, call: DoorCall, key: str) -> bool:
        """Hands in a call and waits; whether its thread is the leader, who is to write it."""
        with self._lock:
            self._queue.put(key, call)
            if not self._has_leader:
                self._has_leader = True
                return True
            call.turn = Lock()
            call.turn.acquire()
            self._ring()
        try:
            call.turn.acquire()
        except BaseException:  # interrupted: nobody waits for the result any more
            with self._lock:
                call.turn = None
                if self._queue.remove(call) and call.leads:
                    self._pass_lead()
            raise
        return call.leads

    def _lead(self, own: DoorCall) -> None:
        """Writes group after group until a call is done."""
        try:
            while not own.is_done:
                self._step()
        finally:
            with self._lock:
                self._pass_lead()

    def _pass_lead(self) -> None:
        """Makes the first that waits the leader; the lock is held."""
        following = self._queue.first_waiting()
        self._has_leader = following is not None
        if following is not None and following.turn is not None:
            following.leads = True
            following.turn.release()

    def _step(self) -> None:
        """Writes a group, follows and settles it."""
        calls: list[DoorCall] = []
        written = WrittenGroup()
        try:
            with self._lock:
                calls = self._queue.take(self._calls_max)
            self.groups += 1
            self.calls += len(calls)
            cursors = {} if self._cursors is None else self._cursors.collect()
            if writes := writes_of(calls, cursors):
                self._write(writes, written)
            if self._follow is not None and written.end > written.first:
                self._follow(written)
        except BaseException:
            if self._follow is not None:
                self._follow(WrittenGroup())  # the log may have more than was told here
            raise
        finally:
            _settle(calls)

    def _write(self, writes: Sequence[DoorWrite], written: WrittenGroup) -> None:
        """Writes items together; where that fails cursors first, then each of the others alone.

        On a full disk cursors may fit where publications do not.
        """
        try:
            results = self._store.write([one.item for one in writes])
        except Exception as error:  # noqa: BLE001  # whoever handed an item in gets it
            if len(writes) == 1:
                self._fail(writes[0], error)
                return
            first = [one for one in writes if isinstance(one.item, PendingCursors)]
            if 0 < len(first) < len(writes):
                self._write(first, written)
                writes = [one for one in writes if not isinstance(one.item, PendingCursors)]
            for one in writes:
                self._write([one], written)
            return
        except BaseException:  # interrupted
            for one in writes:
                self._restore(one)
            raise
        for one, result in zip(writes, results, strict=True):
            one.settle(result, written)

    def _fail(self, write: DoorWrite, error: Exception) -> None:
        self._restore(write)
        write.fail(error)

    def _restore(self, write: DoorWrite) -> None:
        """Gives back cursors that were collected and not stored."""
        if isinstance(write.item, PendingCursors) and write.is_collected and self._cursors:
            self._cursors.restore(write.item.cursors)


def _settle(calls: Sequence[DoorCall]) -> None:
    """Tells everybody; who has no result by now, since the leader was interrupted, failed."""
    for call in calls:
        if not call.is_done:
            call.error = StoreError("the commit was interrupted; it can be tried again")
            call.is_done = True
        turn = call.turn  # a thread that is interrupted takes it away
        if call.done is not None:
            call.done(call)
        elif turn is not None and not call.leads:
            turn.release()
