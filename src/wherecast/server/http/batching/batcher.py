"""Calls that cost little more together than one by one are made in batches.

The first call is made at once. Calls that arrive while it runs wait, and are then made together.
After a batch there may be a pause, in which the next batch gathers.

Concurrency: one event loop.
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
    """An item, and the future of whoever waits for its result."""

    item: Item
    outcome: "asyncio.Future[Result]"


class Batcher(Generic[Item, Result]):
    """Makes one call for all items that wait.

    Args:
        pools: a writing thread makes the calls.
        do: gives the result of each item, or the error of that item; an error that it raises is
            the error of all items.
        rest_s: gives the pause in seconds after a batch, by its number of items and its seconds.
        most: the largest number of items in a batch.

    Attributes:
        times: number of batches.
        items: number of items in all batches.
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
        """The result of an item; an item that hurries ends a pause."""
        outcome: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append(_WaitingCall(item, outcome))
        if hurries:
            self._hurried.set()
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await outcome

    async def finish(self) -> None:
        """Returns when no item waits any more; pauses are skipped."""
        while self._running is not None:
            self._hurried.set()
            await asyncio.wait((self._running,), timeout=_LOOK_S)

    async def _run(self) -> None:
        """Makes batches until no item waits."""
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
        except Exception as error:  # noqa: BLE001  # it is the error of each item
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
