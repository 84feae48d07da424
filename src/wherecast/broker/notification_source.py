"""The contract of a source: where the notifications of a runner come from.

`InlineSource` matches in this process, `CommitSource` follows what another process commits.
"""

from abc import abstractmethod
from threading import Event
from typing import Protocol

from wherecast.model import StoreError
from wherecast.pipeline.live.pipeline_figures import PipelineFigures


class NotificationSource(Protocol):
    """Brings notifications to queues, step by step, on one thread.

    Attributes:
        task: names the work of the source in errors.
        problem: why the last step did not get on, where a later one may; None where it did.
    """

    task: str
    problem: StoreError | None

    @property
    @abstractmethod
    def figures(self) -> PipelineFigures | None:
        """What matching has done; None where another process matches."""

    @abstractmethod
    def step(self, stopped: Event) -> None:
        """Waits for something new and brings it to the queues.

        Returns early once `stopped` is set and `wake` is called. An error that a later step may
        overcome becomes the `problem`; every other one is raised, and ends the runner.
        """

    @abstractmethod
    def finish(self) -> None:
        """Ends the source once no `step` runs any more, and stores what only it knows.

        Raises:
            WherecastError: that could not be stored; another process finds it in the log.
        """

    @abstractmethod
    def wake(self) -> None:
        """Says that the log has something new, or that `stopped` is set; from any thread."""

    @abstractmethod
    def hurry(self) -> None:
        """Says that somebody waits for the commit of what was matched; from any thread."""
