"""The kernels for one publication at a time: one call, whose argument is the address of a state.

The state is an array of the words that `RowWord` names. The kernels keep the interpreter's lock:
they last some microseconds, and waiting for the lock may last milliseconds.
"""

import numpy as np

from wherecast.matching.columnar.kernels.cell_kernels import _STEPS, _cell, key_at
from wherecast.matching.columnar.kernels.matching import _holds, _probe, _usable
from wherecast.matching.columnar.kernels.program_kernels import _advanced
from wherecast.matching.columnar.kernels.result_rows import put_once
from wherecast.matching.columnar.kernels.simd import (
    load_f64,
    load_i32,
    load_i64,
    load_u8,
    load_u16,
    store_i32,
    store_i64,
    store_u8,
    store_u16,
)
from wherecast.matching.columnar.layout import (
    CellPointers,
    GroupFlag,
    Header,
    Pointers,
    RowWord,
)
from wherecast.matching.compile_cache.cached_njit import njit

(
    _SEARCH, _CELLS, _PROGRAMS, _ROW, _VALUES, _THERE, _KEYS, _OUT, _EXTRA, _STOPS, _STARTS, _MARKS,
    _COUNTS, _ELEMENTS, _ELEMENT_SLOTS, _ELEMENT_COUNT, _WIDTH, _HALF, _OUT_ROOM, _EXTRA_ROOM,
    _STOPS_ROOM, _FILTERS, _MARK, _FOUND, _STOPPED, _CONJUNCTIONS,
) = (int(word) for word in RowWord)  # fmt: skip
(
    _, _, _, _FLOATS, _EXACT, _BOUNDS, _BOUND_ENDS, _TABLES, _TABLE_ENDS, _ORIGINS, _SCALES,
) = (int(pointer) for pointer in CellPointers)  # fmt: skip
_DIRECTORY, _GROUPS, _SECONDS, _HEADERS, _NUMBERS, _IS_FLOAT = (
    int(pointer)
    for pointer in (
        Pointers.DIRECTORY, Pointers.GROUPS, Pointers.SECONDS, Pointers.HEADERS, Pointers.NUMBERS,
        Pointers.IS_FLOAT,
    )
)  # fmt: skip
_HEADER_BYTES, _FLAGS, _SIZE = 192, int(Header.FLAGS), int(Header.SIZE)
_ELEMENT, _HAS_EXTRA = int(GroupFlag.ELEMENT), int(GroupFlag.EXTRA)
_MARK_MAX = 255
_UNDECIDED = 2


@njit(inline="always")
def _cell_of(at, slot):
    """The cell of the value of a slot."""
    cells, values = load_i64(at, _CELLS), load_i64(at, _VALUES)
    start = load_i64(load_i64(cells, _BOUND_ENDS), slot)
    size = load_i64(load_i64(cells, _BOUND_ENDS), slot + 1) - start - _STEPS
    bounds = load_i64(cells, _BOUNDS) + 8 * start
    start = load_i64(load_i64(cells, _TABLE_ENDS), slot)
    last = np.float64(load_i64(load_i64(cells, _TABLE_ENDS), slot + 1) - start - 2)
    return _cell(
        values + 8 * slot, load_u8(load_i64(cells, _FLOATS), slot), 0, bounds, size,
        load_i64(cells, _TABLES) + 4 * start, last, load_f64(load_i64(cells, _ORIGINS), slot),
        load_f64(load_i64(cells, _SCALES), slot), load_u8(load_i64(cells, _EXACT), slot),
    )  # fmt: skip


@njit(inline="always")
def _encode(at):
    """Writes the cell of each slot; without trees 1 where a value is there."""
    row, there, has_cells = load_i64(at, _ROW), load_i64(at, _THERE), load_i64(at, _CELLS) != 0
    for slot in range(load_i64(at, _WIDTH)):
        cell = np.uint16(load_u8(there, slot))
        if cell and has_cells:
            cell = _cell_of(at, slot)
        store_u16(row, slot, cell)


