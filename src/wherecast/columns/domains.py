"""Declared domains and steps, applied to whole columns with the result of the scalar rule.

Vector arithmetic checks a column. It may suspect a good value, but it never passes a bad value
and never rounds a value to the wrong step. The scalar rule of the model then decides about the
suspects, which are few in practice, one by one.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from wherecast.arrays.vectors import array_of, filled, values_of
from wherecast.columns.arrow_schema import ARROW_TYPES
from wherecast.columns.decoded import DecodedColumn, RowProblem
from wherecast.model.decimals import decimal_of
from wherecast.model.schema import Attribute
from wherecast.model.values import (
    INT_MAX,
    INT_MIN,
    Value,
    ValueProblem,
    canonical,
    describe,
    problem_of,
)

_EXACT = 2.0**53  # whole numbers up to here are exact as doubles
_SAFE_INT = 2**60  # sums of a few of these stay inside 64 bits
_ROUNDING = 2.0**-50  # more than the rounding of the four operations that find a step


def canonical_value(attribute: Attribute, value: object) -> Value:
    """The canonical value, if it also fits into the attribute's column.

    Raises:
        ValueProblem: the attribute cannot take the value.
    """
    try:
        result = canonical(attribute, value)
    except OverflowError:  # the nearest step of a number near the largest double
        raise ValueProblem("out_of_range", f"the step nearest to {value} is too large") from None
    except ValueProblem:
        raise
    except (TypeError, ValueError):  # objects that claim to be numbers but cannot be converted
        raise _no_value(attribute, value) from None
    if attribute.type in ("int", "timestamp"):
        if not isinstance(result, int):  # pandas' NaT is an instance of datetime
            raise _no_value(attribute, value)
        if not INT_MIN <= result <= INT_MAX:
            raise ValueProblem("out_of_range", f"the step nearest to {value} exceeds 64 bits")
    return result


def _no_value(attribute: Attribute, value: object) -> ValueProblem:
    return ValueProblem(
        "wrong_type", f"needs a value of type {attribute.kind}, not {describe(value)}"
    )


def canonical_values(
    attribute: Attribute, values: Iterable[tuple[int, object]]
) -> tuple[dict[int, Value], list[RowProblem]]:
    """The canonical values by row, and the problems of the values that cannot be converted."""
    good: dict[int, Value] = {}
    problems: list[RowProblem] = []
    for row, value in values:
        try:
            good[row] = canonical_value(attribute, value)
        except ValueProblem as problem:
            problems.append((row, problem_of(attribute.name, problem)))
    return good, problems


def check_domain(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """The column with its values on their steps, and the problems of values out of the domain."""
    if not attribute.has_domain:
        return DecodedColumn(array)
    if attribute.values is not None:
        return _check_listed(attribute, array)
    values = filled(array, 0)
    suspect = np.zeros(len(values), dtype=np.bool_)
    if values.dtype == np.float64:
        suspect |= ~np.isfinite(values)
    if attribute.min is not None:
        suspect |= values < attribute.min
    if attribute.max is not None:
        suspect |= values > attribute.max
    if attribute.grid is not None:
        values, unsure = _on_steps(attribute, values)
        suspect |= unsure
    if array.null_count:
        suspect &= values_of(array.is_valid())
    return _decide_suspects(attribute, array, values, suspect)


def _check_listed(attribute: Attribute, array: pa.Array) -> DecodedColumn:
    """The column of an attribute that lists its values, and the problems of other values."""
    known = pc.is_in(array, value_set=pa.array(attribute.values, array.type))
    wrong = values_of(pc.and_not(array.is_valid(), known))
    rows = np.flatnonzero(wrong).tolist()
    _, problems = canonical_values(attribute, ((row, array[row].as_py()) for row in rows))
    if not problems:
        return DecodedColumn(array)
    return DecodedColumn(
        pc.if_else(pa.array(wrong), pa.scalar(None, array.type), array), tuple(problems)
    )


def _decide_suspects(
    attribute: Attribute,
    array: pa.Array,
    values: npt.NDArray[Any],
    suspect: npt.NDArray[np.bool_],
) -> DecodedColumn:
    """The column of `values`, in which the scalar rule decides about the suspects of `array`."""
    rows = np.flatnonzero(suspect).tolist()
    good, problems = canonical_values(
        attribute, ((row, _scalar_input(attribute, array[row])) for row in rows)
    )
    if attribute.grid is None and not problems:
        return DecodedColumn(array)
    values = values.copy()
    values[list(good)] = list(good.values())
    missing = np.zeros(len(array), dtype=np.bool_)
    if array.null_count:
        missing |= values_of(array.is_null())
    missing[[row for row, _ in problems]] = True
    return DecodedColumn(masked_array(attribute, values, missing), tuple(problems))


def _scalar_input(attribute: Attribute, held: pa.Scalar) -> object:
    """The value to pass to the scalar rule: a decimal in place of its units."""
    value = held.as_py()
    return decimal_of(value, attribute.scale) if attribute.scale else value


def masked_array(
    attribute: Attribute, values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]
) -> pa.Array:
    """The Arrow column of an attribute, null where `missing`; NaN stays a value.

    Shapes:
        values: (n,), of the attribute's type; int64 microseconds for timestamps.
        missing: (n,), bool.
    """
    plain = not missing.any()
    array = array_of(values) if plain else pa.array(values, mask=missing, from_pandas=False)
    return array.cast(ARROW_TYPES[attribute.type])


def _on_steps(
    attribute: Attribute, values: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The values moved to their nearest steps, and whether each result is unsure."""
    grid = attribute.grid
    assert grid is not None
    if attribute.type == "int":
        return _int_steps(values.astype(np.int64), grid.origin, grid.step)
    return _float_steps(values.astype(np.float64), grid.origin, grid.step)


def _int_steps(
    values: npt.NDArray[np.int64], origin: Fraction, step: Fraction
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The nearest steps of ints; unsure where 64 bits might overflow."""
    start, width = int(origin), int(step)
    if start != origin or width != step or abs(start) > _SAFE_INT or width > _SAFE_INT:
        return values, np.ones(len(values), dtype=np.bool_)
    unsure = (values > _SAFE_INT) | (values < -_SAFE_INT)
    small = np.where(unsure, 0, values)
    index = (2 * (small - start) + width) // (2 * width)
    return start + index * width, unsure


def _float_steps(
    values: npt.NDArray[np.float64], origin: Fraction, step: Fraction
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """The nearest steps of doubles; unsure near a tie, and where dividend or divisor is inexact.

    The index of a step is the floor of a quotient with a bounded error. A quotient that is further
    from a whole number than this error gives the exact index. In the value
    `(start + index * width) / scale` dividend and divisor are exact, so the division gives the
    double nearest to the exact value.
    """
    scale = lcm(origin.denominator, step.denominator)
    start, width = int(origin * scale), int(step * scale)
    if max(scale, abs(start), width) > _EXACT:
        return values, np.ones(len(values), dtype=np.bool_)
    low, high = float(origin), float(step)
    with np.errstate(all="ignore"):  # NaN and infinities are suspect already
        quotient = (values - low) / high + 0.5
        error = ((np.abs(values) + abs(low)) / high + np.abs(quotient) + 1) * _ROUNDING
        unsure = ~(np.abs(quotient - np.rint(quotient)) > error)
        dividend = start + np.floor(quotient) * width
        unsure |= ~(np.abs(dividend) + abs(start) < _EXACT)
        return dividend / scale, unsure
