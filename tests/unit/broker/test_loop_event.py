"""Nobody sleeps over what comes while it looks, however often it is woken."""

import asyncio
from threading import Thread

from wherecast.broker.loop_event import LoopEvent


def test_whoever_looks_after_clearing_misses_nothing() -> None:
    told: list[int] = []

    async def run() -> None:
        woken = LoopEvent()

        def tell() -> None:
            for number in range(2_000):
                told.append(number)
                woken.set()

        teller = Thread(target=tell)
        teller.start()
        seen = 0
        while seen < 2_000:
            woken.clear()
            if len(told) == seen:
                await woken.wait()
            seen = len(told)
        teller.join()

    asyncio.run(asyncio.wait_for(run(), 60))
    assert told == list(range(2_000))


def test_it_sleeps_until_it_is_woken_again() -> None:
    async def run() -> None:
        woken = LoopEvent()
        woken.set()
        woken.set()
        await asyncio.wait_for(woken.wait(), 60)
        woken.clear()
        waiting = asyncio.create_task(woken.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        Thread(target=woken.set).start()
        await asyncio.wait_for(waiting, 60)

    asyncio.run(run())
