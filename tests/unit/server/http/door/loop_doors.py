"""A broker core with its door on an event loop, for the tests of this folder."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from threading import Event

import wherecast as wc
from wherecast.broker.broker_core import BrokerCore
from wherecast.model import StoreError
from wherecast.server.http.door.loop_door import LoopDoor
from wherecast.server.http.transport.thread_pools import ThreadPools
from wherecast.store.open_store import open_store
from wherecast.store.store_items import StoreItem, StoreResult

SCHEMA = wc.Schema.from_dict({"n": "int"})


class GatedCore(BrokerCore):
    """A core whose transactions wait at a gate, and may fail.

    Attributes:
        groups: the items of each transaction.
        refuses: tells the items that do not fit on the disk.
    """

    def __init__(self) -> None:
        store = open_store("memory:")
        super().__init__(store, SCHEMA)
        self.gate = Event()
        self.gate.set()
        self.groups: list[list[StoreItem]] = []
        self.refuses: Callable[[StoreItem], bool] = lambda item: False
        self._store_write = store.write
        store.write = self._gated_write  # type: ignore[method-assign]

    def _gated_write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
        self.groups.append(list(items))
        assert self.gate.wait(60)
        if any(map(self.refuses, items)):
            raise StoreError("the disk is full")
        return self._store_write(items)


@asynccontextmanager
async def loop_door(core: BrokerCore) -> AsyncIterator[tuple[LoopDoor, ThreadPools]]:
    """The door of a core on the running event loop, with threads for what waits at it."""
    door, pools = LoopDoor(core.door), ThreadPools()
    try:
        yield door, pools
    finally:
        await door.finish()
        pools.close()


async def until(is_true: Callable[[], bool]) -> None:
    """Returns once something is true, which must come soon."""
    async with asyncio.timeout(60):
        while not is_true():
            await asyncio.sleep(0)