@njit(inline="always")
def _search(at, is_first, found, extra_count, counts, mark):
    """Takes a probe through the groups; returns the new counts, or -1 where there is no room."""
    search, row, out = load_i64(at, _SEARCH), load_i64(at, _ROW), load_i64(at, _OUT)
    lists, others = load_i64(search, _DIRECTORY), load_i64(search, _SECONDS)
    members, extra, width = load_i64(search, _GROUPS), load_i64(at, _EXTRA), load_i64(at, _WIDTH)
    for slot in range(width + 1):
        if slot < width and load_u16(row, slot) == 0:
            continue
        for place in range(load_i32(lists, slot), load_i32(lists, slot + 1)):
            if slot < width and load_u16(row, np.int64(load_i32(others, place))) == 0:
                continue
            group = np.int64(load_i32(members, place))
            header = load_i64(search, _HEADERS) + group * _HEADER_BYTES
            flags, room = load_i64(header, _FLAGS), load_i64(header, _SIZE) + 64
            if not (is_first or flags & _ELEMENT):
                continue
            if not _usable(header, row):
                continue
            if found + room > load_i64(at, _OUT_ROOM):
                return np.int64(-1), extra_count
            if flags & _HAS_EXTRA and extra_count + room > load_i64(at, _EXTRA_ROOM):
                return np.int64(-1), extra_count
            found, extra_count = _probe(
                search, header, row, 0, load_i64(at, _HALF), out, found, extra, extra_count,
                counts, mark,
            )  # fmt: skip
    return found, extra_count


@njit(inline="always")
def _scan(at, is_first, extra_count):
    """Adds the conjunctions that hold for a probe, each tried; -1 where there is no room."""
    extra, conjunctions = load_i64(at, _EXTRA), load_i64(at, _CONJUNCTIONS)
    if extra_count + conjunctions > load_i64(at, _EXTRA_ROOM):
        return np.int64(-1)
    for conjunction in range(conjunctions):
        if _holds(load_i64(at, _SEARCH), conjunction, 0, load_i64(at, _ROW)):
            store_i32(extra, 2 * extra_count + 1, np.int32(conjunction))
            extra_count += 1
    return extra_count


@njit(inline="always")
def _next_mark(at):
    """A stamp that no filter has."""
    mark = load_i64(at, _MARK) + 1
    if mark > _MARK_MAX:
        for number in range(load_i64(at, _FILTERS)):
            store_u8(load_i64(at, _MARKS), number, np.uint8(0))
        mark = 1
    store_i64(at, _MARK, mark)
    return np.uint8(mark)


@njit()
def _fill_keys(at):
    """Writes the key of each value that is there, for programs."""
    values, keys, there = load_i64(at, _VALUES), load_i64(at, _KEYS), load_i64(at, _THERE)
    floats = load_i64(load_i64(at, _SEARCH), _IS_FLOAT)
    for slot in range(load_i64(at, _WIDTH)):
        if load_u8(there, slot):
            store_i64(keys, slot, key_at(values, load_u8(floats, slot), slot))


@njit()
def _decide(at, found, extra_count):
    """Adds the filters of candidates whose programs hold; returns the new number of matches.

    Candidates that stop at a test are listed; -1 where there is no room for them.
    """
    out, extra, stops = load_i64(at, _OUT), load_i64(at, _EXTRA), load_i64(at, _STOPS)
    marks, mark, starts = load_i64(at, _MARKS), _next_mark(at), load_i64(at, _STARTS)
    numbers, programs = load_i64(load_i64(at, _SEARCH), _NUMBERS), load_i64(at, _PROGRAMS)
    width, room, stopped = load_i64(at, _WIDTH), load_i64(at, _STOPS_ROOM), 0
    for place in range(found):
        store_u8(marks, np.int64(load_i32(out, place)), mark)
    _fill_keys(at)
    for place in range(extra_count):
        position = np.int64(load_i32(extra, 2 * place + 1))
        number = load_i32(numbers, position)
        if load_u8(marks, np.int64(number)) == mark:
            continue
        test = np.int64(-1)
        if programs:
            test = np.int64(load_i32(starts, position))
        verdict = np.uint8(1)
        if test >= 0:
            verdict, test, _ = _advanced(programs, test, 0, width, np.uint8(_UNDECIDED))
        if verdict == 1:
            found = put_once(number, out, found, marks, mark)
        elif verdict == _UNDECIDED:
            if stopped == room:
                return np.int64(-1)
            store_i64(stops, 3 * stopped, np.int64(number))
            store_i64(stops, 3 * stopped + 1, test)
            stopped += 1
    store_i64(at, _STOPPED, stopped)
    return found


