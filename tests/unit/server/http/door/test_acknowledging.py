"""Acknowledgements of several subscribers share what is written; each has its own verdict."""

import asyncio
from collections.abc import Sequence
from threading import Event

import pytest

pytest.importorskip("fastapi")

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.model import AcknowledgementError, StoreError
from wherecast.server.http.door.ack_batcher import AckBatcher, Problems
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.thread_pools import ThreadPools

Given = tuple[str, list[Acknowledgement]]


class Queues:
    """The edge to the queues: refuses what is beyond 100, and may be full."""

    def __init__(self, is_full: bool = False) -> None:
        self.gate = Event()
        self.times: list[list[tuple[str, Acknowledgement]]] = []
        self._is_full = is_full

    def acknowledge(self, given: Sequence[tuple[str, Acknowledgement]]) -> Problems:
        assert self.gate.wait(60)
        self.times.append(list(given))
        if self._is_full:
            raise StoreError("the disk is full")
        refused = AcknowledgementError("never delivered", code="not_delivered")
        return [refused if (wanted.through or 0) > 100 else None for _, wanted in given]


def outcomes(queues: Queues, *given: Given) -> list[Problems | BaseException]:
    """What becomes of a first subscriber, and of others that come while it is written."""

    async def run() -> list[Problems | BaseException]:
        pools = ThreadPools()
        batcher = AckBatcher(queues, pools, Timings())  # type: ignore[arg-type]
        tasks = [asyncio.create_task(batcher.apply(*one, hurries=True)) for one in given]
        await asyncio.sleep(0)
        queues.gate.set()
        try:
            return list(await asyncio.gather(*tasks, return_exceptions=True))
        finally:
            await batcher.finish()
            pools.close()

    return asyncio.run(run())


def through(*sequences: int) -> list[Acknowledgement]:
    return [Acknowledgement(sequence) for sequence in sequences]


def test_those_of_several_are_written_at_once() -> None:
    queues = Queues()
    first, *others = ((name, through(1, 3, 2)) for name in ("ana", "bob", "cvita"))
    assert outcomes(queues, first, *others) == [[None] * 3] * 3
    assert [name for time in queues.times for name, _ in time] == ["ana", "bob", "cvita"]
    assert len(queues.times) <= 2
    assert {wanted.through for time in queues.times for _, wanted in time} == {3}


def test_a_bad_one_costs_one_write_more_for_all() -> None:
    queues = Queues()
    found = outcomes(queues, ("ana", through(5)), ("bob", through(5, 101)), ("eva", through(102)))
    assert [[one is None for one in each] for each in found if isinstance(each, list)] == [
        [True],
        [True, False],
        [False],
    ]
    assert [("bob", through(5)[0]), ("bob", through(101)[0]), ("eva", through(102)[0])] in (
        queues.times
    )


def test_a_full_disk_is_told_to_all() -> None:
    found = outcomes(Queues(is_full=True), ("ana", through(1)), ("bob", through(1)))
    assert [type(one) for one in found] == [StoreError, StoreError]


def test_nothing_is_nothing() -> None:
    queues = Queues()
    assert outcomes(queues, ("ana", [])) == [[]]
    assert queues.times == []
