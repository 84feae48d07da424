"""How long the log of a stream is kept beyond what queues need, as people write it."""

from datetime import timedelta

from wherecast.model import ConfigError, format_duration, parse_duration
from wherecast.model.stream_spec import KEEP_US_MAX

_MICROSECOND = timedelta(microseconds=1)


def read_keep(keep: str | timedelta) -> int:
    """The microseconds of a duration such as `1h`; `0s` is none.

    Raises:
        ConfigError: it is no duration, negative, or longer than a hundred years.
    """
    try:
        keep_us = parse_duration(keep, may_be_zero=True) // _MICROSECOND
    except ConfigError as error:
        raise ConfigError(f"keep: {error}") from None
    if keep_us > KEEP_US_MAX:
        raise ConfigError(f"keep: {keep!r} is longer than 36500d")
    return keep_us


def write_keep(keep_us: int) -> str | None:
    """The duration as text; None where it is none."""
    return format_duration(keep_us * _MICROSECOND) if keep_us else None