@njit(cache=True)
def match_row(at):
    """Matches the publication of a state; returns the number of matches, or -1.

    -1 says that the state has too little room, and that nothing was found. `STOPPED` says how many
    candidates stopped at a test that the kernel cannot decide; see `resume_row`.

    Shapes: at, the address of int64 words as `RowWord` says.
    Cost: that of the trees, or of all conjunctions.
    """
    counts, counted = np.zeros(3, np.int64), load_i64(at, _COUNTS)
    store_i64(at, _STOPPED, 0)
    _encode(at)
    row, values, mark = load_i64(at, _ROW), load_i64(at, _VALUES), np.uint8(0)
    elements, has_trees = load_i64(at, _ELEMENT_COUNT), load_i64(at, _CELLS) != 0
    if load_i64(at, _FILTERS):
        mark = _next_mark(at)
    found, extra_count, slot = np.int64(0), np.int64(0), np.int64(0)
    for probe in range(max(1, elements)):
        if probe < elements:
            slot = np.int64(load_i32(load_i64(at, _ELEMENT_SLOTS), probe))
            store_i64(values, slot, load_i64(load_i64(at, _ELEMENTS), probe))
            store_u16(row, slot, _cell_of(at, slot) if has_trees else np.uint16(1))
        if has_trees:
            found, extra_count = _search(at, probe == 0, found, extra_count, counts, mark)
        else:
            extra_count = _scan(at, probe == 0, extra_count)
        if probe < elements:
            store_u16(row, slot, np.uint16(0))
        if found < 0 or extra_count < 0:
            return np.int64(-1)
    if extra_count:
        counts[2] += extra_count
        found = _decide(at, found, extra_count)
    store_i64(at, _FOUND, found)
    if found >= 0 and load_i64(at, _STOPPED) == 0:
        store_i64(counted, 0, load_i64(counted, 0) + 1)
    for place in range(3):
        store_i64(counted, place + 1, load_i64(counted, place + 1) + counts[place])
    return found


@njit(cache=True)
def resume_row(at):
    """Takes candidates that stopped on, with the verdicts in their stops; as `match_row`.

    Cost: the tests on the way.
    """
    out, stops, found = load_i64(at, _OUT), load_i64(at, _STOPS), load_i64(at, _FOUND)
    marks, mark, stopped = load_i64(at, _MARKS), np.uint8(load_i64(at, _MARK)), 0
    for place in range(load_i64(at, _STOPPED)):
        number, test = load_i64(stops, 3 * place), load_i64(stops, 3 * place + 1)
        if load_u8(marks, number) == mark:
            continue
        given = np.uint8(load_i64(stops, 3 * place + 2))
        verdict, test, _ = _advanced(load_i64(at, _PROGRAMS), test, 0, load_i64(at, _WIDTH), given)
        if verdict == 1:
            found = put_once(np.int32(number), out, found, marks, mark)
        elif verdict == _UNDECIDED:
            store_i64(stops, 3 * stopped, number)
            store_i64(stops, 3 * stopped + 1, test)
            stopped += 1
    store_i64(at, _STOPPED, stopped)
    store_i64(at, _FOUND, found)
    if stopped == 0:
        counted = load_i64(at, _COUNTS)
        store_i64(counted, 0, load_i64(counted, 0) + 1)
    return found
