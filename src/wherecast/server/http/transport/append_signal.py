"""A signal to those who read a stream: something was appended.

Concurrency: of one event loop.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class AppendSignal:
    """The signal that something was appended."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []

    def send(self) -> None:
        """Calls every listener."""
        for listener in self._listeners:
            listener()

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Iterator[None]:
        """Calls a function at each signal, while this context is open."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)
