"""The broker for asyncio does what the plain one does, without a thread per waiter."""

import asyncio
import threading
from pathlib import Path

import pytest

import wherecast as wc

SCHEMA = wc.Schema.from_dict({"no2": "float"})
LIMIT_S = 30.0


def test_a_publication_is_taken_and_acknowledged() -> None:
    async def run() -> None:
        async with wc.AsyncBroker(SCHEMA) as broker:
            ana = await broker.subscriber("ana")
            await ana.subscribe("no2 > 40", id="s1")
            publisher = await broker.publisher("station-7")
            waiting = asyncio.create_task(ana.take(10, timeout=LIMIT_S))
            await publisher.publish({"no2": 45.0}, payload=b"x")
            [one] = await waiting
            assert one.publication.attributes == {"no2": 45.0}
            assert one.publication.payload == b"x"
            assert one.subscription_ids == ("s1",)
            assert not one.redelivered
            [again] = await ana.take(10)
            assert again.redelivered
            await one.ack()
            assert await ana.take(10) == []

    asyncio.run(run())


def test_an_iteration_gets_each_once_and_ends_with_the_broker() -> None:
    async def run() -> None:
        seen: list[float] = []
        got_all = asyncio.Event()
        broker = wc.AsyncBroker(SCHEMA)
        ana = await broker.subscriber("ana")
        await ana.subscribe("no2 >= 0")

        async def read() -> None:
            async for one in ana:
                seen.append(one.publication.attributes["no2"])
                await one.ack()
                if len(seen) == 5:
                    got_all.set()

        reading = asyncio.create_task(read())
        publisher = await broker.publisher("p")
        for number in range(5):
            await publisher.publish({"no2": float(number)})
        await asyncio.wait_for(got_all.wait(), LIMIT_S)
        await broker.close()
        await asyncio.wait_for(reading, LIMIT_S)
        assert seen == [0.0, 1.0, 2.0, 3.0, 4.0]

    asyncio.run(run())


def test_many_waiters_take_no_threads() -> None:
    async def run() -> None:
        async with wc.AsyncBroker(SCHEMA) as broker:
            each = [await broker.subscriber(f"s{number}") for number in range(200)]
            for one in each:
                await one.subscribe("no2 > 0", id="a")
            waiting = [asyncio.create_task(one.take(1, timeout=LIMIT_S)) for one in each]
            await asyncio.sleep(0)
            publisher = await broker.publisher("p")
            await publisher.publish({"no2": 1.0})
            found = await asyncio.gather(*waiting)
            assert [len(one) for one in found] == [1] * 200
            assert threading.active_count() < 100

    asyncio.run(run())


def test_what_was_not_acknowledged_comes_again_after_a_restart(tmp_path: Path) -> None:
    async def life(number: int) -> None:
        async with wc.AsyncBroker(SCHEMA, data=tmp_path / "store") as broker:
            ana = await broker.subscriber("ana")
            if not number:
                await ana.subscribe("no2 > 40", id="s1")
                publisher = await broker.publisher("p")
                done = await publisher.publish_all([{"no2": 41.0}, {"no2": 42.0}, {"no2": 1.0}])
                assert done.accepted == 3
            found = []
            while len(found) < 2 - number:
                found = await ana.take(10, timeout=LIMIT_S)
            assert [one.redelivered for one in found] == [bool(number)] * (2 - number)
            await found[0].ack()

    asyncio.run(life(0))
    asyncio.run(life(1))


def test_it_tells_what_the_plain_one_tells() -> None:
    async def run() -> None:
        async with wc.AsyncBroker(SCHEMA) as broker:
            ana = await broker.subscriber("ana")
            await ana.subscribe("no2 > 40", id="s1")
            await (await broker.publisher("p")).publish_all([{"no2": 41.0}, {"no2": 42.0}])
            first, *_ = await ana.take(2, timeout=LIMIT_S)
            assert [one.id for one in await ana.subscriptions()] == ["s1"]
            await ana.ack(first)
            assert await ana.lost() == 0
            assert await broker.dead_letters() == []

    asyncio.run(run())


def test_misuse_is_told_in_one_line() -> None:
    async def run() -> None:
        async with wc.AsyncBroker(SCHEMA) as broker:
            ana = await broker.subscriber("ana")
            with pytest.raises(wc.ConfigError, match="number of seconds"):
                await ana.take(1, timeout=float("nan"))
            with pytest.raises(wc.ConfigError, match="at least 1"):
                await ana.take(0)
            with pytest.raises(wc.ConfigError, match="a notification is acknowledged"):
                await ana.ack("0")  # type: ignore[arg-type]

    asyncio.run(run())
