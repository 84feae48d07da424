"""Arrow columns of decimals as whole units of their scale, and units as columns of decimals."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as kinds

from wherecast.arrays.decimal_units import units_of
from wherecast.arrays.vectors import filled, values_of
from wherecast.model.decimals import UNITS_MAX

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def units_of_numbers(array: pa.Array, scale: int) -> tuple[Ints, Bools]:
    """The units of a column of decimals, ints or floats, and whether each is exact.

    Shapes:
        both (len(array),): int64 and bool; undefined in the rows of missing values.
    """
    if kinds.is_floating(array.type):
        return units_of(filled(array.cast(pa.float64()), 0), scale)
    if kinds.is_decimal(array.type):
        words, own = _words(array), array.type.scale
        units = np.ascontiguousarray(words[:, 0])
        fits = (words[:, 1:] == (units >> 63)[:, None]).all(axis=1)
    else:
        units, own, fits = filled(array, 0).astype(np.int64), 0, np.ones(len(array), bool)
        if kinds.is_uint64(array.type):
            fits = units >= 0
    return _rescaled(units, fits, scale - own)


def _words(array: pa.Array) -> Ints:
    """The values of a column of decimals as 64-bit words, the lowest first, [rows, words]."""
    width = array.type.bit_width // 8
    kind = np.int32 if width == 4 else np.int64
    count = max(1, width // 8)
    if not len(array):
        return np.zeros((0, count), np.int64)
    words = np.frombuffer(array.buffers()[1], kind, (array.offset + len(array)) * count)
    return words.reshape(-1, count)[array.offset :].astype(np.int64, copy=False)


def _rescaled(units: Ints, fits: Bools, places: int) -> tuple[Ints, Bools]:
    """The units in a scale of `places` more digits, and whether each conversion is exact."""
    power = 10 ** min(abs(places), 18)
    if places >= 0:
        fits = fits & (units <= UNITS_MAX // power) & (units >= -(UNITS_MAX // power))
        return np.where(fits, units, 0) * power, fits & (places <= 18)
    whole, rest = np.divmod(units, power)
    return whole, fits & (rest == 0) & (places >= -18)


def decimal_column(units: pa.Array, type_: pa.DataType) -> pa.Array:
    """The column of a decimal attribute, from its int64 units."""
    values = filled(units, 0)
    words = np.stack([values, values >> 63], axis=1)
    return pa.Array.from_buffers(type_, len(units), [_present(units), pa.py_buffer(words)])


def units_column(decimals: pa.Array) -> pa.Array:
    """The int64 units of a decimal attribute's column."""
    words = np.ascontiguousarray(_words(decimals)[:, 0])
    buffers = [_present(decimals), pa.py_buffer(words)]
    return pa.Array.from_buffers(pa.int64(), len(decimals), buffers)


def _present(array: pa.Array) -> pa.Buffer | None:
    """The validity bits of an array, without its offset; None if no value is missing."""
    if not array.null_count:
        return None
    return pa.py_buffer(np.packbits(values_of(array.is_valid()), bitorder="little"))
