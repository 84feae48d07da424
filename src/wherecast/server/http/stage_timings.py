"""Seconds that the stages of the gateway took.

Concurrency: any number of threads.
"""

from contextlib import AbstractContextManager
from threading import Lock

from wherecast.store.clock import timed


class Timings:
    """Seconds by stage, since the gateway started."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seconds: dict[str, float] = {}

    def add(self, stage: str, seconds: float) -> None:
        """Adds seconds to a stage."""
        with self._lock:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + seconds

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """A context whose time counts for a stage."""
        return timed(self.add, stage)

    def read(self) -> dict[str, float]:
        """The seconds of each stage so far."""
        with self._lock:
            return dict(self._seconds)
