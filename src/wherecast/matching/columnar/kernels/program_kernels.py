"""The kernel that takes candidates through their programs.

Its obvious twin is `ProgramRun`, which takes all candidates on test by test.
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
    prefetch,
    store_f64,
)
from wherecast.matching.columnar.layout import (
    RECORD_KIND_BITS,
    RECORD_SLOT_BITS,
    Arithmetic,
    ArrayState,
    Exact,
    ProgramPointers,
)
from wherecast.matching.compile_cache.cached_njit import njit

_NO_ARRAY, _ARRAY = int(ArrayState.MISSING), int(ArrayState.THERE)
_RANGE, _SET, _NOT_SET, _MISSING, _LATER, _PATTERN = (
    int(kind)
    for kind in (
        Exact.RANGE, Exact.SET, Exact.NOT_SET, Exact.MISSING, Exact.LATER, Exact.PATTERN,
    )
)  # fmt: skip
(
    _RECORDS, _SETS, _KEYS, _THERE, _STEPS, _STEP_ENDS, _STACK, _CODES, _VERDICTS, _TEXTS_MAX,
    _ELEMENT_STARTS, _ELEMENT_KEYS, _ELEMENT_STATES,
) = (int(pointer) for pointer in ProgramPointers)  # fmt: skip
_FLOAT, _INT, _CONSTANT, _ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _NEGATE = (
    int(step) for step in Arithmetic
)
_MATCHES, _FAILS = MATCHES, FAILS
_STOPPED = 2
_FALSE_SHIFT = RECORD_SLOT_BITS + RECORD_KIND_BITS
_TRUE_SHIFT = _FALSE_SHIFT + 16
_SLOT_MASK, _KIND_MASK = (1 << RECORD_SLOT_BITS) - 1, (1 << RECORD_KIND_BITS) - 1
_SLOT_BITS = RECORD_SLOT_BITS
_RECORD_BYTES = 24
_AHEAD = 8  # candidates, whose first tests are fetched so early
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
def _pattern(at, number, cell):
    """The verdict on a pattern: 0 or 1, or `_STOPPED` where it is not known."""
    if load_u8(load_i64(at, _THERE), cell) == 0:
        return np.uint8(0)
    code = np.int64(load_i32(load_i64(at, _CODES), cell))
    if code < 0:
        return np.uint8(_STOPPED)
    place = number * load_i64(at, _TEXTS_MAX) + code
    verdict = load_u8(load_i64(at, _VERDICTS), place)
    return np.uint8(_STOPPED) if verdict == 0 else np.uint8(verdict - 1)


@njit(inline="always")
def _holds(at, record, kind, present, key):
    """Whether the test of a record holds for a key."""
    if kind == _MISSING:
        return not present
    if not present:
        return False
    low, high = load_i64(record, 0), load_i64(record, 1)
    if kind == _RANGE:
        return key >= low and key <= high
    if kind in (_SET, _NOT_SET):
        sets = load_i64(at, _SETS)
        found = lower_bound(sets, low, high, key)
        inside = found < high and load_i64(sets, found) == key
        return inside == (kind == _SET)
    return True


@njit()
def _elements(at, record, kind, slot, publication):
    """Whether the test of a record holds for the elements of an array.

    Cost: the elements, times the logarithm of the size of the set.
    """
    state = load_u8(load_i64(load_i64(at, _ELEMENT_STATES), slot), publication)
    if state == _NO_ARRAY:
        return False
    starts = load_i64(load_i64(at, _ELEMENT_STARTS), slot)
    keys = load_i64(load_i64(at, _ELEMENT_KEYS), slot)
    asked = _SET if kind == _NOT_SET else kind
    inside, begin, end = False, load_i64(starts, publication), load_i64(starts, publication + 1)
    if kind == _RANGE:
        low, high = load_i64(record, 0), load_i64(record, 1)
        for place in range(begin, end):
            key = load_i64(keys, place)
            inside |= (key >= low) & (key <= high)
    elif kind in (_SET, _NOT_SET):
        for place in range(begin, end):
            inside |= _holds(at, record, asked, True, load_i64(keys, place))
    if kind in (_RANGE, _SET):
        return inside
    return not inside and state == _ARRAY


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
def _verdict(at, record, word, publication, width):
    """The verdict of the test of a record: 0 or 1, or `_STOPPED` where the kernel does not know."""
    kind = (word >> _SLOT_BITS) & _KIND_MASK
    if kind == _LATER:
        return np.uint8(_STOPPED)
    slot, base = word & _SLOT_MASK, publication * width
    if slot < width and load_i64(load_i64(at, _ELEMENT_STARTS), slot):
        return np.uint8(_elements(at, record, kind, slot, publication))
    if kind == _PATTERN:
        return _pattern(at, load_i64(record, 0), base + slot)
    if slot >= width:
        present, key = _computed(at, slot - width, base)
        if not present and key:
            return np.uint8(_STOPPED)
    else:
        present = load_u8(load_i64(at, _THERE), base + slot) != 0
        key = load_i64(load_i64(at, _KEYS), base + slot)
    return np.uint8(_holds(at, record, kind, present, key))


@njit(inline="always")
def _advanced(at, test, publication, width, verdict):
    """Takes a candidate on from a test with a verdict: its outcome, the last test, the tests."""
    records, tests = load_i64(at, _RECORDS), 0
    while True:
        tests += 1
        record = records + test * _RECORD_BYTES
        word = load_i64(record, 2)
        if verdict == _STOPPED:
            verdict = _verdict(at, record, word, publication, width)
            if verdict == _STOPPED:
                return np.uint8(_STOPPED), test, tests
        target = (word >> (_TRUE_SHIFT if verdict == 1 else _FALSE_SHIFT)) & 0xFFFF
        if target >= _MATCHES:
            return np.uint8(target == _MATCHES), test, tests
        test += target
        verdict = np.uint8(_STOPPED)


@njit(cache=True, nogil=True)
def decide(pointers, width, publications, places, starts, outcome, stops):
    """Takes candidates on until each is decided or stops at a test that the kernel cannot decide.

    Shapes: pointers int64, the addresses of the arrays that the fields of `ProgramPointers` name,
    which the caller keeps alive; width, the slots of a publication's row; publications,
    places int32 [candidates]; starts int32, the first test of each place, -1 where there is none;
    outcome uint8 [candidates], 1 where it holds, 0 where not, 2 where it stopped;
    stops int64 [candidates, 2], filled with those that stopped and their tests.
    Returns: the number of tests, and of candidates that stopped.
    Cost: the tests on the way.
    """
    at, tests, stopped = pointers.ctypes.data, 0, 0
    firsts, records = starts.ctypes.data, load_i64(pointers.ctypes.data, _RECORDS)
    count = len(publications)
    for number in range(count):
        ahead = min(number + _AHEAD, count - 1)
        first = np.int64(load_i32(firsts, np.int64(places[ahead])))
        prefetch(records + first * _RECORD_BYTES)
        test = np.int64(load_i32(firsts, np.int64(places[number])))
        if test < 0:
            outcome[number] = 1
            continue
        publication = np.int64(publications[number])
        outcome[number], test, more = _advanced(at, test, publication, width, np.uint8(_STOPPED))
        tests += more
        if outcome[number] == _STOPPED:
            stops[stopped, 0], stops[stopped, 1] = number, test
            stopped += 1
    return tests, stopped


@njit(cache=True, nogil=True)
def resume(pointers, width, publications, given, outcome, stops):
    """Takes candidates that stopped on, with the verdicts of the tests where they stopped.

    Shapes: as `decide`; given uint8 [stopped], the verdicts; stops int64 [stopped, 2], which
    becomes those that stop again.
    Returns: the number of tests, and of candidates that stopped again.
    Cost: the tests on the way.
    """
    at, tests, stopped = pointers.ctypes.data, 0, 0
    for place in range(len(given)):
        number = stops[place, 0]
        publication, test = np.int64(publications[number]), stops[place, 1]
        outcome[number], test, more = _advanced(at, test, publication, width, given[place])
        tests += more
        if outcome[number] == _STOPPED:
            stops[stopped, 0], stops[stopped, 1] = number, test
            stopped += 1
    return tests, stopped
