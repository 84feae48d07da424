import pytest
from hypothesis import given
from hypothesis import strategies as st

import wherecast as wc
from wherecast.broker.intake.intake import prepare
from wherecast.pipeline.live.batch_plan import Range, cut, limited, plan
from wherecast.store.memory.log import MemoryLog
from wherecast.store.position import Position

ANY = wc.Schema((), open=True)
KINDS = [(1, False), (3, False), (1, True), (3, True)]
places = st.integers(0, 50)


def filled(partitions: int, is_sparse: bool, entries: int = 5, each: int = 3) -> MemoryLog:
    log = MemoryLog(partitions, is_sparse=is_sparse)
    for _ in range(entries):
        log.append(prepare([wc.Publication({"n": 1})] * each, "default", ANY).good, 0)
    return log


@pytest.mark.parametrize(("partitions", "is_sparse"), KINDS)
@given(st.lists(places, min_size=3, max_size=3), st.integers(0, 20))
def test_a_limit_is_kept_and_nothing_goes_back(
    partitions: int, is_sparse: bool, starts: list[int], most: int
) -> None:
    log = filled(partitions, is_sparse)
    ends = log.ends()
    start = Position({part: min(starts[part], ends[part]) for part in range(partitions)})
    end = limited(log, start, ends, most)
    left = sum(log.count(part, start[part], ends[part]) for part in range(partitions))
    taken = sum(log.count(part, start[part], end[part]) for part in range(partitions))
    assert taken == min(most, left)
    assert ends.reaches(end)
    assert end.reaches(start)


@pytest.mark.parametrize(("partitions", "is_sparse"), KINDS)
def test_plans_cover_everything_one_after_the_other(partitions: int, is_sparse: bool) -> None:
    log = filled(partitions, is_sparse)
    at, count, ends = Position(), 0, dict[int, int]()
    while (planned := plan(log, at, most=4)) is not None:
        assert planned.start == at
        for range_ in planned.ranges:
            assert ends.get(range_.partition, 0) == range_.first
            ends[range_.partition] = range_.end
            count += log.count(range_.partition, range_.first, range_.end)
        at = planned.end
    assert at == log.ends()
    assert count == 15


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize(("first", "parts"), [(0, 1), (2, 2), (0, 4), (7, 7)])
def test_a_range_is_cut_into_parts_of_about_one_size(
    is_sparse: bool, first: int, parts: int
) -> None:
    log = filled(1, is_sparse, entries=20, each=4)
    whole = Range(0, first, log.ends()[0])
    cuts = list(cut(log, whole, parts))
    assert len(cuts) == parts
    assert [one.first for one in cuts] == [first, *(one.end for one in cuts[:-1])]
    assert cuts[-1].end == whole.end
    sizes = [log.count(0, one.first, one.end) for one in cuts]
    assert max(sizes) - min(sizes) <= 1


def test_nothing_new_is_no_plan() -> None:
    assert plan(MemoryLog(1), Position()) is None


def test_a_range_is_of_what_is_new() -> None:
    log = MemoryLog(1)
    log.append(prepare([wc.Publication({"n": 1})] * 3, "default", ANY).good, 0)
    planned = plan(log, Position({0: 1}))
    assert planned is not None
    assert list(planned.ranges) == [Range(0, 1, 3)]


def test_no_partition_starves() -> None:
    log = filled(3, is_sparse=False, entries=30, each=3)
    at, turn = Position(), 0
    reached = set[int]()
    for _ in range(3):
        planned = plan(log, at, most=5, turn=turn)
        assert planned is not None
        (range_,) = planned.ranges
        reached.add(range_.partition)
        at, turn = planned.end, range_.partition + 1
    assert reached == {0, 1, 2}
