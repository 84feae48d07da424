"""Decimals as columns: doubles as whole units of 10**-scale and back, and the order of units."""

import numpy as np
import numpy.typing as npt

from wherecast.model.decimals import EXACT_UNITS_MAX

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_EXACT = 2**53  # whole numbers up to here are exact as doubles


def units_of(values: Floats, scale: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The units of doubles, and whether each is certainly the decimal that the double prints as.

    A whole number below 10**15, divided by a power of ten that is exact as a double, gives the
    double nearest to the decimal, and a decimal of at most 15 digits is the shortest form of its
    double. Where this does not decide, the second array is False and the units are 0.

    Shapes: float64 [n] to int64 [n] and bool [n].
    """
    power = 10.0**scale
    with np.errstate(all="ignore"):  # NaN and infinities come out as not sure
        units = np.rint(values * power)
        sure = (np.abs(units) < EXACT_UNITS_MAX) & (units / power == values)
    return np.where(sure, units, 0.0).astype(np.int64), sure


def doubles_of(units: Ints, scale: int) -> Floats:
    """The doubles nearest to decimals.

    Shapes: int64 [n] to float64 [n].
    """
    values: Floats = units / 10.0**scale
    for place in np.flatnonzero((units > _EXACT) | (units < -_EXACT)).tolist():
        values[place] = int(units[place]) / 10**scale  # Python's division of ints rounds once
    return values


def compare_units(left: Ints, right: Ints, places: int) -> Ints:
    """-1, 0 or 1 for each pair: left times 10**places against right, without overflow.

    Shapes: int64 [n] each; `places` is not negative.
    """
    whole, rest = np.divmod(right, 10**places)
    return np.where(left < whole, -1, np.where(left > whole, 1, -np.sign(rest)))
