"""Vectorised forms of the functions of numbers, times and choices.

A kernel takes columns without objects and gives a column, or None where it leaves the work to the
functions on single values. It never fails: what has no value is not valid.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.language.meaning.value_types import ValueType
from wherecast.model.times import DAY_MICROS

Vector = tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]  # values, and which of them are there
Kernel = Callable[..., Vector | None]
_TIME_MIN, _TIME_MAX = -62_135_596_800_000_000, 253_402_300_799_999_999  # years 1 to 9999
_PRODUCT_MAX = 2.0**62
_INT_MIN = np.iinfo(np.int64).min


def _add(type_: ValueType, left: Vector, right: Vector) -> Vector:
    (a, here), (b, there) = left, right
    total, valid = a + b, here & there
    if type_.kind == "int":
        valid = valid & (((a ^ total) & (b ^ total)) >= 0)
    return total, valid


def _subtract(type_: ValueType, left: Vector, right: Vector) -> Vector:
    (a, here), (b, there) = left, right
    total, valid = a - b, here & there
    if type_.kind == "int":
        valid = valid & (((a ^ b) & (a ^ total)) >= 0)
    return total, valid


def _multiply(type_: ValueType, left: Vector, right: Vector) -> Vector | None:
    (a, here), (b, there) = left, right
    valid = here & there
    if type_.kind == "int" and (np.abs(a.astype(np.float64) * b)[valid] > _PRODUCT_MAX).any():
        return None
    return a * b, valid


def _divide(type_: ValueType, left: Vector, right: Vector) -> Vector:
    (a, here), (b, there) = left, right
    return a / b, here & there & (b != 0)


def _remainder(type_: ValueType, left: Vector, right: Vector) -> Vector:
    (a, here), (b, there) = left, right
    valid = here & there & (b != 0)
    if type_.kind == "int":
        b = np.where((b == 0) | (b == -1), 1, b)
    return np.fmod(a, b), valid


def _whole_quotient(type_: ValueType, left: Vector, right: Vector) -> Vector:
    (a, here), (b, there) = left, right
    valid = here & there & (b != 0) & ~((a == _INT_MIN) & (b == -1))
    safe = np.where(valid, b, 1)
    whole = a // safe
    return whole + ((a % safe != 0) & ((a < 0) != (safe < 0))), valid


def _negative(type_: ValueType, given: Vector) -> Vector:
    values, valid = given
    return -values, valid & (values != _INT_MIN) if type_.kind == "int" else valid


def _absolute(type_: ValueType, given: Vector) -> Vector:
    values, valid = given
    return np.abs(values), valid & (values != _INT_MIN) if type_.kind == "int" else valid


def _compare(operator: str) -> Kernel:
    def kernel(type_: ValueType, left: Vector, right: Vector) -> Vector | None:
        (a, here), (b, there) = left, right
        if a.dtype != b.dtype:
            return None
        below, same = a < b, a == b
        if a.dtype == np.float64:
            strange, stranger = np.isnan(a), np.isnan(b)
            below, same = below | (~strange & stranger), same | (strange & stranger)
        found = {"=": same, "<>": ~same, "<": below, "<=": below | same, ">": ~(below | same),
                 ">=": ~below}[operator]  # fmt: skip
        return found, here & there

    return kernel


def _first(type_: ValueType, *given: Vector) -> Vector | None:
    if len({values.dtype for values, _ in given}) > 1:
        return None
    values, valid = given[0]
    for more, there in given[1:]:
        values, valid = np.where(valid, values, more), valid | there
    return values, valid


def _choose(type_: ValueType, *given: Vector) -> Vector | None:
    last = given[-1] if len(given) % 2 else None
    pairs = given[: len(given) - len(given) % 2]
    chosen = [*pairs[1::2], *([last] if last is not None else [])]
    if len({values.dtype for values, _ in chosen}) > 1:
        return None
    model = chosen[0][0]
    values, valid = last if last is not None else (np.zeros_like(model), np.zeros(len(model), bool))
    for (condition, known), (value, there) in reversed(
        list(zip(pairs[::2], pairs[1::2], strict=True))
    ):
        holds = condition.astype(bool) & known
        values, valid = np.where(holds, value, values), np.where(holds, there, valid)
    return values, valid


def _per(length: int, count: int) -> Kernel:
    """A field of a time that comes again after so many units."""

    def kernel(type_: ValueType, given: Vector) -> Vector:
        values, valid = given
        return values // length % count, valid & _possible(values)

    return kernel


def _possible(micros: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (micros >= _TIME_MIN) & (micros <= _TIME_MAX)
    return found


def _day_of_week(type_: ValueType, given: Vector) -> Vector:
    values, valid = given
    return (values // DAY_MICROS + 4) % 7 + 1, valid & _possible(values)


def _weekday(type_: ValueType, given: Vector) -> Vector:
    values, valid = given
    return (values // DAY_MICROS + 3) % 7, valid & _possible(values)


def _months(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Months since January of the year 0."""
    found: npt.NDArray[np.int64] = (
        values.astype("datetime64[us]").astype("datetime64[M]").astype(np.int64) + 1970 * 12
    )
    return found


def _month(type_: ValueType, given: Vector) -> Vector:
    values, valid = given
    return _months(values) % 12 + 1, valid & _possible(values)


def _quarter(type_: ValueType, given: Vector) -> Vector:
    values, valid = given
    return _months(values) % 12 // 3 + 1, valid & _possible(values)


def _year(type_: ValueType, given: Vector) -> Vector:
    values, valid = given
    return _months(values) // 12, valid & _possible(values)


def _elapsed(type_: ValueType, left: Vector, right: Vector) -> Vector:
    (a, here), (b, there) = left, right
    return a - b, here & there


KERNELS: dict[str, Kernel] = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "/": _divide,
    "%": _remainder,
    "div": _whole_quotient,
    "negative": _negative,
    "abs": _absolute,
    **{operator: _compare(operator) for operator in ("=", "<>", "<", "<=", ">", ">=")},
    "coalesce": _first,
    "case": _choose,
    "hour": _per(3_600_000_000, 24),
    "minute": _per(60_000_000, 60),
    "second": _per(1_000_000, 60),
    "dayofweek": _day_of_week,
    "weekday": _weekday,
    "month": _month,
    "quarter": _quarter,
    "year": _year,
    "elapsed": _elapsed,
}
