"""A range is read whole, or it is refused."""

import pytest

from tests.contract.stores import Body, publications
from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.read_range import read_range
from wherecast.store.memory.log import MemoryLog
from wherecast.store.position import Position


@pytest.fixture(params=[False, True])
def log(request: pytest.FixtureRequest) -> MemoryLog:
    log = MemoryLog(is_sparse=request.param)
    for number in range(6):
        log.append(publications([Body(number)] * 2), 0)
    return log


def test_all_entries_of_a_range_are_read(log: MemoryLog) -> None:
    end = log.ends()[0]
    assert [entry.count for entry in read_range(log, Range(0, 0, end))] == [2] * 6
    assert len(list(read_range(log, Range(0, log.skip(0, 0, 3), end)))) == 5


def test_what_was_trimmed_is_told(log: MemoryLog) -> None:
    end = log.ends()[0]
    log.trim(Position({0: log.skip(0, 0, 4)}))
    with pytest.raises(StoreError, match=r"publications 0 to .* are missing in the log"):
        list(read_range(log, Range(0, 0, end)))
    assert len(list(read_range(log, Range(0, log.starts()[0], end)))) == 4


def test_what_is_beyond_the_end_is_told(log: MemoryLog) -> None:
    end = log.ends()[0]
    with pytest.raises(StoreError, match="are missing in the log"):
        list(read_range(log, Range(0, 0, end + 1)))
