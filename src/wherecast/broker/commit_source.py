"""The source that follows another process: each batch which that one commits goes to the queues.

Concurrency: `step` on one thread; `wake` from any thread.
"""

from threading import Event

from typing_extensions import override

from wherecast.broker.dispatch.courier import Courier
from wherecast.broker.notification_source import NotificationSource
from wherecast.model import StoreError
from wherecast.store.contracts import Batches
from wherecast.store.records import Progress

_WAIT_S = 0.5  # how soon `step` sees that it is to stop


class CommitSource(NotificationSource):
    """Hands the queues what another process commits.

    Args:
        batches: where that one commits.
        courier: has the queues.

    Attributes:
        problem: why the store could not be read last; None where it could.
    """

    task = "delivery"

    def __init__(self, batches: Batches, courier: Courier) -> None:
        self.problem: StoreError | None = None
        self._batches = batches
        self._courier = courier
        self._sequence: int | None = None  # everything before it is in the queues

    @property
    @override
    def figures(self) -> None:
        return None

    @override
    def wake(self) -> None:
        """Does nothing: the other process sees by itself what is new in the log."""

    @override
    def hurry(self) -> None:
        """Does nothing: the other process commits as soon as it can."""

    @override
    def finish(self) -> None:
        """Does nothing: the other process goes on."""

    @override
    def step(self, stopped: Event) -> None:
        """Waits a while for the next commit, and hands it to the queues."""
        try:
            if self._sequence is None:
                self._sequence = self._batches.progress().sequence
                self._courier.committed(self._sequence)
            if self._batches.wait(self._is_news, _WAIT_S):
                sequence = self._batches.progress().sequence
                self._courier.follow(sequence)
                self._sequence = sequence
            self.problem = None
        except StoreError as error:
            self.problem = error

    def _is_news(self, progress: Progress) -> bool:
        return self._sequence is not None and progress.sequence > self._sequence
