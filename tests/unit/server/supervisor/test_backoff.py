"""Short lives wait longer and longer; a long one begins anew."""

from wherecast.server.supervisor.backoff import Backoff


def test_it_doubles_up_to_a_limit_and_begins_anew() -> None:
    backoff = Backoff(30.0)
    assert [backoff.after(1.0) for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff.after(61.0) == 0.5
    assert backoff.after(1.0) == 1.0


def test_the_limit_holds_from_the_first_on() -> None:
    backoff = Backoff(0.2)
    assert [backoff.after(lived_s) for lived_s in (1.0, 1.0, 61.0)] == [0.2, 0.2, 0.2]
