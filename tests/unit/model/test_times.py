from datetime import UTC, datetime

import pytest

from wherecast.model.times import format_time, has_offset, parse_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01T12:30:00Z", datetime(2026, 5, 1, 12, 30, tzinfo=UTC)),
        ("2026-05-01 12:30", datetime(2026, 5, 1, 12, 30, tzinfo=UTC)),
        ("2026-05-01", datetime(2026, 5, 1, tzinfo=UTC)),
        (" 2026-05-01T12:30:00+02:00 ", datetime(2026, 5, 1, 10, 30, tzinfo=UTC)),
        ("2026-05-01T12:30:00-0330", datetime(2026, 5, 1, 16, tzinfo=UTC)),
        ("2026-05-01T12:30:00.5", datetime(2026, 5, 1, 12, 30, 0, 500_000, tzinfo=UTC)),
        ("2026-05-01T12:30:00.1234569Z", datetime(2026, 5, 1, 12, 30, 0, 123_456, tzinfo=UTC)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
    ],
)
def test_times(text: str, expected: datetime) -> None:
    assert parse_time(text) == round(expected.timestamp() * 1_000_000)


@pytest.mark.parametrize(
    "text",
    [
        "", "2026", "2026-5-1", "01.05.2026", "2026-05-01T", "2026-05-01T12", "12:30",
        "2026-05-01T12:30:00+25:00", "2026-05-01T12:30:00+18:01", "2026-05-01T12:30:00 CET",
        "2026-02-30", "2025-02-29", "2026-13-01", "2026-00-01", "2026-05-01T24:00:00",
        "2026-05-01T12:60", "2026-05-01T12:30:60", "0000-01-01", "٢٠٢٦-05-01", "+02026-05-01",
    ],
)  # fmt: skip
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|zone"):
        parse_time(text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-05-01T12:30:00Z",
        "1969-12-31T23:59:59.999999Z",
        "0001-01-01T00:00:00Z",
        "9999-12-31T23:59:59.999999-18:00",
        "0001-01-01T00:00:00+18:00",
    ],
)
def test_times_are_written_as_they_are_read(text: str) -> None:
    assert parse_time(format_time(parse_time(text))) == parse_time(text)


def test_a_time_that_no_text_can_say_is_still_shown() -> None:
    assert format_time(2**63 - 1) == "9223372036854775807 µs since 1970"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-01T12:30:00+02:00", True),
        (" 2026-05-01 12:30 -0330", True),
        ("2026-05-01T12:30:00+00:00", False),
        ("2026-05-01T12:30:00Z", False),
        ("2026-05-01T12:30:00", False),
        ("2026-05-01", False),
        ("yesterday", False),
    ],
)
def test_a_zone_other_than_utc(text: str, expected: bool) -> None:
    assert has_offset(text) is expected
