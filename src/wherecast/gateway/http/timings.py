"""What the stages of the gateway took.

Concurrency: any number of threads.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import perf_counter


class Timings:
    """Seconds by stage."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._seconds: dict[str, float] = {}

    def add(self, stage: str, seconds: float) -> None:
        """Adds to a stage."""
        with self._lock:
            self._seconds[stage] = self._seconds.get(stage, 0.0) + seconds

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Counts what is done meanwhile as a stage."""
        started = perf_counter()
        try:
            yield
        finally:
            self.add(stage, perf_counter() - started)

    def read(self) -> dict[str, float]:
        """The seconds so far."""
        with self._lock:
            return dict(self._seconds)
