"""Durations as people write them: `500ms`, `30s`, `15m`, `1h`, `7d`."""

import re
from datetime import timedelta

from wherecast.model.errors import ConfigError

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d{1,15})\s*(ms|s|m|h|d)", re.ASCII)


def parse_duration(duration: str | timedelta, may_be_zero: bool = False) -> timedelta:
    """The duration that a text such as `15m` names; a timedelta is returned as it is.

    Args:
        duration: the text, or the duration itself.
        may_be_zero: whether a duration of zero is accepted, such as `0s`.

    Raises:
        ConfigError: it is not a duration, or not above zero.
    """
    if isinstance(duration, timedelta):
        result = duration
    else:
        found = _DURATION.fullmatch(str(duration).strip())
        if found is None:
            raise ConfigError(f"{duration!r} is not a duration such as 500ms, 30s, 15m, 1h or 7d")
        try:
            result = timedelta(milliseconds=int(found[1]) * _UNITS[found[2]])
        except OverflowError:
            raise ConfigError(f"{duration!r} is too long") from None
    if result < timedelta(0) or (result == timedelta(0) and not may_be_zero):
        least = "a duration of zero or more" if may_be_zero else "a duration above zero"
        raise ConfigError(f"{duration!r} is not {least}")
    return result


def format_duration(duration: timedelta) -> str:
    """The shortest text that `parse_duration` reads back, up to the next whole millisecond."""
    millis = -(-duration // timedelta(milliseconds=1))
    unit = next(unit for unit in ("d", "h", "m", "s", "ms") if millis % _UNITS[unit] == 0)
    return f"{millis // _UNITS[unit]}{unit}"
