"""The threads that wait for the disk, so that the event loop never does.

A call that writes waits for the next transaction, which many calls share: so there are many threads
for writing. Reading has threads of its own: publishers do not hold up deliveries.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

_WRITERS = 32
_READERS = 8

P = ParamSpec("P")
T = TypeVar("T")


class ThreadPools:
    """The thread pools of a server: one for calls that write, one for calls that read."""

    def __init__(self) -> None:
        self._writers = ThreadPoolExecutor(_WRITERS, "wherecast-writer")
        self._readers = ThreadPoolExecutor(_READERS, "wherecast-reader")

    async def write(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a call that waits for a transaction."""
        return await _run(self._writers, call, *args, **kwargs)

    async def read(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of a call that may read the disk."""
        return await _run(self._readers, call, *args, **kwargs)

    def waiting(self) -> dict[str, int]:
        """Number of calls that wait for a thread, by pool."""
        pools = {"write": self._writers, "read": self._readers}
        return {kind: pool._work_queue.qsize() for kind, pool in pools.items()}

    def close(self) -> None:
        """Ends the threads; calls that have not begun are dropped."""
        for pool in (self._writers, self._readers):
            pool.shutdown(wait=False, cancel_futures=True)


async def _run(
    pool: ThreadPoolExecutor, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(pool, lambda: call(*args, **kwargs))
