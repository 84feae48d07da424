"""The thread of a broker: matches what was published, hands it to queues, commits it.

Concurrency: `wake`, `stop` and `check` from any thread.
"""

import time
from threading import Condition, Thread

from wherecast.gateway.courier import Courier
from wherecast.gateway.retention import DEFAULT_RETENTION, Retention, enforce
from wherecast.model import StoreError, WherecastError
from wherecast.pipeline.live.figures import Figures
from wherecast.pipeline.live.inline import FindPoison, InlinePipeline
from wherecast.pipeline.live.mend import mend
from wherecast.pipeline.live.trimming import trim_segments
from wherecast.store.clock import now_us
from wherecast.store.contracts import DamagedSegment, Store

_RETRY_S = 0.2  # after a full disk, say
_READ_TRIES = 10
_MERGE_EVERY_S = 0.5  # where it is never idle
_REST_MAX_S = 0.01
_IDLE_S = 0.05  # without work, before segments are merged: whoever took the last ones goes first


class Pump:
    """Runs the pipeline of a store in a thread, from `start` to `stop`.

    Attributes:
        problem: why the last batch could not be stored; it is tried again.
        queued: notifications in all queues, when limits were looked at last; None before that.
    """

    def __init__(
        self,
        store: Store,
        courier: Courier,
        find_poison: FindPoison | None = None,
        retention: Retention = DEFAULT_RETENTION,
    ) -> None:
        self.problem: StoreError | None = None
        self.queued: int | None = None
        self._store = store
        self._courier = courier
        self._pipeline = InlinePipeline(store, now_us, find_poison)
        self._changed = Condition()
        self._has_work = True  # what an earlier life left
        self._merge_at = 0.0
        self._unread = 0  # times in a row that the log could not be read
        self._retention = retention
        self._trim_at = time.monotonic() + retention.every_s
        self._is_stopped = False
        self._failure: BaseException | None = None
        self._thread = Thread(target=self._run, name="wherecast-pipeline", daemon=True)

    @property
    def figures(self) -> Figures:
        """What was done so far."""
        return self._pipeline.figures

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def wake(self) -> None:
        """Says that there is something new in the log."""
        with self._changed:
            self._has_work = True
            self._changed.notify()

    def stop(self) -> None:
        """Ends after the batch that is under way."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join()

    def check(self) -> None:
        """Raises what ended the thread, if something did.

        Raises:
            WherecastError: another broker took over, or matching failed.
        """
        if isinstance(self._failure, WherecastError):
            raise self._failure
        if self._failure is not None:
            raise WherecastError(f"matching failed: {self._failure}") from self._failure

    def _run(self) -> None:
        try:
            while self._wait():
                self._match_all()
        except BaseException as error:  # noqa: BLE001  # told by `check`
            self._failure = error
            self._courier.close()

    def _wait(self) -> bool:
        """Waits for work; False where it is to end. What is idle meanwhile merges segments."""
        idle_s = _IDLE_S
        while True:
            with self._changed:
                if self._changed.wait_for(lambda: self._has_work or self._is_stopped, idle_s):
                    self._has_work = False
                    return not self._is_stopped
            is_busy = self._merged() or self._trimmed()
            idle_s = 0.0 if is_busy else max(0.0, self._trim_at - time.monotonic())

    def _match_all(self) -> None:
        """Matches until nothing is new, the disk is full, or it is to end."""
        while not self._is_stopped:
            started = time.monotonic()
            try:
                batch = self._pipeline.next_batch()
            except StoreError as error:
                self._unread += 1
                if self._unread == _READ_TRIES:  # it does not heal by itself
                    raise
                self._wait_after(error)
                return
            self._unread = 0
            if batch is None:
                return
            with self.figures.timed("notify"):
                self._courier.notify(batch)
            try:
                progress = self._pipeline.commit(batch)
            except StoreError as error:  # a full disk, say: it is tried again and again
                self._wait_after(error)
                return
            self.problem = None
            self._courier.committed(progress.sequence)
            if time.monotonic() >= self._merge_at:
                self._merged()
                self._trimmed()
                self._merge_at = time.monotonic() + _MERGE_EVERY_S
            if batch.end.since(batch.start) > 1:
                self._rest(time.monotonic() - started)

    def _rest(self, seconds: float) -> None:
        """Lets others run for as long as a batch took, but not for long.

        It is called where publications come faster than one by one: then what comes meanwhile goes
        together, and those who accept and send get the interpreter.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopped, min(seconds, _REST_MAX_S))

    def _wait_after(self, error: StoreError) -> None:
        """Waits a little before the same is tried again."""
        self.problem = error
        with self._changed:
            self._has_work = True
            self._changed.wait_for(lambda: self._is_stopped, _RETRY_S)

    def _trimmed(self) -> bool:
        """Whether it was time to remove what nobody needs, and that is done."""
        if time.monotonic() < self._trim_at:
            return False
        self._trim_at = time.monotonic() + self._retention.every_s
        try:
            try:
                trim = self._courier.trim
                self.queued = enforce(self._store, trim, self._retention, now_us())
                trim_segments(self._store)
                self._courier.release_idle()
            except DamagedSegment as damage:
                mend(self._store, damage.first, damage.end, now_us())
                self._trim_at = time.monotonic()
        except StoreError as error:
            self.problem = error
        return True

    def _merged(self) -> bool:
        """Whether segments were due to be merged, and are now."""
        try:
            try:
                with self.figures.timed("merge"):
                    return self._store.mailboxes.merge() > 0
            except DamagedSegment as damage:
                mend(self._store, damage.first, damage.end, now_us())
                return True
        except StoreError as error:
            self.problem = error
            return False
