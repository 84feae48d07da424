"""An event of an asyncio loop that any thread may set."""

import asyncio
from contextlib import suppress


class LoopEvent:
    """Wakes a coroutine of the loop that it was made in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._is_set = False

    def set(self) -> None:
        """Wakes whoever waits; from any thread. Again and again it costs nothing."""
        if not self._is_set:
            self._is_set = True
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._event.set)

    def clear(self) -> None:
        """Forgets that it was set; whatever it was set for is to be looked at after this."""
        self._is_set = False
        self._event.clear()

    async def wait(self, timeout_s: float | None = None) -> None:
        """Waits until it is set, at most so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._event.wait()
