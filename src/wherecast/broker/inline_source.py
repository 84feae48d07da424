"""The source that matches in this process: publications of the log become notifications.

What passes the door one by one is matched there and then, by the leader (`follow`): no thread is
woken for it. The thread of the source makes the batch records, one for all since the last, and
matches what the leader leaves to it: backlogs and large calls.

Concurrency: `step` on one thread; everything else from any thread.
"""

import time
from collections.abc import Callable
from threading import Event, Lock
from typing import Literal

from typing_extensions import override

from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.door.door_group import WrittenGroup
from wherecast.broker.notification_source import NotificationSource
from wherecast.broker.source_signal import SourceSignal
from wherecast.model import StoreError
from wherecast.pipeline.live.inline_pipeline import FindPoison, InlinePipeline
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.stage.match_row import LoggedRow
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.pipeline.live.unrecorded import OffsetItems
from wherecast.store.contracts import Store
from wherecast.store.sequences import moment_of

_READ_TRIES = 10
_REST_MAX_S = 0.01
_RECORD_AFTER_S = 0.05
_RECORDS_MAX = 1_000  # that wait for a batch record before one is made
_NOTIFICATIONS_MAX = 100_000  # likewise; beyond twice so many the leader matches no more
_LITTLE = 256  # records that the leader matches together, those before its own included


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
        self._matching = Lock()
        self._signal = SourceSignal(_RECORD_AFTER_S)
        self._is_of_log = store.batches.numbering.is_of_log
        self._is_over = False
        self._failed_reads = 0  # in a row

    @property
    @override
    def figures(self) -> PipelineFigures:
        return self._pipeline.figures

    @override
    def wake(self) -> None:
        self._signal.wake()

    @override
    def hurry(self) -> None:
        self._signal.hurry()

    # By the leader of the door.

    def follow(self, written: WrittenGroup) -> None:
        """Matches and notifies records that were just appended, or leaves them to `step`.

        They are left where earlier ones are not matched yet, where they are many, and after any
        error, which `step` meets again.
        """
        if not self._matching.acquire(blocking=False):
            self._signal.wake()
            return
        try:
            if self._takes(written):
                self._match(written)
                self._signal.matched()
            else:
                self._signal.wake()
        except Exception:  # noqa: BLE001  # the source meets it again, and tells
            self._signal.wake()
        finally:
            self._matching.release()

    def _takes(self, written: WrittenGroup) -> bool:
        """Whether the leader matches what it wrote, with a few records before it."""
        records, notifications = self._pipeline.unrecorded
        if records >= _RECORDS_MAX or notifications >= _NOTIFICATIONS_MAX:
            self._signal.hurry()
        missing = written.first - self._pipeline.matched[0]
        is_whole = missing == 0 and written.is_complete
        is_little = missing >= 0 and written.end - self._pipeline.matched[0] <= _LITTLE
        return (
            self._is_of_log
            and not self._is_over
            and notifications < 2 * _NOTIFICATIONS_MAX
            and (is_whole or (is_little and not (missing and self._pipeline.is_careful)))
        )

    def _match(self, written: WrittenGroup) -> None:
        first = self._pipeline.matched[0]
        if first < written.first or not written.is_complete:
            self._pipeline.match_written(first, written.end, self._notify)
            return
        rows = [
            LoggedRow(one.offset, one.publication.stream, one.accepted_at, one.publication.row)
            for one in written.rows
        ]
        self._pipeline.match_rows(rows, self._notify)

    def _notify(self, first: int, end: int, found: OffsetItems) -> None:
        """Gives the queues what a range of records notifies."""
        items = {
            name: [(moment_of(offset), ids) for offset, ids in own] for name, own in found.items()
        }
        self._courier.notify_items(moment_of(first - 1) + 1, moment_of(end - 1) + 1, items)

    # By the thread of the source.

    @override
    def step(self, stopped: Event) -> None:
        """Waits for something to do, then matches and commits until nothing is left.

        Raises:
            ConflictError: another broker has taken over.
            StoreError: the log cannot be read, time and again.
        """
        has_backlog = self._signal.wait()
        try:
            while not stopped.is_set():
                done = self._commit_batch(stopped)
                if done == "nothing" or (done == "record" and not has_backlog):
                    break  # what the leader matches now gets its record later, with what follows
        except BaseException:
            self._is_over = True
            raise

    @override
    def finish(self) -> None:
        """Commits what was matched and has no record; another process would match it again.

        Raises:
            StoreError: it could not be committed.
        """
        with self._matching:
            self._is_over = True
        while self._pipeline.set_aside() and (batch := self._pipeline.waiting_batch()) is not None:
            self._courier.committed(self._pipeline.commit(batch).sequence)

    def _commit_batch(self, stopped: Event) -> Literal["record", "backlog", "nothing"]:
        """Commits a record of what the leader matched or, if there is none, a part of a backlog.

        Nothing is committed where the log has no more, or the batch is to be tried again.
        """
        started, busy = time.monotonic(), time.thread_time()
        try:
            with self._matching:
                is_backlog = not self._pipeline.set_aside()
                batch = self._pipeline.match_backlog() if is_backlog else None
                if batch is not None:
                    with self.figures.timed("notify"):
                        self._courier.notify(batch)
            if not is_backlog:
                batch = self._pipeline.waiting_batch()
        except StoreError as error:
            self._failed_reads += 1
            if self._failed_reads == _READ_TRIES:  # it does not heal by itself
                raise
            return self._failed(error)
        self._failed_reads = 0
        if batch is None:
            self.problem = None
            return "nothing"
        try:
            progress = self._pipeline.commit(batch)
        except StoreError as error:  # a full disk, say: it is tried again and again
            return self._failed(error)
        self.problem = None
        self._courier.committed(progress.sequence)
        self.commits.set()
        if is_backlog and batch.count > 1:
            worked, took = time.thread_time() - busy, time.monotonic() - started
            self._rest(2 * worked - took, stopped)
        return "backlog" if is_backlog else "record"

    def _failed(self, error: StoreError) -> Literal["nothing"]:
        """Has the next step try the same batch again."""
        self.problem = error
        self._signal.wake()
        return "nothing"

    def _rest(self, seconds: float, stopped: Event) -> None:
        """Lets other threads run, so that matching takes half of the time at most; but not long.

        It is called after a backlog: publications that come meanwhile go together, and those who
        accept and send get the interpreter. Waiting for the disk is rest.
        """
        if seconds > 0:
            stopped.wait(min(seconds, _REST_MAX_S))
