"""An event of an asyncio loop that any thread may set."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Soon = Callable[[Callable[[], None]], Any]


class LoopEvent:
    """Wakes a coroutine of the event loop in which the event was made.

    Args:
        soon: has the loop make a call, from any thread; None: at once.
    """

    def __init__(self, soon: Soon | None = None) -> None:
        self._soon = asyncio.get_running_loop().call_soon_threadsafe if soon is None else soon
        self._event = asyncio.Event()
        self._is_set = False

    def set(self) -> None:
        """Wakes the coroutine that waits; from any thread. A second call costs nothing."""
        if not self._is_set:
            self._is_set = True
            with suppress(RuntimeError):  # the loop has ended
                self._soon(self._event.set)

    def clear(self) -> None:
        """Resets the event; look for what it announces only after this, or it may be missed."""
        self._is_set = False
        self._event.clear()

    async def wait(self, timeout_s: float | None = None) -> None:
        """Waits until the event is set, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
