"""The threads of a broker.

One matches what was published, hands it to queues and commits it. The other merges segments and
removes what nobody needs: no publication waits for that.

Concurrency: `wake`, `stop` and `check` from any thread.
"""

import time
from collections.abc import Callable
from threading import Condition, Event, Thread

from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.dispatch.retention import DEFAULT_RETENTION, Retention, enforce
from wherecast.model import ConflictError, StoreError, WherecastError
from wherecast.pipeline.live.inline_pipeline import FindPoison, InlinePipeline
from wherecast.pipeline.live.mend_segments import mend
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.segment_trimming import trim_segments
from wherecast.store.clock import now_us
from wherecast.store.contracts import DamagedSegment, Store

_RETRY_S = 0.2  # after a full disk, say
_READ_TRIES = 10
_MERGE_AFTER_S = 0.5  # since the first batch that was not looked at
_REST_MAX_S = 0.01


class Pump:
    """Runs the pipeline of a store, from `start` to `stop`.

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
        self._unread = 0  # times in a row that the log could not be read
        self._retention = retention
        self._trim_at = time.monotonic() + retention.every_s
        self._failure: BaseException | None = None
        self._stopped, self._has_batches = Event(), Event()
        self._has_batches.set()  # what an earlier life left
        self._threads = [
            Thread(target=self._guarded, args=(work,), name=f"wherecast-{name}", daemon=True)
            for name, work in (("pipeline", self._match), ("tending", self._tend))
        ]

    @property
    def figures(self) -> PipelineFigures:
        """What was done so far."""
        return self._pipeline.figures

    def start(self) -> None:
        """Begins."""
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Says that there is something new in the log."""
        with self._changed:
            self._has_work = True
            self._changed.notify()

    def stop(self) -> None:
        """Ends after the batch that is under way."""
        self._stopped.set()
        self._has_batches.set()
        with self._changed:
            self._changed.notify()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def check(self) -> None:
        """Raises what ended a thread, if something did.

        Raises:
            WherecastError: another broker took over, or matching failed.
        """
        if isinstance(self._failure, WherecastError):
            raise self._failure
        if self._failure is not None:
            raise WherecastError(f"matching failed: {self._failure}") from self._failure

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # told by `check`
            self._failure = error
            self._courier.close()

    def _match(self) -> None:
        """Matches whenever there is something new."""
        while not self._stopped.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._has_work or self._stopped.is_set())
                self._has_work = False
            self._match_all()

    def _tend(self) -> None:
        """Merges segments some time after a batch, and removes what nobody needs."""
        while not self._stopped.is_set():
            if self._has_batches.wait(max(0.0, self._trim_at - time.monotonic())):
                self._stopped.wait(_MERGE_AFTER_S)
                self._has_batches.clear()
            if not self._stopped.is_set() and self._merged():
                self._has_batches.set()  # more may be due
            if not self._stopped.is_set():
                self._trimmed()

    def _match_all(self) -> None:
        """Matches until nothing is new, the disk is full, or it is to end."""
        while not self._stopped.is_set():
            started, busy = time.monotonic(), time.thread_time()
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
            self._has_batches.set()
            if batch.end.since(batch.start) > 1:
                worked, took = time.thread_time() - busy, time.monotonic() - started
                self._rest(2 * worked - took)

    def _rest(self, seconds: float) -> None:
        """Lets others run, so that this works for half of the time at most; but not for long.

        It is called where publications come faster than one by one: then what comes meanwhile goes
        together, and those who accept and send get the interpreter. Waiting for the disk is rest.
        """
        if seconds > 0:
            with self._changed:
                self._changed.wait_for(self._stopped.is_set, min(seconds, _REST_MAX_S))

    def _wait_after(self, error: StoreError) -> None:
        """Waits a little before the same is tried again."""
        self.problem = error
        with self._changed:
            self._has_work = True
            self._changed.wait_for(self._stopped.is_set, _RETRY_S)

    def _trimmed(self) -> None:
        """Removes what nobody needs, where it is time to."""
        if time.monotonic() < self._trim_at:
            return
        self._trim_at = time.monotonic() + self._retention.every_s
        try:
            self.queued = enforce(self._store, self._courier.trim, self._retention, now_us())
            trim_segments(self._store)
            self._courier.release_idle()
        except DamagedSegment as damage:
            self._mended(damage)
            self._trim_at = time.monotonic()
        except StoreError as error:
            self.problem = error

    def _merged(self) -> bool:
        """Whether segments were due to be merged, and are now."""
        try:
            with self.figures.timed("merge"):
                return self._store.mailboxes.merge() > 0
        except DamagedSegment as damage:
            return self._mended(damage)
        except StoreError as error:
            self.problem = error
            return False

    def _mended(self, damage: DamagedSegment) -> bool:
        """Whether damaged notifications were made again; where not, they are found again."""
        try:
            mend(self._store, damage.first, damage.end, now_us())
        except ConflictError:  # by another thread
            return True
        except StoreError as error:
            self.problem = error
            return False
        return True
