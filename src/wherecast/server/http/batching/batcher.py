"""Calls that cost little more together than one by one: those that come meanwhile go together.

The first goes at once. What comes while it is done waits, and then goes together. After that there
may be a rest, so that more come together.

Concurrency: of one event loop.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import perf_counter
from typing import Generic, TypeVar

from wherecast.server.http.transport.thread_pools import ThreadPools

_LOOK_S = 0.01

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, eq=False)
class _WaitingCall(Generic[Item, Result]):
    """What is to be done, and whoever waits for it."""

    item: Item
    outcome: "asyncio.Future[Result]"


class Batcher(Generic[Item, Result]):
    """Does what is handed in, all that waits at once.

    Args:
        pools: one of its writers does it.
        do: gives for each its result, or the error to raise; what it raises itself is of all.
        rest_s: how long to wait after so many at once that took so many seconds.
        most: how many go at once.

    Attributes:
        times: how often something was done.
        items: how many that were.
    """

    def __init__(
        self,
        pools: ThreadPools,
        do: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        rest_s: Callable[[int, float], float],
        most: int,
    ) -> None:
        self.times = 0
        self.items = 0
        self._pools = pools
        self._do = do
        self._rest_s = rest_s
        self._most = most
        self._waiting: deque[_WaitingCall[Item, Result]] = deque()
        self._hurried = asyncio.Event()
        self._running: asyncio.Task[None] | None = None

    async def submit(self, item: Item, hurries: bool = False) -> Result:
        """The result of an item; one that hurries ends a rest."""
        outcome: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append(_WaitingCall(item, outcome))
        if hurries:
            self._hurried.set()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await outcome

    async def finish(self) -> None:
        """Returns when nothing waits any more; nothing rests meanwhile."""
        while self._running is not None:
            self._hurried.set()
            await asyncio.wait((self._running,), timeout=_LOOK_S)

    async def _run(self) -> None:
        """Works until nobody waits."""
        try:
            while self._waiting:
                started, count = perf_counter(), min(len(self._waiting), self._most)
                some = [self._waiting.popleft() for _ in range(count)]
                self._hurried.clear()
                self.times += 1
                self.items += count
                _settle(some, await self._done([one.item for one in some]))
                rest_s = self._rest_s(count, perf_counter() - started)
                if rest_s and count < self._most:
                    await self._rest(rest_s)
        finally:
            self._running = None

    async def _done(self, items: Sequence[Item]) -> Sequence[Result | Exception]:
        try:
            return await self._pools.write(self._do, items)
        except Exception as error:  # noqa: BLE001  # each has it
            return [error] * len(items)

    async def _rest(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._hurried.wait()


def _settle(
    some: Sequence[_WaitingCall[Item, Result]], results: Sequence[Result | Exception]
) -> None:
    for one, result in zip(some, results, strict=True):
        if one.outcome.done():  # whoever waited has gone
            continue
        if isinstance(result, Exception):
            one.outcome.set_exception(result)
        else:
            one.outcome.set_result(result)
