import pytest

from wherecast import AcknowledgementError
from wherecast.delivery.backlog import Backlog


def backlog(*sequences: int, end: int = 100, room: int = 10) -> Backlog:
    one = Backlog(0, ())
    one.extend(0, [(sequence, ["s"]) for sequence in sequences], end, room)
    return one


def held(one: Backlog) -> list[int]:
    return [sequence for sequence, _ in one.held]


def test_it_knows_up_to_the_first_without_room() -> None:
    one = backlog(3, 5, 8, room=2)
    assert (held(one), one.through, one.known) == ([3, 5], 3, 8)
    one.extend(8, [(8, ["s"])], 100, 1)
    assert (held(one), one.known) == ([3, 5, 8], 100)


def test_a_range_after_a_gap_is_no_use() -> None:
    one = backlog(3, end=10)
    one.extend(11, [(12, ["s"])], 20, 10)
    assert (held(one), one.known) == ([3], 10)


def test_an_overlapping_range_gives_what_is_new() -> None:
    one = backlog(3, end=10)
    one.extend(0, [(3, ["s"]), (7, ["s"]), (12, ["s"])], 20, 10)
    assert (held(one), one.known) == ([3, 12], 20)


def test_what_is_acknowledged_is_not_held() -> None:
    one = Backlog(5, {8, 12})
    one.extend(0, [(3, ["s"]), (8, ["s"]), (10, ["s"]), (12, ["s"])], 20, 10)
    assert (held(one), one.through, one.beyond()) == ([10], 10, {12})


def test_acknowledgements_say_what_they_changed() -> None:
    one = backlog(3, 5, 8, end=10)
    assert one.acknowledge([5, 12], beyond_max=9) == (True, 1)  # 12 is not known: on trust
    assert one.beyond() == {5, 12}
    assert one.acknowledge([5, 12, 1], beyond_max=9) == (False, 0)
    assert one.remove_before(8) == 1
    assert (one.through, one.beyond()) == (8, {12})


def test_what_is_known_not_to_be_there_is_refused() -> None:
    one = backlog(3, 8)
    with pytest.raises(AcknowledgementError, match="not in the queue"):
        one.acknowledge([3, 5], beyond_max=9)
    assert held(one) == [3, 8]


def test_releasing_one_leaves_others_alone() -> None:
    one, other = backlog(3, 8), backlog(4)
    one.release()
    assert (len(one.held), one.known, one.through) == (0, 3, 3)
    assert held(other) == [4]
    assert not held(backlog())
