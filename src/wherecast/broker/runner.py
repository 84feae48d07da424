"""The threads of a broker: one runs a source of notifications, the other tends the store.

Concurrency: every method of `Runner` may be called by any thread.
"""

from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from wherecast.broker.notification_source import NotificationSource
from wherecast.broker.tending import Tending
from wherecast.model import StoreError, WherecastError
from wherecast.pipeline.live.pipeline_figures import PipelineFigures

_RETRY_S = 0.2  # before a source tries again, after a full disk, say


class Runner:
    """Runs a source and the tending of its store, from `start` to `stop`.

    Args:
        source: brings notifications to queues.
        tending: merges and removes what is stored.
        on_failure: called once one of the two has failed for good.
    """

    def __init__(
        self, source: NotificationSource, tending: Tending, on_failure: Callable[[], None]
    ) -> None:
        self._source = source
        self._tending = tending
        self._on_failure = on_failure
        self._failure: BaseException | None = None
        self._stopped = Event()
        works = (("source", self._run_source), ("tending", tending.run))
        self._threads = [
            Thread(target=self._guarded, args=(work,), name=f"wherecast-{name}", daemon=True)
            for name, work in works
        ]

    @property
    def problem(self) -> StoreError | None:
        """Why a thread does not get on at the moment; it tries again."""
        return self._source.problem or self._tending.problem

    @property
    def figures(self) -> PipelineFigures | None:
        """What matching has done; None where another process matches."""
        return self._source.figures

    @property
    def queued(self) -> int | None:
        """Notifications in all queues when limits were enforced last; None before that."""
        return self._tending.queued

    def start(self) -> None:
        """Starts both threads."""
        for thread in self._threads:
            thread.start()

    def wake(self) -> None:
        """Says that the log has something new."""
        self._source.wake()

    def hurry(self) -> None:
        """Says that somebody waits for the commit of what was matched."""
        self._source.hurry()

    def stop(self) -> None:
        """Ends both threads after the step that each is at."""
        self._stopped.set()
        self._source.wake()
        self._tending.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def check(self) -> None:
        """Raises the error that ended a thread, if one did.

        Raises:
            WherecastError: another broker took over, or the work failed.
        """
        if isinstance(self._failure, WherecastError):
            raise self._failure
        if self._failure is not None:
            text = f"{self._source.task} failed: {self._failure}"
            raise WherecastError(text) from self._failure

    def _run_source(self) -> None:
        while not self._stopped.is_set():
            self._source.step(self._stopped)
            if self._source.problem is not None:
                self._stopped.wait(_RETRY_S)
        with suppress(WherecastError):  # the log has it
            self._source.finish()

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001  # raised by `check`
            self._failure = error
            self._on_failure()
