"""Acknowledgements are read strictly, whole or not at all."""

import pytest

pytest.importorskip("fastapi")

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.model import AcknowledgementError
from wherecast.server.http.door.read_acknowledgement import read_acknowledgement
from wherecast.server.http.messages.error_messages import Refused

ONE, TWO = f"{1:016x}", f"{2:016x}"


def test_both_ways_are_read() -> None:
    assert read_acknowledgement(f'{{"through": "{ONE}"}}') == Acknowledgement(1, ())
    some = read_acknowledgement(f'{{"cursors": ["{ONE}", "{TWO}"]}}'.encode())
    assert some == Acknowledgement(None, (1, 2))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        "5",
        "{",
        '{"through": null}',
        '{"cursors": []}',
        '{"cursors": "x"}',
        f'{{"through": "{ONE}", "cursors": ["{ONE}"]}}',
        f'{{"through": "{ONE}", "through": "{TWO}"}}',
        f'{{"thruogh": "{ONE}"}}',
        '{"through": NaN}',
        '"\\ud800"',
    ],
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        read_acknowledgement(text)


@pytest.mark.parametrize("text", ['{"through": 5}', '{"cursors": ["x"]}', '{"through": "ffff"}'])
def test_what_is_no_cursor_is_told(text: str) -> None:
    with pytest.raises(AcknowledgementError) as refused:
        read_acknowledgement(text)
    assert refused.value.code == "bad_cursor"
