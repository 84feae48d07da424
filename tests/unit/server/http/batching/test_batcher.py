"""What comes while something is done goes together, and each gets its own result."""

import asyncio
from collections.abc import Sequence
from threading import Event

import pytest

pytest.importorskip("fastapi")

from wherecast.server.http.batching.batcher import Batcher
from wherecast.server.http.transport.thread_pools import ThreadPools

Outcomes = list[int | BaseException]


class Doing:
    """Doubles numbers, and refuses those below zero."""

    def __init__(self) -> None:
        self.gate = Event()
        self.gate.set()
        self.seen: list[list[int]] = []

    def __call__(self, given: Sequence[int]) -> list[int | Exception]:
        assert self.gate.wait(60)
        self.seen.append(list(given))
        return [2 * one if one >= 0 else ValueError(one) for one in given]


def outcomes(
    first: Sequence[int], then: Sequence[int], doing: Doing, most: int = 100, rest_s: float = 0.0
) -> Outcomes:
    """What becomes of some, and of others that come while they are done."""

    async def run() -> Outcomes:
        pools = ThreadPools()
        batcher: Batcher[int, int] = Batcher(pools, doing, lambda _, __: rest_s, most)
        doing.gate.clear()
        tasks = [asyncio.create_task(batcher.submit(one)) for one in first]
        while not batcher.times:
            await asyncio.sleep(0)
        tasks += [asyncio.create_task(batcher.submit(one, hurries=True)) for one in then]
        await asyncio.sleep(0)
        doing.gate.set()
        try:
            return list(await asyncio.gather(*tasks, return_exceptions=True))
        finally:
            pools.close()

    return asyncio.run(run())


def test_those_that_come_meanwhile_go_together() -> None:
    doing = Doing()
    assert outcomes([1], [2, 3, 4], doing) == [2, 4, 6, 8]
    assert doing.seen == [[1], [2, 3, 4]]


def test_no_more_than_the_most_go_at_once() -> None:
    doing = Doing()
    outcomes([1], [2, 3, 4], doing, most=2)
    assert doing.seen == [[1], [2, 3], [4]]


def test_each_gets_its_own_error() -> None:
    good, bad, other = outcomes([1], [-2, 3], Doing())
    assert (good, other) == (2, 6)
    assert isinstance(bad, ValueError)


def test_one_that_hurries_ends_a_rest() -> None:
    doing = Doing()
    assert outcomes([1], [2], doing, rest_s=3_600.0) == [2, 4]
    assert doing.seen == [[1], [2]]


def test_whoever_goes_leaves_the_others_theirs() -> None:
    doing = Doing()

    async def run() -> int:
        pools = ThreadPools()
        batcher: Batcher[int, int] = Batcher(pools, doing, lambda _, __: 0.0, 10)
        doing.gate.clear()
        leaving = asyncio.create_task(batcher.submit(1))
        staying = asyncio.create_task(batcher.submit(2))
        await asyncio.sleep(0)
        leaving.cancel()
        doing.gate.set()
        try:
            return await staying
        finally:
            pools.close()

    assert asyncio.run(run()) == 4
