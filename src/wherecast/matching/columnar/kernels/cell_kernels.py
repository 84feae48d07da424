"""The kernel that turns the values of a batch into cells."""

import numpy as np

from wherecast.matching.columnar.kernels.simd import (
    count_bits,
    first_bit,
    load_f64,
    load_i32,
    load_i64,
    load_u8,
    load_u64,
    store_u16,
)
from wherecast.matching.columnar.layout import CellPointers
from wherecast.matching.compile_cache.cached_njit import njit

(
    _VALUES, _BITS, _FIRSTS, _FLOATS, _EXACT, _BOUNDS, _BOUND_ENDS, _TABLES, _TABLE_ENDS, _ORIGINS,
    _SCALES,
) = (int(pointer) for pointer in CellPointers)  # fmt: skip
_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_INT_MIN = -(2**63)
_NAN_KEY = 0x7FF8_0000_0000_0000
_STEPS = 4


@njit(inline="always")
def key_at(values, is_float, place):
    """The key of a value that is there."""
    key = load_i64(values, place)
    if is_float:
        value = load_f64(values, place)
        if value != value:
            return np.int64(_NAN_KEY)
        if key < 0:
            return np.int64(_INT_MIN) - key
    return key


@njit(inline="always")
def lower_bound(keys, start, end, key):
    """The place of the first key that is not smaller."""
    while start < end:
        middle = (start + end) >> 1
        if load_i64(keys, middle) < key:
            start = middle + 1
        else:
            end = middle
    return start


@njit(inline="always")
def _cell(values, is_float, place, bounds, count, table, last, origin, scale, doubled):
    """The cell of a value that is there: a table look-up, then a few compares of keys."""
    key = key_at(values, is_float, place)
    value = load_f64(values, place) if is_float else np.float64(key)
    spot = (value * 0.5 - origin) * scale
    spot = min(max(spot, 0.0), last)  # NaN goes to 0, and is found by bisection
    low = np.int64(load_i32(table, np.int64(spot)))
    high = np.int64(load_i32(table, np.int64(spot) + 1))
    if value != value:
        low, high = count, count
    if high - low <= _STEPS:
        for _ in range(_STEPS):  # the bounds end in as many that no key exceeds
            low += 1 if load_i64(bounds, low) < key else 0
    else:
        low = lower_bound(bounds, low, high, key)
    equal = 1 if low < count and load_i64(bounds, low) == key else 0
    return np.uint16(1 + (low << doubled) + equal)


@njit(inline="always")
def _word(bits, bit):
    """64 bits from any bit on."""
    word, shift = load_u64(bits + (bit >> 3), 0), np.uint64(bit & 7)
    if shift:
        more = np.uint64(load_u8(bits, (bit >> 3) + 8))
        word = (word >> shift) | (more << (np.uint64(64) - shift))
    return word


@njit(cache=True, nogil=True)
def encode(begin, count, pointers, out, there):
    """Writes the cells of some rows, and for each slot the rows that have a value.

    Shapes: pointers int64, the addresses of the arrays that the fields of `CellPointers` name,
    which the caller keeps alive; out uint16 [count, slots], all 0; there uint64 [slots, words of 64
    rows].
    Cost: some nanoseconds for each value that is there, and for 64 that are not.
    """
    at, result, width = pointers.ctypes.data, out.ctypes.data, out.shape[1]
    for slot in range(width):
        values, bits = load_i64(load_i64(at, _VALUES), slot), load_i64(load_i64(at, _BITS), slot)
        first = load_i64(load_i64(at, _FIRSTS), slot) + begin
        floats, doubled = load_u8(load_i64(at, _FLOATS), slot), load_u8(load_i64(at, _EXACT), slot)
        start = load_i64(load_i64(at, _BOUND_ENDS), slot)
        size = load_i64(load_i64(at, _BOUND_ENDS), slot + 1) - start - _STEPS
        bounds = load_i64(at, _BOUNDS) + 8 * start
        start = load_i64(load_i64(at, _TABLE_ENDS), slot)
        last = np.float64(load_i64(load_i64(at, _TABLE_ENDS), slot + 1) - start - 2)
        table = load_i64(at, _TABLES) + 4 * start
        origin, scale = (
            load_f64(load_i64(at, _ORIGINS), slot),
            load_f64(load_i64(at, _SCALES), slot),
        )
        for word in range((count + 63) >> 6):
            row = word << 6
            left = _ALL if count - row >= 64 else (_ONE << np.uint64(count - row)) - _ONE
            if bits != 0:
                left &= _word(bits, first + row)
            there[slot, word] = left
            whole = left == _ALL
            for step in range(64 if whole else count_bits(left)):
                place = row + (step if whole else first_bit(left))
                left &= left - _ONE
                cell = _cell(
                    values, floats, begin + place, bounds, size, table, last, origin, scale, doubled
                )
                store_u16(result, place * width + slot, cell)
