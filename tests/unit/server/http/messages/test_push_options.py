"""What a client may ask for when it connects."""

import pytest

pytest.importorskip("fastapi")

from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.push_options import PushOptions, options_of

IN_FLIGHT_MAX = 100


def test_what_is_asked_for_is_read() -> None:
    assert options_of({}, IN_FLIGHT_MAX) == PushOptions(100)
    given = {"window": "5", "batch": "10", "confirm": "true"}
    assert options_of(given, IN_FLIGHT_MAX) == PushOptions(5, 10, True)


@pytest.mark.parametrize(
    "given",
    [
        {"window": "0"},
        {"window": "101"},
        {"window": "²"},
        {"window": "-1"},
        {"batch": ""},
        {"batch": "9" * 5000},
        {"confirm": "perhaps"},
        {"widnow": "1"},
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        options_of(given, IN_FLIGHT_MAX)
    assert (refused.value.status, refused.value.pointer) == (422, next(iter(given)))
