"""The thread of a delivering side whose pipeline is another process: told of each commit.

Concurrency: `start`, `wake`, `stop` and `check` from any thread.
"""

from threading import Event, Thread
from time import monotonic

from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.dispatch.retention import DEFAULT_RETENTION, Retention, enforce
from wherecast.model import ConflictError, StoreError, WherecastError
from wherecast.store.clock import now_us
from wherecast.store.contracts import DamagedSegment, Store

_LOOK_S = 0.5  # how soon it sees that it is to stop
_RETRY_S = 0.2


class Follower:
    """Tells a courier what another process commits, from `start` to `stop`.

    Attributes:
        problem: why the store could not be read last; it is tried again.
        queued: notifications in all queues, when limits were looked at last; None before that.
        figures: none: whoever matches has them.
    """

    figures = None

    def __init__(
        self, store: Store, courier: Courier, retention: Retention = DEFAULT_RETENTION
    ) -> None:
        self.problem: StoreError | None = None
        self.queued: int | None = None
        self._store = store
        self._batches = store.batches
        self._retention = retention
        self._trim_at = monotonic() + retention.every_s
        self._courier = courier
        self._stopped = Event()
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run, name="wherecast-follower", daemon=True)

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def wake(self) -> None:
        """Does nothing: the pipeline sees by itself what is new in the log."""

    def stop(self) -> None:
        """Ends."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def check(self) -> None:
        """Raises what ended the thread, if something did."""
        if self._failure is not None:
            raise WherecastError(f"delivery failed: {self._failure}") from self._failure

    def _run(self) -> None:
        try:
            sequence = self._batches.progress().sequence
            self._courier.committed(sequence)
            while not self._stopped.is_set():
                sequence = self._followed(sequence)
        except BaseException as error:  # noqa: BLE001  # told by `check`
            self._failure = error
            self._courier.close()

    def _mend(self, damage: DamagedSegment) -> None:
        try:
            self._courier.mend(damage)
        except (StoreError, ConflictError):  # it is found again
            self._stopped.wait(_RETRY_S)

    def _followed(self, sequence: int) -> int:
        """Waits a while for the next commit; the sequence after it."""
        try:
            if self._batches.wait(sequence, _LOOK_S):
                reached = self._batches.progress().sequence
                self._courier.follow(reached)
                sequence = reached
            if monotonic() >= self._trim_at:
                self._trim_at = monotonic() + self._retention.every_s
                trim = self._courier.trim
                self.queued = enforce(self._store, trim, self._retention, now_us())
                self._courier.release_idle()
            self.problem = None
        except DamagedSegment as damage:
            self._mend(damage)
        except StoreError as error:
            self.problem = error
            self._stopped.wait(_RETRY_S)
        return sequence
