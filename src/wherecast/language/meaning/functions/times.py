"""Functions of times, all in UTC: microseconds since 1970 in, fields and other times out."""

from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from wherecast.language.meaning.functions.signature import Function, Signature, Types
from wherecast.language.meaning.row_errors import OVERFLOW
from wherecast.language.meaning.value_types import (
    INT,
    INTERVAL,
    STRING,
    TIMESTAMP,
    TypeProblem,
    ValueType,
)
from wherecast.language.text.steps import Interval
from wherecast.model.times import DAY_MICROS, EPOCH, time_micros

_MICROSECOND = timedelta(microseconds=1)
UNITS: dict[str, str] = {
    **dict.fromkeys(("year", "yyyy", "yy"), "year"),
    "quarter": "quarter",
    **dict.fromkeys(("month", "mon", "mm"), "month"),
    "week": "week",
    **dict.fromkeys(("day", "dd"), "day"),
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "millisecond": "millisecond",
    "microsecond": "microsecond",
}
"""The units of date_trunc by the words that name them."""
UNIT_MICROS = {
    "day": DAY_MICROS,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
"""The units of date_trunc that are all of the same length, in microseconds."""


def moment_of(micros: int) -> datetime | None:
    """The moment of a time, or None outside the years 1 to 9999."""
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return None


def _time(types: Types) -> Signature:
    [one] = types
    if not one.is_time and one.kind != "null":
        raise TypeProblem(f"a time is needed, not {one}")
    return Signature((one,), INT)


def _field(read: Callable[[datetime], int]) -> Function:
    """A function that reads one field of a time."""

    def apply(type_: ValueType, micros: int) -> int | None:
        moment = moment_of(micros)
        return None if moment is None else read(moment)

    return Function(1, 1, _time, apply, error=OVERFLOW)


def _truncation(types: Types) -> Signature:
    unit, one = types
    if unit.kind not in ("string", "null"):
        raise TypeProblem(f"date_trunc needs a unit such as 'hour', not {unit}")
    _time([one])
    return Signature((STRING, TIMESTAMP), TIMESTAMP)


def _truncate(type_: ValueType, unit: str, micros: int) -> int | None:
    name = UNITS.get(unit.lower())
    if name in UNIT_MICROS:
        return micros - micros % UNIT_MICROS[name]
    moment = moment_of(micros)
    if moment is None or name is None:
        return None
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if name == "week":
        return time_micros(day - timedelta(days=day.weekday())) if day.toordinal() > 7 else None
    month = {"year": 1, "quarter": (day.month - 1) // 3 * 3 + 1}.get(name, day.month)
    return time_micros(day.replace(month=month, day=1))


def _shift(sign: int) -> Function:
    """`time + interval` and `time - interval`."""

    def resolve(types: Types) -> Signature:
        left, right = types
        if not left.is_time or right.kind not in ("interval", "null"):
            raise TypeProblem(f"an interval cannot be added to {left}")
        return Signature((left, INTERVAL), left)

    def apply(type_: ValueType, micros: int, interval: Interval) -> int | None:
        shifted: int | None = micros
        if interval.months:
            shifted = add_months(micros, sign * interval.months)
        if shifted is None:
            return None
        moved = shifted + sign * interval.micros
        return moved if moment_of(moved) is not None else None

    return Function(2, 2, resolve, apply, error=OVERFLOW)


def add_months(micros: int, months: int) -> int | None:
    """A time so many months later, on the last day of a month that is too short."""
    moment = moment_of(micros)
    if moment is None:
        return None
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return None
    day = min(moment.day, monthrange(year, month + 1)[1])
    return time_micros(moment.replace(year=year, month=month + 1, day=day, tzinfo=UTC))


def _elapsed(types: Types) -> Signature:
    left, right = types
    if not (left.is_time and right.is_time):
        raise TypeProblem(f"{right} cannot be subtracted from {left}")
    return Signature((left, right), INT)


TIMES: dict[str, Function] = {
    "hour": _field(lambda moment: moment.hour),
    "minute": _field(lambda moment: moment.minute),
    "second": _field(lambda moment: moment.second),
    "day": _field(lambda moment: moment.day),
    "dayofweek": _field(lambda moment: moment.isoweekday() % 7 + 1),
    "dayofyear": _field(lambda moment: moment.timetuple().tm_yday),
    "weekday": _field(lambda moment: moment.weekday()),
    "month": _field(lambda moment: moment.month),
    "quarter": _field(lambda moment: (moment.month + 2) // 3),
    "year": _field(lambda moment: moment.year),
    "date_trunc": Function(2, 2, _truncation, _truncate),
    "later": _shift(1),
    "earlier": _shift(-1),
    "elapsed": Function(2, 2, _elapsed, lambda _, left, right: left - right),
}
"""`later`, `earlier` and `elapsed` are `time ± interval` and the microseconds between times."""
