"""Lengths of time as Spark 4 reads them: `1 HOUR`, `'1 hour 30 minutes'`, `'1-2' YEAR TO MONTH`."""

import re

from wherecast.language.text.steps import Interval
from wherecast.model import FilterError

_SECOND = 1_000_000
_MICROS = {
    "week": 7 * 86_400 * _SECOND,
    "day": 86_400 * _SECOND,
    "hour": 3_600 * _SECOND,
    "minute": 60 * _SECOND,
    "second": _SECOND,
    "millisecond": 1_000,
    "microsecond": 1,
}
_MONTHS = {"year": 12, "month": 1}
UNITS = frozenset(
    name + ending for name in ("nanosecond", *_MICROS, *_MONTHS) for ending in ("", "s")
)
_MICROS_MAX, _MONTHS_MAX = 2**63 - 1, 2**31 - 1
_AMOUNT = re.compile(r"\s*+([+-]?)\s*+([0-9]{0,18})(\.[0-9]{0,9})?\s*+\Z")
_PAIR = re.compile(r"([+-]?\s*+[0-9.]++)\s*+([a-zA-Z]++)(?:\s++|\Z)")
_YEAR_MONTH = re.compile(r"([+-]?)([0-9]{1,9})-([0-9]{1,2})\Z")
_DIGITS = r"([0-9]{1,2})"
_SECONDS = r"([0-9]{1,2}(?:\.[0-9]{1,9})?)"
_RANGES = {
    ("day", "hour"): rf"([0-9]{{1,18}})\s++{_DIGITS}",
    ("day", "minute"): rf"([0-9]{{1,18}})\s++{_DIGITS}:{_DIGITS}",
    ("day", "second"): rf"([0-9]{{1,18}})\s++{_DIGITS}:{_DIGITS}:{_SECONDS}",
    ("hour", "minute"): rf"([0-9]{{1,18}}):{_DIGITS}",
    ("hour", "second"): rf"([0-9]{{1,18}}):{_DIGITS}:{_SECONDS}",
    ("minute", "second"): rf"([0-9]{{1,18}}):{_SECONDS}",
}
_CLOCK = ("day", "hour", "minute", "second")
_BELOW = {"hour": 24, "minute": 60, "second": 60}
_HINT = "write, for instance, INTERVAL 90 MINUTES, or INTERVAL '1 day 6 hours'"


def sum_of(pairs: list[tuple[str, str]], place: int) -> Interval:
    """The interval that amounts with their units add up to.

    Raises:
        FilterError: an amount is no number, or years and months stand beside days and times.
    """
    months = micros = 0
    kinds = set()
    for amount, unit in pairs:
        name = unit.lower().removesuffix("s")
        match = _AMOUNT.match(amount)
        if match is None or not (match[2] or match[3]):
            raise FilterError(f"{_shown(amount)} is not a number of {name}s", place, _HINT)
        if name != "second" and match[3]:
            raise FilterError("only seconds take a fraction", place, _HINT)
        if name == "nanosecond":
            raise FilterError("an interval counts whole microseconds", place, _HINT)
        kinds.add(name in _MONTHS)
        sign = -1 if match[1] == "-" else 1
        if name in _MONTHS:
            months += sign * int(match[2]) * _MONTHS[name]
        else:
            micros += sign * _micros(match[2] + (match[3] or ""), name)
    if len(kinds) > 1:
        message = "an interval has years and months, or weeks, days and times, not both"
        raise FilterError(message, place)
    return _checked(months, micros, place)


def text_interval(text: str, place: int) -> Interval:
    """The interval of a text such as `1 hour 30 minutes`.

    Raises:
        FilterError: the text is not a list of amounts and units.
    """
    rest = text.strip()
    if rest[:9].lower() == "interval " and rest[9:]:
        rest = rest[9:].lstrip()
    pairs: list[tuple[str, str]] = []
    at = 0
    while at < len(rest):
        match = _PAIR.match(rest, at)
        if match is None or match[2].lower() not in UNITS:
            break
        pairs.append((match[1], match[2]))
        at = match.end()
    if at < len(rest) or not pairs:
        raise FilterError(f"'{_shown(text)}' is not an interval", place, _HINT)
    return sum_of(pairs, place)


def range_interval(text: str, units: tuple[str, str], place: int) -> Interval:
    """The interval of a text such as `1 02:03:04.5` from one unit TO another.

    Raises:
        FilterError: there is no such range, or the text has another form.
    """
    units = (units[0].lower().removesuffix("s"), units[1].lower().removesuffix("s"))
    text = text.strip()
    if units == ("year", "month"):
        match = _YEAR_MONTH.match(text)
        if match is None or int(match[3]) >= 12:
            raise FilterError(f"'{_shown(text)}' is not years-months, as '1-2'", place)
        sign = -1 if match[1] == "-" else 1
        return _checked(sign * (int(match[2]) * 12 + int(match[3])), 0, place)
    form = _RANGES.get(units)
    if form is None:
        raise FilterError(f"there is no interval {units[0]} to {units[1]}", place, _HINT)
    match = re.match(rf"([+-]?){form}\Z", text)
    first = _CLOCK.index(units[0])
    names = _CLOCK[first : _CLOCK.index(units[1]) + 1]
    amounts = dict(zip(names, match.groups()[1:], strict=True)) if match else {}
    late = any(float(amounts[name]) >= _BELOW[name] for name in names[1:] if name in amounts)
    if match is None or late:
        shown = f"{units[0]} to {units[1]}".upper()
        raise FilterError(f"'{_shown(text)}' is not an interval {shown}", place, _HINT)
    micros = sum(_micros(amount, name) for name, amount in amounts.items())
    return _checked(0, -micros if match[1] == "-" else micros, place)


def _shown(text: str) -> str:
    """A part of the text as an error shows it: short, and in one line."""
    return "".join(character if character.isprintable() else " " for character in text[:40])


def _micros(amount: str, unit: str) -> int:
    """The microseconds of a number of a unit; only seconds have a fraction, which is cut."""
    whole, _, fraction = amount.partition(".")
    return int(whole or "0") * _MICROS[unit] + int((fraction + "000000")[:6])


def _checked(months: int, micros: int, place: int) -> Interval:
    if abs(months) > _MONTHS_MAX or abs(micros) > _MICROS_MAX:
        raise FilterError("the interval is out of range", place)
    return Interval(months, micros)
