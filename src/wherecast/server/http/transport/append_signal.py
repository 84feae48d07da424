"""Tells those who read a stream that something was appended.

Concurrency: of one event loop.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Appended:
    """Who wants to know that something was appended."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[], None]] = []

    def tell(self) -> None:
        """Tells all."""
        for listener in self._listeners:
            listener()

    @contextmanager
    def listening(self, listener: Callable[[], None]) -> Iterator[None]:
        """Has a function called meanwhile."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)
