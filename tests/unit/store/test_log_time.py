"""The time of a log, by two clocks that the test moves."""

import logging
import threading
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast.store.log_time import BUDGET_US, REFILL, LogTime

SECOND = 1_000_000
DAY = 24 * 3600 * SECOND
YEAR = 365 * DAY
START = 50 * YEAR


def opened(wall: int = START, last: int = 0) -> LogTime:
    """A log that was opened at 0 by the monotonic clock."""
    time = LogTime(last)
    time.at(wall, 0)
    return time


def test_it_is_the_wall_clock_while_that_behaves() -> None:
    time = opened()
    for now in range(0, 100 * SECOND, 333_333):
        assert time.at(START + now, now) == START + now


def test_a_jump_of_days_for_some_seconds() -> None:
    time = opened()
    given = [time.at(START + 8 * DAY + now, now) for now in range(0, 3 * SECOND, 1000)]
    most = 3 * SECOND + BUDGET_US + 3 * SECOND // REFILL
    assert max(given) - START <= most < 4.5 * SECOND
    after = [time.at(START + now, now) for now in range(3 * SECOND, 10 * SECOND, 1000)]
    assert (given + after) == sorted(given + after)
    assert after[-1] == START + 10 * SECOND - 1000  # as before


@pytest.mark.parametrize("calls_per_s", [1, 10, 10_000])
def test_a_lasting_step_is_followed_slowly_however_often_it_is_asked_for(calls_per_s: int) -> None:
    time = opened()
    step, each = 30 * SECOND, SECOND // calls_per_s
    moved = [time.at(START + step + now, now) - START - now for now in range(0, 20 * SECOND, each)]
    assert moved[0] == BUDGET_US
    assert BUDGET_US + 2 * SECOND <= moved[-1] <= BUDGET_US + 20 * SECOND // REFILL
    later = 20 * SECOND + REFILL * step
    for now in range(20 * SECOND, later, SECOND):
        time.at(START + step + now, now)
    assert time.at(START + step + later, later) == START + step + later


def test_a_clock_that_was_set_back_lets_it_stand_still() -> None:
    time = opened()
    assert [time.at(START - YEAR + now, now) for now in range(0, DAY, DAY // 9)] == [START] * 9
    assert time.at(START + DAY, DAY) == START + DAY  # what passed meanwhile is not doubted


def test_a_clock_that_stood_still_is_believed_when_it_goes_on() -> None:
    time = opened()
    assert [time.at(START, now) for now in range(0, DAY, DAY // 9)] == [START] * 9
    assert time.at(START + DAY, DAY) == START + DAY
    assert time.at(START + 3 * DAY, DAY) <= START + DAY + BUDGET_US


def test_a_monotonic_clock_that_goes_back_moves_nothing() -> None:
    time = opened()
    time.at(START + SECOND, SECOND)
    assert time.at(START + 9 * SECOND, 0) <= START + SECOND + BUDGET_US


@pytest.mark.parametrize(
    ("last", "wall", "level", "text"),
    [
        (START, START + DAY, logging.INFO, "moves by 86400 s"),
        (START, START - DAY, logging.WARNING, "86400 s before the last time"),
    ],
)
def test_a_step_at_opening_is_believed_and_told(
    caplog: pytest.LogCaptureFixture, last: int, wall: int, level: int, text: str
) -> None:
    caplog.set_level(logging.INFO, "wherecast.store")
    assert LogTime(last).at(wall, 0) == max(last, wall)
    [told] = caplog.records
    assert (told.levelno, text in told.getMessage()) == (level, True)


def test_a_jump_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    time = opened()
    for now in range(0, 10 * SECOND, SECOND):
        time.at(START + DAY + now, now)
    [told] = caplog.records
    assert "jumped ahead by 86399 s" in told.getMessage()


def test_another_process_may_have_come_further() -> None:
    time = opened()
    assert time.at(START, 0, floor=START + DAY) == START + DAY
    assert time.at(START + SECOND, SECOND) == START + DAY


_STEPS = st.lists(
    st.tuples(st.integers(-2 * YEAR, 2 * YEAR), st.integers(0, 10 * SECOND)), max_size=30
)


@given(_STEPS)
def test_never_back_and_never_faster_than_it_may(steps: list[tuple[int, int]]) -> None:
    time, now, last = opened(), 0, START
    for jump, elapsed in steps:
        now += elapsed
        moved = time.at(START + now + jump, now)
        assert moved >= last
        assert moved - START <= now + BUDGET_US + now / REFILL + 1
        last = moved


def test_threads_race() -> None:
    time = opened()
    told: list[list[int]] = [[] for _ in range(8)]
    clock, lock = [0], threading.Lock()

    def run(thread: int) -> None:
        random = Random(thread)
        for _ in range(500):
            with lock:
                clock[0] += 100
                now = clock[0]
            told[thread].append(time.at(START + now + random.choice([0, DAY, -YEAR]), now))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert all(one == sorted(one) and len(one) == 500 for one in told)
    assert max(max(one) for one in told) <= START + clock[0] + BUDGET_US + clock[0] // REFILL
