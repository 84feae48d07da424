"""The source that matches in this process: publications of the log become notifications.

Concurrency: `step` on one thread; `wake` from any thread.
"""

import time
from collections.abc import Callable
from threading import Condition, Event

from typing_extensions import override

from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.notification_source import NotificationSource
from wherecast.model import StoreError
from wherecast.pipeline.live.inline_pipeline import FindPoison, InlinePipeline
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.store.contracts import Store

_READ_TRIES = 10
_REST_MAX_S = 0.01


class InlineSource(NotificationSource):
    """Matches what is new in the log, hands it to the queues and commits it.

    Args:
        store: what is matched, and where batches are committed.
        courier: has the queues.
        clock: gives the time in microseconds.
        find_poison: finds publications that end a process, where an earlier one ended.
        index: makes the index of the subscriptions.

    Attributes:
        problem: why the last batch could not be read or committed; None where it could.
        commits: set after each commit; whoever waits for commits clears it.
    """

    task = "matching"

    def __init__(
        self,
        store: Store,
        courier: Courier,
        clock: Callable[[], int],
        find_poison: FindPoison | None = None,
        index: IndexFactory = DEFAULT_INDEX,
    ) -> None:
        self.problem: StoreError | None = None
        self.commits = Event()
        self._courier = courier
        self._pipeline = InlinePipeline(store, clock, find_poison, index=index)
        self._changed = Condition()
        self._has_work = True  # an earlier process may have left some
        self._failed_reads = 0  # in a row

    @property
    @override
    def figures(self) -> PipelineFigures:
        return self._pipeline.figures

    @override
    def wake(self) -> None:
        with self._changed:
            self._has_work = True
            self._changed.notify()

    @override
    def step(self, stopped: Event) -> None:
        """Waits for something new, then matches until nothing is new.

        Raises:
            ConflictError: another broker has taken over.
            StoreError: the log cannot be read, time and again.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._has_work)
            self._has_work = False
        while not stopped.is_set() and self._match_batch(stopped):
            pass

    def _match_batch(self, stopped: Event) -> bool:
        """Matches one batch; False where nothing is new, or the batch is to be tried again."""
        started, busy = time.monotonic(), time.thread_time()
        try:
            batch = self._pipeline.next_batch()
        except StoreError as error:
            self._failed_reads += 1
            if self._failed_reads == _READ_TRIES:  # it does not heal by itself
                raise
            return self._failed(error)
        self._failed_reads = 0
        if batch is None:
            self.problem = None
            return False
        with self.figures.timed("notify"):
            self._courier.notify(batch)
        try:
            progress = self._pipeline.commit(batch)
        except StoreError as error:  # a full disk, say: it is tried again and again
            return self._failed(error)
        self.problem = None
        self._courier.committed(progress.sequence)
        self.commits.set()
        if batch.count > 1:
            worked, took = time.thread_time() - busy, time.monotonic() - started
            self._rest(2 * worked - took, stopped)
        return True

    def _failed(self, error: StoreError) -> bool:
        """Has the next step try the same batch again."""
        self.problem = error
        with self._changed:
            self._has_work = True
        return False

    def _rest(self, seconds: float, stopped: Event) -> None:
        """Lets other threads run, so that matching takes half of the time at most; but not long.

        It is called where publications come faster than one by one: those that come meanwhile go
        together, and those who accept and send get the interpreter. Waiting for the disk is rest.
        """
        if seconds > 0:
            stopped.wait(min(seconds, _REST_MAX_S))
