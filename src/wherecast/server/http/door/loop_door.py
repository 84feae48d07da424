"""The door for an event loop: items go to one committer thread, results come back group by group.

    event loop → committer: one transaction for all that waits, matching, queues → event loop

The event loop never waits for the disk, and hears of a group in one call: first whoever is to send
notifications, then whoever waits for an answer.

Concurrency: of one event loop, except `soon`, which any thread may call.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread, get_ident
from typing import Any

from wherecast.broker.door.door import Door
from wherecast.broker.door.door_calls import DoorCall, DoorItem, PendingSave

_SAVE_WITHIN_S = 0.02

Futures = list["asyncio.Future[Any]"]


class LoopDoor:
    """Hands items to a door for coroutines of the running event loop.

    Args:
        door: of the broker; nobody else commits for it while this one is open.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._loop = asyncio.get_running_loop()
        self._thread: Thread | None = None
        self._committer = 0  # identity of the thread
        self._finished: list[tuple[Futures, DoorCall]] = []  # of the committer
        self._wakes: list[Callable[[], None]] = []  # of the committer
        self._unhurried: Futures = []
        self._timer: asyncio.TimerHandle | None = None

    async def write(self, item: DoorItem, key: str = "") -> Any:
        """The result of an item once it is stored; see `Door.write`."""
        return await self.submit(item, key)

    def submit(self, item: DoorItem, key: str = "") -> "asyncio.Future[Any]":
        """Hands in an item; the future has its result once it is stored."""
        future = self._loop.create_future()
        self._hand_in(item, [future], key)
        self._send_unhurried()  # afterwards: the transaction of the item takes their cursors along
        return future

    async def save_cursors(self, hurries: bool) -> None:
        """Returns when the cursors that have changed by now are stored.

        Args:
            hurries: whether that begins at once; else it may wait for the next item, but not long.
        """
        future = self._loop.create_future()
        self._unhurried.append(future)
        if hurries:
            self._send_unhurried()
        elif self._timer is None:
            self._timer = self._loop.call_later(_SAVE_WITHIN_S, self._send_unhurried)
        await future

    async def finish(self) -> None:
        """Ends the committer once nothing waits."""
        self._send_unhurried()
        if self._thread is not None:
            self._door.stop_serving()
            await asyncio.to_thread(self._thread.join)

    def soon(self, call: Callable[[], None]) -> None:
        """Has the event loop make a call; calls of the committer wait for the end of its group."""
        if get_ident() == self._committer:
            self._wakes.append(call)
        else:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(call)

    def _hand_in(self, item: DoorItem, futures: Futures, key: str = "") -> None:
        if self._thread is None:
            self._door.open_to_submit()
            self._thread = Thread(target=self._serve, name="wherecast-committer", daemon=True)
            self._thread.start()
        self._door.submit(item, partial(self._note, futures), key)

    def _send_unhurried(self) -> None:
        """Hands in the one call that all unhurried ones share."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._unhurried:
            futures, self._unhurried = self._unhurried, []
            self._hand_in(PendingSave(), futures)

    # On the committer's thread.

    def _serve(self) -> None:
        self._committer = get_ident()
        self._door.serve(self._flush)

    def _note(self, futures: Futures, call: DoorCall) -> None:
        self._finished.append((futures, call))

    def _flush(self) -> None:
        """Sends the results of a group to the event loop, in one call."""
        wakes, self._wakes = self._wakes, []
        finished, self._finished = self._finished, []
        if wakes or finished:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(_settle, wakes, finished)


def _settle(wakes: list[Callable[[], None]], finished: list[tuple[Futures, DoorCall]]) -> None:
    for wake in wakes:
        wake()
    for futures, call in finished:
        for future in futures:
            if future.done():  # whoever waited has gone
                continue
            if call.error is not None:
                future.set_exception(call.error)
            else:
                future.set_result(call.result)
