"""Nobody sleeps over what comes while it looks, however often it is woken."""

import asyncio
from threading import Thread

from wherecast.broker.loop_event import LoopEvent


def test_whoever_looks_after_clearing_misses_nothing() -> None:
    numbers: list[int] = []

    async def run() -> None:
        event = LoopEvent()

        def tell() -> None:
            for number in range(2_000):
                numbers.append(number)
                event.set()

        teller = Thread(target=tell)
        teller.start()
        count = 0
        while count < 2_000:
            event.clear()
            if len(numbers) == count:
                await event.wait()
            count = len(numbers)
        teller.join()

    asyncio.run(asyncio.wait_for(run(), 60))
    assert numbers == list(range(2_000))


def test_it_sleeps_until_it_is_woken_again() -> None:
    async def run() -> None:
        event = LoopEvent()
        event.set()
        event.set()
        await asyncio.wait_for(event.wait(), 60)
        event.clear()
        waiting = asyncio.create_task(event.wait())
        await asyncio.sleep(0)
        assert not waiting.done()
        Thread(target=event.set).start()
        await asyncio.wait_for(waiting, 60)

    asyncio.run(run())
