import pytest

from wherecast.language.text.parser import parse
from wherecast.language.text.steps import Interval
from wherecast.model import FilterError, Limits

LIMITS = Limits()
HOUR, DAY = 3_600_000_000, 86_400_000_000


# each row was compared with the parser of Spark 4.3
@pytest.mark.parametrize(
    ("text", "months", "micros"),
    [
        ("INTERVAL 1 HOUR", 0, HOUR),
        ("INTERVAL '1' HOUR", 0, HOUR),
        ("INTERVAL ' 1 ' DAY", 0, DAY),
        ("INTERVAL -1 DAY", 0, -DAY),
        ("INTERVAL -'1' DAY", 0, -DAY),
        ("INTERVAL 1 WEEK", 0, 7 * DAY),
        ("INTERVAL 1 /* day */ DAY 2 HOURS", 0, DAY + 2 * HOUR),
        ("INTERVAL '1' YEAR '2' MONTH", 14, 0),
        ("INTERVAL 1.5 SECONDS", 0, 1_500_000),
        ("INTERVAL 1 MILLISECOND", 0, 1_000),
        ("INTERVAL '1 hour 30 minutes'", 0, 3 * HOUR // 2),
        ("INTERVAL 'interval 1 day'", 0, DAY),
        ("INTERVAL '1 day -2 hours'", 0, DAY - 2 * HOUR),
        ("INTERVAL '1-2' YEAR TO MONTH", 14, 0),
        ("INTERVAL '-1-2' YEAR TO MONTH", -14, 0),
        ("INTERVAL '1 02:03:04.5' DAY TO SECOND", 0, 93_784_500_000),
        ("INTERVAL '-1 02:03:04' DAY TO SECOND", 0, -93_784_000_000),
        ("INTERVAL '1 2:3:4.1234567' DAY TO SECOND", 0, 93_784_123_456),
        ("INTERVAL '25:30' HOUR TO MINUTE", 0, 51 * HOUR // 2),
        ("INTERVAL '30:40.5' MINUTE TO SECOND", 0, 1_840_500_000),
    ],
)
def test_intervals(text: str, months: int, micros: int) -> None:
    [_, step, _] = parse(f"x > {text}", LIMITS)
    assert (step.code, step.argument, step.position) == ("interval", Interval(months, micros), 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("INTERVAL 1 MONTH 2 DAYS", "not both"),
        ("INTERVAL '1 month 2 days'", "not both"),
        ("INTERVAL 1.5 HOURS", "only seconds take a fraction"),
        ("INTERVAL 1 NANOSECOND", "whole microseconds"),
        ("INTERVAL 1 QUARTER", "needs a unit"),
        ("INTERVAL 5", "needs a unit"),
        ("INTERVAL '5'", "is not an interval"),
        ("INTERVAL '1 25' DAY TO HOUR", "is not an interval DAY TO HOUR"),
        ("INTERVAL '1:99' HOUR TO MINUTE", "is not an interval HOUR TO MINUTE"),
        ("INTERVAL '1-13' YEAR TO MONTH", "is not years-months"),
        ("INTERVAL '1' MONTH TO DAY", "there is no interval month to day"),
        ("INTERVAL '1 day' DAY", "is not a number of days"),
        ("INTERVAL 1e3 SECOND", "is not a number of seconds"),
        ("INTERVAL '100000000000' DAY", "out of range"),
    ],
)
def test_bad_intervals(text: str, message: str) -> None:
    with pytest.raises(FilterError, match=message) as caught:
        parse(f"x > {text}", LIMITS)
    assert caught.value.position == text.index(" ") + 5


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("DATE", "date"),
        ("timestamp", "time"),
        ("TIMESTAMP_LTZ", "time"),
        ("TIMESTAMP_NTZ", "local"),
    ],
)
def test_times(word: str, kind: str) -> None:
    [_, step, _] = parse(f"x > {word}'2026-05-01'", LIMITS)
    literal = step.argument
    assert (literal.kind, literal.text, literal.position) == (kind, "2026-05-01", 4 + len(word))
