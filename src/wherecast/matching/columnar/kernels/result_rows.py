"""The kernels that put matches into the rows of the result, each filter once per publication."""

import numpy as np

from wherecast.matching.columnar.kernels.simd import load_i32, load_u8, store_i32, store_u8
from wherecast.matching.compile_cache.cached_njit import njit

_MARK_MAX = 255


@njit(inline="always")
def next_mark(marks, last):
    """The mark of the next publication, which no filter has."""
    if last[0] == _MARK_MAX:
        marks[:] = 0
        last[0] = 0
    last[0] += 1
    return np.uint8(last[0])


@njit(inline="always")
def put_once(number, out, found, marks, mark):
    """Writes a filter, which counts unless it has the mark; returns the new count."""
    store_i32(out, found, number)
    found += load_u8(marks, np.int64(number)) != mark
    store_u8(marks, np.int64(number), mark)
    return found


@njit(cache=True, nogil=True)
def gather(parts, count, stream, first, rows, ends, out):
    """Puts the parts of a chunk into the rows of the result.

    Shapes: parts int32 [count or more, 2]; stream int32; ends int64 [rows of the batch + 1], known
    up to `first`, filled for the `rows` after it; out int32, with room for all of `stream`.
    """
    free = np.zeros(rows + 1, np.int64)
    for part in range(count):
        free[parts[part, 0] + 1] += parts[part, 1]
    free[0] = ends[first]
    for row in range(rows):
        free[row + 1] += free[row]
        ends[first + row + 1] = free[row + 1]
    source, target, at = stream.ctypes.data, out.ctypes.data, 0
    for part in range(count):
        row, size = np.int64(parts[part, 0]), np.int64(parts[part, 1])
        here = free[row]
        for place in range(size):
            store_i32(target, here + place, load_i32(source, at + place))
        free[row] = here + size
        at += size


@njit(cache=True, nogil=True)
def once(first, rows, firsts, ends, out, stamps):
    """Leaves each filter once in the rows of each publication of a chunk, in place.

    Shapes: firsts uint8 [rows], 1 for the first row of a publication; ends int64 [rows of the
    batch + 1], known for the `rows` from `first` on; out int32; stamps, `Stamps`.
    """
    marks, result, source = stamps.marks.ctypes.data, out.ctypes.data, ends[first]
    found, mark = source, np.uint8(0)
    for row in range(first, first + rows):
        end = ends[row + 1]
        if firsts[row - first]:
            mark = next_mark(stamps.marks, stamps.last)
        for place in range(source, end):
            found = put_once(load_i32(result, place), result, found, marks, mark)
        source, ends[row + 1] = end, found


@njit(cache=True, nogil=True)
def add_matches(ends, numbers, publications, filters, stamps, out):
    """Copies the rows of a result, and adds matches in any order; returns where the rows end.

    Each filter is once in a row, as it was in the rows that were given.

    Shapes: ends int64 [rows + 1]; numbers int32; publications int64, filters int32 [matches];
    stamps, `Stamps`; out int32, with room for all.
    Cost: a step for each number and each match.
    """
    rows = len(ends) - 1
    free = np.zeros(rows + 1, np.int64)
    for publication in publications:
        free[publication + 1] += 1
    for row in range(rows):
        free[row + 1] += free[row]
    by_row = np.empty(len(filters), np.int32)
    for match in range(len(filters)):
        by_row[free[publications[match]]] = filters[match]
        free[publications[match]] += 1
    joined, found, begin = np.zeros(rows + 1, np.int64), np.int64(0), np.int64(0)
    marks, source, result = stamps.marks.ctypes.data, numbers.ctypes.data, out.ctypes.data
    for row in range(rows):
        end = free[row]  # of the matches that this row gets
        for place in range(ends[row], ends[row + 1]):
            store_i32(result, found + place - ends[row], load_i32(source, place))
        found += ends[row + 1] - ends[row]
        if end > begin:
            mark = next_mark(stamps.marks, stamps.last)
            for place in range(ends[row], ends[row + 1]):
                store_u8(marks, np.int64(load_i32(source, place)), mark)
            for place in range(begin, end):
                # not by address: an array made here is freed after its last use by name
                found = put_once(by_row[place], result, found, marks, mark)
        begin, joined[row + 1] = end, found
    return joined
