"""The kernel that takes candidates through their programs.

Its obvious twin is `ProgramRun` without numba, which takes all candidates on test by test.
"""

import numpy as np

from wherecast.language.meaning.index_plan import FAILS, MATCHES
from wherecast.language.meaning.keys import NAN_KEY
from wherecast.matching.columnar.kernels.cell_kernels import lower_bound
from wherecast.matching.columnar.kernels.simd import (
    bits_of_f64,
    f64_of_bits,
    load_f64,
    load_i32,
    load_i64,
    load_u8,
    store_f64,
)
from wherecast.matching.columnar.layout import Arithmetic, Exact, ProgramPointers
from wherecast.matching.compile_cache.cached_njit import njit

_RANGE, _SET, _NOT_SET, _MISSING, _LATER, _PATTERN = (
    int(kind)
    for kind in (
        Exact.RANGE, Exact.SET, Exact.NOT_SET, Exact.MISSING, Exact.LATER, Exact.PATTERN,
    )
)  # fmt: skip
(
    _SLOTS, _KINDS, _LOWS, _HIGHS, _SETS, _JUMPS, _KEYS, _THERE, _STEPS, _STEP_ENDS, _STACK,
    _CODES, _VERDICTS, _TEXTS_MAX,
) = (int(pointer) for pointer in ProgramPointers)  # fmt: skip
_FLOAT, _INT, _CONSTANT, _ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE = (
    int(step) for step in Arithmetic
)
_MATCHES, _FAILS = MATCHES, FAILS
_STOPPED = 2
_INT_MIN = -(2**63)
_NAN_KEY = NAN_KEY


@njit(inline="always")
def _float_key(value):
    """The key of a double."""
    if value != value:
        return np.int64(_NAN_KEY)
    bits = bits_of_f64(value)
    return bits if bits >= 0 else np.int64(_INT_MIN) - bits


@njit(inline="always")
def _pattern(at, row, cell):
    """The verdict on a pattern: 0 or 1, or `_STOPPED` where it is not known."""
    if load_u8(load_i64(at, _THERE), cell) == 0:
        return np.uint8(0)
    code = np.int64(load_i32(load_i64(at, _CODES), cell))
    if code < 0:
        return np.uint8(_STOPPED)
    place = load_i64(load_i64(at, _LOWS), row) * load_i64(at, _TEXTS_MAX) + code
    verdict = load_u8(load_i64(at, _VERDICTS), place)
    return np.uint8(_STOPPED) if verdict == 0 else np.uint8(verdict - 1)


@njit(inline="always")
def _holds(at, row, kind, present, key):
    """Whether the test of a row holds for a key."""
    if kind == _MISSING:
        return not present
    if not present:
        return False
    low, high = load_i64(load_i64(at, _LOWS), row), load_i64(load_i64(at, _HIGHS), row)
    if kind == _RANGE:
        return key >= low and key <= high
    if kind in (_SET, _NOT_SET):
        sets = load_i64(at, _SETS)
        found = lower_bound(sets, low, high, key)
        inside = found < high and load_i64(sets, found) == key
        return inside == (kind == _SET)
    return True


@njit()
def _computed(at, derived, base):
    """Whether a formula has a value for a publication, and the key of the value.

    The key is 1 where there is no value for a division by zero, which columns count.
    Cost: the steps of the formula.
    """
    steps, stack = load_i64(at, _STEPS), load_i64(at, _STACK)
    keys, there = load_i64(at, _KEYS), load_i64(at, _THERE)
    ends, height = load_i64(at, _STEP_ENDS), 0
    for step in range(load_i64(ends, derived), load_i64(ends, derived + 1)):
        code, argument = load_i64(steps, 2 * step), load_i64(steps, 2 * step + 1)
        if code <= _INT:
            if load_u8(there, base + argument) == 0:
                return False, np.int64(0)
            key = load_i64(keys, base + argument)
            value = np.float64(key)
            if code == _FLOAT:
                value = f64_of_bits(key if key >= 0 else np.int64(_INT_MIN) - key)
        elif code == _CONSTANT:
            value = f64_of_bits(argument)
        else:
            height -= 1
            value = load_f64(stack, height)
            if code == _NEGATE:
                value = -value
            else:
                height -= 1
                left = load_f64(stack, height)
                if code == _ADD:
                    value = left + value
                elif code == _SUBTRACT:
                    value = left - value
                elif code == _MULTIPLY:
                    value = left * value
                elif value == 0.0:
                    return False, np.int64(1)
                else:
                    value = left / value
        store_f64(stack, height, value)
        height += 1
    return True, _float_key(load_f64(stack, 0))


@njit(inline="always")
def _verdict(at, row, base, width):
    """The verdict of the test of a row: 0 or 1, or `_STOPPED` where the kernel does not know."""
    kind = load_u8(load_i64(at, _KINDS), row)
    if kind == _LATER:
        return np.uint8(_STOPPED)
    slot = np.int64(load_i32(load_i64(at, _SLOTS), row))
    if kind == _PATTERN:
        return _pattern(at, row, base + slot)
    if slot >= width:
        present, key = _computed(at, slot - width, base)
        if not present and key:
            return np.uint8(_STOPPED)
    else:
        present = load_u8(load_i64(at, _THERE), base + slot) != 0
        key = load_i64(load_i64(at, _KEYS), base + slot)
    return np.uint8(_holds(at, row, kind, present, key))


@njit(cache=True, nogil=True)
def advance(pointers, width, waiting, publications, starts, rows, given, outcome):
    """Takes candidates on until each is decided or stops at a test that the kernel cannot decide.

    Shapes: pointers int64, the addresses of the arrays that the fields of `ProgramPointers` name,
    which the caller keeps alive; width, the slots of a publication's row; waiting int64, the
    candidates that go on; publications, starts, rows int64 [candidates], rows being where each
    one is; given uint8 [candidates], the verdict of the test there, 2 where it is not known;
    outcome uint8 [candidates], 1 where it holds, 0 where not, 2 where it stopped.
    Returns: the number of tests.
    Cost: the tests on the way.
    """
    at = pointers.ctypes.data
    tests = 0
    for number in waiting:
        row, start = rows[number], starts[number]
        base = publications[number] * width
        verdict = given[number]
        while True:
            tests += 1
            if verdict == _STOPPED:
                verdict = _verdict(at, row, base, width)
                if verdict == _STOPPED:
                    rows[number] = row
                    outcome[number] = _STOPPED
                    break
            jump = np.int64(load_i32(load_i64(at, _JUMPS), row)) & 0xFFFFFFFF
            target = jump >> 16 if verdict == 1 else jump & 0xFFFF
            if target >= _MATCHES:
                outcome[number] = np.uint8(target == _MATCHES)
                break
            row = start + target
            verdict = np.uint8(_STOPPED)
    return tests
