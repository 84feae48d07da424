"""The door on an event loop: one call back per group, wakes before answers, errors as they are."""

import asyncio

import pytest

pytest.importorskip("fastapi")

from tests.unit.server.http.door.loop_doors import GatedCore, loop_door, until
from wherecast.broker.loop_event import LoopEvent
from wherecast.model import StoreError
from wherecast.store.store_items import PendingCursors, PendingTick


def test_items_that_come_together_share_a_transaction_and_a_call_back() -> None:
    core = GatedCore()

    async def run() -> None:
        async with loop_door(core) as (door, _):
            core.groups.clear()
            core.gate.clear()
            first = door.submit(PendingTick(0))
            await until(lambda: len(core.groups) == 1)
            others = [door.submit(PendingTick(0)) for _ in range(5)]
            core.gate.set()
            receipts = await asyncio.gather(first, *others)
            assert [one.offsets.tolist() for one in receipts] == [[n] for n in range(6)]
            assert [len(group) for group in core.groups] == [1, 5]

    asyncio.run(run())
    core.close()


def test_whoever_sends_is_woken_before_whoever_waits_for_an_answer() -> None:
    core = GatedCore()

    async def run() -> list[str]:
        order: list[str] = []
        async with loop_door(core) as (door, _):
            news = LoopEvent(door.soon)

            async def wait_for_news() -> None:
                await news.wait()
                order.append("news")

            waiting = asyncio.create_task(wait_for_news())
            await asyncio.sleep(0)
            core.door._follow = lambda written: news.set()  # as a queue does
            await door.write(PendingTick(0))
            order.append("answer")
            await waiting
        return order

    assert asyncio.run(run()) == ["news", "answer"]
    core.close()


def test_an_item_that_fails_has_its_error_and_the_next_one_works() -> None:
    core = GatedCore()

    async def run() -> None:
        async with loop_door(core) as (door, _):
            core.refuses = lambda item: True
            with pytest.raises(StoreError, match="the disk is full"):
                await door.write(PendingTick(0))
            core.refuses = lambda item: False
            assert (await door.write(PendingTick(0))).offsets.tolist() == [0]

    asyncio.run(run())
    core.close()


def test_an_unhurried_save_rides_with_the_next_item() -> None:
    core = GatedCore()
    core.register("ana")

    async def run() -> None:
        async with loop_door(core) as (door, _):
            await door.write(PendingTick(0))  # the committer runs
            core.groups.clear()
            with core.courier._lock:
                core.courier.cursors.changed("ana")
            saving = asyncio.create_task(door.save_cursors(hurries=False))
            await asyncio.sleep(0)
            await door.write(PendingTick(0))
            await saving
            kinds = [{type(item) for item in group} for group in core.groups]
            assert kinds == [{PendingCursors, PendingTick}]

    asyncio.run(run())
    core.close()


def test_an_unhurried_save_alone_is_stored_soon() -> None:
    core = GatedCore()
    core.register("ana")

    async def run() -> None:
        async with loop_door(core) as (door, _):
            core.groups.clear()
            with core.courier._lock:
                core.courier.cursors.changed("ana")
            async with asyncio.timeout(60):
                await door.save_cursors(hurries=False)
            assert [len(group) for group in core.groups] == [1]

    asyncio.run(run())
    core.close()


def test_after_its_end_nothing_is_handed_in_and_threads_lead_again() -> None:
    core = GatedCore()

    async def run() -> None:
        async with loop_door(core) as (door, _):
            await door.write(PendingTick(0))
        with pytest.raises(StoreError, match="closing"):
            await door.write(PendingTick(0))

    asyncio.run(run())
    assert core.door.write(PendingTick(0)).offsets.tolist() == [1]
    core.close()
