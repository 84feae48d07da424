"""Acknowledgements of several subscribers share a transaction; each has its own verdict."""

import asyncio
from collections.abc import Sequence

import pytest

pytest.importorskip("fastapi")

import wherecast as wc
from tests.unit.server.http.door.loop_doors import GatedCore, loop_door
from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.publisher import Publisher
from wherecast.model import StoreError
from wherecast.server.http.door.acknowledging import Acknowledging, Problems
from wherecast.server.http.stage_timings import Timings
from wherecast.store.sequences import moment_of
from wherecast.store.store_items import PendingCursors

Given = tuple[str, list[Acknowledgement]]
NAMES = ("ana", "bob", "eva")


def served() -> GatedCore:
    """A core with three subscribers, who were handed three notifications each."""
    core = GatedCore()
    for name in NAMES:
        core.register(name)
        core.registrar.subscribe(wc.Subscription("s", "n >= 0", name), 0)
    for number in range(3):
        Publisher("p", core).publish({"n": number})
    for name in NAMES:
        while len(core.courier.take(name, 10, 60)) < 3:
            pass
    core.groups.clear()
    return core


def outcomes(
    core: GatedCore, given: Sequence[Given], hurries: bool = True
) -> list[Problems | BaseException]:
    """What becomes of acknowledgements that come together."""

    async def run() -> list[Problems | BaseException]:
        async with loop_door(core) as (door, pools):
            acknowledging = Acknowledging(core, door, pools, Timings())
            tasks = [asyncio.create_task(acknowledging.apply(*one, hurries)) for one in given]
            return list(await asyncio.gather(*tasks, return_exceptions=True))

    return asyncio.run(run())


def through(*offsets: int) -> list[Acknowledgement]:
    return [Acknowledgement(moment_of(offset)) for offset in offsets]


def cursors_of(core: GatedCore) -> list[set[str]]:
    """Whose cursors each transaction stored."""
    return [
        {name for item in group if isinstance(item, PendingCursors) for name in item.cursors}
        for group in core.groups
    ]


@pytest.mark.parametrize("hurries", [True, False])
def test_those_of_several_are_stored_together(hurries: bool) -> None:
    core = served()
    found = outcomes(core, [(name, through(0, 1)) for name in NAMES], hurries)
    assert found == [[None] * 2] * 3
    stored = [names for names in cursors_of(core) if names]
    assert set().union(*stored) == set(NAMES)
    if not hurries:
        assert stored == [set(NAMES)]
    for name in NAMES:
        cursor = core.store.cursors.read(name)
        assert cursor is not None
        assert cursor.through == moment_of(2)
    core.close()


def test_a_bad_one_costs_no_good_one() -> None:
    core = served()
    found = outcomes(core, [("ana", through(1)), ("bob", through(0, 9)), ("eva", through(9))])
    assert [[one is None for one in each] for each in found if isinstance(each, list)] == [
        [True],
        [True, False],
        [False],
    ]
    core.close()


def test_a_full_disk_is_told_to_all() -> None:
    core = served()
    core.refuses = lambda item: isinstance(item, PendingCursors)
    found = outcomes(core, [("ana", through(1)), ("bob", through(1))])
    assert [type(one) for one in found] == [StoreError, StoreError]
    core.refuses = lambda item: False
    core.close()


def test_nothing_is_nothing() -> None:
    core = served()
    assert outcomes(core, [("ana", [])]) == [[]]
    assert core.groups == []
    core.close()
