"""An event of an asyncio loop that any thread may set."""

import asyncio
from contextlib import suppress


class Woken:
    """Wakes a coroutine of the loop that it was made in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()

    def set(self) -> None:
        """Wakes whoever waits; from any thread."""
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._event.set)

    def clear(self) -> None:
        """Forgets that it was set."""
        self._event.clear()

    async def wait(self, timeout_s: float | None = None) -> None:
        """Waits until it is set, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
