"""The kernel that takes candidates through their programs.

Its obvious twin is `ProgramRun` without numba, which takes all candidates on test by test.
"""

import numpy as np

from wherecast.language.meaning.index_plan import FAILS, MATCHES
from wherecast.matching.columnar.kernels.cell_kernels import lower_bound
from wherecast.matching.columnar.kernels.simd import load_i32, load_i64, load_u8
from wherecast.matching.columnar.layout import Exact, ProgramPointers
from wherecast.matching.compile_cache.cached_njit import njit

_RANGE, _SET, _NOT_SET, _MISSING, _LATER = (
    int(kind) for kind in (Exact.RANGE, Exact.SET, Exact.NOT_SET, Exact.MISSING, Exact.LATER)
)
_SLOTS, _KINDS, _LOWS, _HIGHS, _SETS, _JUMPS, _KEYS, _THERE = (
    int(pointer) for pointer in ProgramPointers
)
_MATCHES, _FAILS = MATCHES, FAILS
_STOPPED = 2


@njit(inline="always")
def _test(at, row, cell):
    """Whether the test of a row holds for the values at a place of a publication's row."""
    kind = load_u8(load_i64(at, _KINDS), row)
    present = load_u8(load_i64(at, _THERE), cell) != 0
    if kind == _MISSING:
        return not present
    if not present:
        return False
    low, high = load_i64(load_i64(at, _LOWS), row), load_i64(load_i64(at, _HIGHS), row)
    key = load_i64(load_i64(at, _KEYS), cell)
    if kind == _RANGE:
        return key >= low and key <= high
    if kind in (_SET, _NOT_SET):
        sets = load_i64(at, _SETS)
        found = lower_bound(sets, low, high, key)
        inside = found < high and load_i64(sets, found) == key
        return inside == (kind == _SET)
    return True


@njit(cache=True, nogil=True)
def advance(pointers, width, waiting, publications, starts, rows, given, outcome):
    """Takes candidates on until each is decided or stops at a test that keys do not decide.

    Shapes: pointers int64, the addresses of the arrays that the fields of `ProgramPointers` name,
    which the caller keeps alive; width, the slots of a publication's row; waiting int64, the
    candidates that go on; publications, starts, rows int64 [candidates], rows being where each
    one is; given uint8 [candidates], the verdict of the test there, 2 where it is not known;
    outcome uint8 [candidates], 1 where it holds, 0 where not, 2 where it stopped.
    Cost: the tests on the way.
    """
    at = pointers.ctypes.data
    for number in waiting:
        row, start = rows[number], starts[number]
        base = publications[number] * width
        verdict = given[number]
        while True:
            if verdict == _STOPPED:
                if load_u8(load_i64(at, _KINDS), row) == _LATER:
                    rows[number] = row
                    outcome[number] = _STOPPED
                    break
                slot = np.int64(load_i32(load_i64(at, _SLOTS), row))
                holds = _test(at, row, base + slot)
            else:
                holds = verdict == 1
                verdict = np.uint8(_STOPPED)
            jump = np.int64(load_i32(load_i64(at, _JUMPS), row)) & 0xFFFFFFFF
            target = jump >> 16 if holds else jump & 0xFFFF
            if target >= _MATCHES:
                outcome[number] = np.uint8(target == _MATCHES)
                break
            row = start + target
