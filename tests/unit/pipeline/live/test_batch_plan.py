import pytest
from hypothesis import given
from hypothesis import strategies as st

import wherecast as wc
from wherecast.broker.intake.intake import prepare
from wherecast.pipeline.live.batch_plan import Range, limited, plan
from wherecast.store.memory.log import MemoryLog
from wherecast.store.position import Position

ANY = wc.Schema((), open=True)
positions = st.dictionaries(st.integers(0, 3), st.integers(0, 50))


@given(positions, positions, st.integers(0, 120))
def test_a_limit_is_kept_and_nothing_goes_back(
    start: dict[int, int], more: dict[int, int], most: int
) -> None:
    begin = Position(start)
    end = Position({at: begin[at] + more.get(at, 0) for at in {*start, *more}})
    there = limited(begin, end, most)
    assert there.since(begin) == min(most, end.since(begin))
    assert end.reaches(there)
    assert there.reaches(begin)


@pytest.mark.parametrize("partitions", [1, 3])
def test_plans_cover_everything_one_after_the_other(partitions: int) -> None:
    log = MemoryLog(partitions)
    for _ in range(5):
        log.append(prepare([wc.Publication({"n": 1})] * 3, "default", ANY).good, 0)
    at, covered = Position(), set[tuple[int, int]]()
    while (planned := plan(log, at, most=4)) is not None:
        assert planned.start == at
        for range_ in planned.ranges:
            own = {(range_.partition, offset) for offset in range(range_.first, range_.end)}
            assert not own & covered
            covered |= own
        at = planned.end
    assert at == log.ends()
    assert len(covered) == 15


def test_nothing_new_is_no_plan() -> None:
    assert plan(MemoryLog(1), Position()) is None


def test_a_range_is_of_what_is_new() -> None:
    log = MemoryLog(1)
    log.append(prepare([wc.Publication({"n": 1})] * 3, "default", ANY).good, 0)
    planned = plan(log, Position({0: 1}))
    assert planned is not None
    assert list(planned.ranges) == [Range(0, 1, 3)]
