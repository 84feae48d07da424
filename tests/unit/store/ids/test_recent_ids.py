import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wherecast.store.ids.recent_ids import IdWindow, RecentIds


def found(recent: RecentIds, hashes: list[int]) -> set[tuple[int, int]]:
    rows, places = recent.find(np.array(hashes, np.uint64))
    return set(zip(rows.tolist(), places.tolist(), strict=True))


def adding(recent: RecentIds, hashes: list[int], start: int, at: int = 0) -> RecentIds:
    places = np.arange(start, start + len(hashes))
    return recent.adding(np.array(hashes, np.uint64), places, at)


def test_nothing_is_known_at_first() -> None:
    assert found(RecentIds(), [1, 2]) == set()
    assert len(RecentIds()) == 0


@given(st.lists(st.lists(st.integers(0, 6), max_size=8), max_size=40))
def test_every_place_of_a_hash_is_found(calls: list[list[int]]) -> None:
    recent = RecentIds()
    expected: dict[int, set[int]] = {}
    place = 0
    for hashes in calls:
        for number, value in enumerate(hashes):
            expected.setdefault(value, set()).add(place + number)
        recent = adding(recent, hashes, place)
        place += len(hashes)
    asked = [3, 0, 6, 1, 1, 99]
    assert found(recent, asked) == {
        (row, place)
        for row, value in enumerate(asked)
        for place in expected.get(value, set())
        if value
    }


def test_what_was_there_before_stays_as_it_is() -> None:
    first = adding(RecentIds(), [1, 2], 0)
    second = adding(first, [1], 2)
    assert found(first, [1]) == {(0, 0)}
    assert found(second, [1]) == {(0, 0), (0, 2)}


def test_runs_stay_few() -> None:
    recent = RecentIds()
    for number in range(20_000):
        recent = adding(recent, [number + 1], number)
    assert len(recent) == 20_000
    assert len(recent._runs) <= 12
    assert found(recent, [1, 20_000]) == {(0, 0), (1, 19_999)}


def test_what_is_beyond_the_window_is_dropped() -> None:
    recent = RecentIds(IdWindow(publications=1000))
    for number in range(30_000):
        recent = adding(recent, [number + 1], number)
    assert len(recent) < 6000  # a run goes as a whole
    assert found(recent, [30_000 - 999]) == {(0, 30_000 - 1000)}


def test_what_is_too_old_is_dropped() -> None:
    recent = RecentIds(IdWindow(age_us=100))
    for number in range(50):
        recent = adding(recent, [number + 1], number, at=number * 50)
    recent = adding(recent, [99], 50, at=10_000)
    assert len(recent) == 1


def test_the_window() -> None:
    window = IdWindow(age_us=100, publications=10)
    assert window.has(accepted_at=0, place=0, at=99, end=9)
    assert not window.has(accepted_at=0, place=0, at=100, end=9)
    assert not window.has(accepted_at=0, place=0, at=99, end=10)
    assert window.has(accepted_at=50, place=0, at=0, end=0)  # a clock that was set back
