from datetime import timedelta
from typing import Any

import pytest

from wherecast.model import ConfigError, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500ms", timedelta(milliseconds=500)),
        ("30s", timedelta(seconds=30)),
        ("15m", timedelta(minutes=15)),
        ("1h", timedelta(hours=1)),
        ("7d", timedelta(days=7)),
        (" 7 d ", timedelta(days=7)),
        (timedelta(seconds=2), timedelta(seconds=2)),
    ],
)
def test_durations(text: Any, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "5", 5, "5 minutes", "-1s", "0s", "1.5h", "1h30m", "٣s", "9" * 16 + "d", "9" * 15 + "d",
     timedelta(0), timedelta(seconds=-1), None],
)  # fmt: skip
def test_what_is_no_duration(text: Any) -> None:
    with pytest.raises(ConfigError):
        parse_duration(text)


@pytest.mark.parametrize("text", ["1ms", "999ms", "1s", "61s", "90m", "25h", "7d", "1500ms"])
def test_a_duration_is_written_as_it_is_read(text: str) -> None:
    assert format_duration(parse_duration(text)) == text


def test_the_largest_unit_that_fits_is_written() -> None:
    assert format_duration(timedelta(minutes=60)) == "1h"
    assert format_duration(timedelta(hours=48)) == "2d"


def test_less_than_a_millisecond_is_not_lost() -> None:
    assert format_duration(timedelta(microseconds=500)) == "1ms"
    assert format_duration(timedelta(microseconds=1500)) == "2ms"


def test_zero_where_it_is_allowed() -> None:
    for zero in ("0s", "0ms", timedelta(0)):
        assert parse_duration(zero, may_be_zero=True) == timedelta(0)
    with pytest.raises(ConfigError, match="is not a duration of zero or more"):
        parse_duration(timedelta(seconds=-1), may_be_zero=True)
