"""Times: ISO 8601 texts and datetimes as microseconds since 1970 in UTC, and back."""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"\s?(Z|z|UTC|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)
_MICROSECOND = timedelta(microseconds=1)
DAY_MICROS = 86_400_000_000


def parse_time(text: str) -> int:
    """Microseconds since 1970 of an ISO 8601 time; UTC where it has no zone.

    Digits beyond the microsecond are cut off, as Spark does.

    Raises:
        ValueError: the text is not a time, or names an impossible one.
    """
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not an ISO 8601 time such as 2026-05-01T12:30:00Z")
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    micros = int((fraction or "0").ljust(6, "0")[:6])
    try:
        local = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0),
            micros, UTC,
        )  # fmt: skip
    except ValueError as error:
        raise ValueError(f"{text!r} is not a possible time: {error}") from None
    return (local - EPOCH) // _MICROSECOND - _zone_micros(zone, text)


def current_micros() -> int:
    """The time of a call, for callers that give none; nothing else here reads a clock."""
    return time_micros(datetime.now(UTC))


def has_offset(text: str) -> bool:
    """Whether an ISO 8601 time names a zone other than UTC."""
    found = _TIME.fullmatch(text.strip())
    return found is not None and _zone_micros(found[8], text) != 0


def _zone_micros(zone: str | None, text: str) -> int:
    """The offset of a zone such as +02:00 in microseconds."""
    if zone is None or zone[0] not in "+-":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:]) if len(zone) > 3 else 0
    if hours * 60 + minutes > 18 * 60 or minutes > 59:
        raise ValueError(f"{text!r} has an impossible zone {zone}")
    micros = (hours * 60 + minutes) * 60_000_000
    return -micros if zone[0] == "-" else micros


@lru_cache(1_024)  # publications that were accepted together have one time
def format_time(micros: int) -> str:
    """The ISO 8601 text of a canonical timestamp, in UTC where its year has four digits."""
    for zone, hours in (("Z", 0), ("-18:00", -18), ("+18:00", 18)):
        try:
            local = EPOCH + timedelta(microseconds=micros, hours=hours)
        except OverflowError:
            continue
        return local.replace(tzinfo=None).isoformat() + zone
    return f"{micros} µs since 1970"


def time_micros(moment: datetime) -> int:
    """The canonical timestamp of a datetime; a naive one is UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // _MICROSECOND
