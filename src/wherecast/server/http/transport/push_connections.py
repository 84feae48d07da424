"""The open push connections: how many, of whom, and how many bytes they hold.

Concurrency: one event loop; `is_connected` and the figures may be read by any thread.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count


class Connections:
    """The open push connections.

    Attributes:
        stalled: number of connections that were closed since they took no bytes.
        replaced: number of connections that were closed since their subscriber opened another one.
        held_most_bytes: the largest number of bytes that one connection ever held.
        waiting: number of connections that take no more bytes at the moment.
    """

    def __init__(self) -> None:
        self.stalled = self.replaced = self.held_most_bytes = self.waiting = 0
        self._numbers = count(1)
        self._names: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._names.total()

    def is_connected(self, name: str) -> bool:
        """Whether a subscriber has a connection."""
        return self._names[name] > 0

    @contextmanager
    def opened(self, name: str) -> Iterator[int]:
        """The number of a new connection, which counts as open until the context ends."""
        self._names[name] += 1
        try:
            yield next(self._numbers)
        finally:
            self._names[name] -= 1
            if not self._names[name]:
                del self._names[name]

    @contextmanager
    def sending(self, transport: asyncio.WriteTransport | None) -> Iterator[None]:
        """Counts a connection as waiting until the context ends."""
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1
            if transport is not None:
                self.holds(transport.get_write_buffer_size())

    def holds(self, held_bytes: int) -> None:
        """Notes the number of bytes that a connection holds now."""
        self.held_most_bytes = max(self.held_most_bytes, held_bytes)
