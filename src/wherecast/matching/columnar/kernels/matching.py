"""The kernels that match: cells of publications with trees of blocks.

A publication goes through the trees of all groups whose attributes it has (`match_rows`), or, where
there are many groups, a group takes all publications that have its attributes (`match_groups`).
"""

import numpy as np

from wherecast.matching.columnar.kernels.cell_kernels import key_at, lower_bound
from wherecast.matching.columnar.kernels.result_rows import next_mark, put_once
from wherecast.matching.columnar.kernels.simd import (
    count_bits,
    edge64,
    first_bit,
    load_i32,
    load_i64,
    load_u8,
    load_u16,
    load_u64,
    prefetch,
    range64,
    store_i32,
)
from wherecast.matching.columnar.layout import Exact, GroupFlag, Header, Pointers
from wherecast.matching.compile_cache.cached_njit import njit

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)

_DIMS, _LEVELS, _BASE, _FIRST = (
    int(word) for word in (Header.DIMS, Header.LEVELS, Header.BASE, Header.FIRST)
)
_FLAGS, _SIZE, _NEEDED, _EXACT, _REST = (
    int(word) for word in (Header.FLAGS, Header.SIZE, Header.NEEDED, Header.EXACT, Header.REST)
)
_CLAUSES, _CONJUNCTIONS = int(Header.CLAUSES), int(Header.CONJUNCTIONS)
_SLOTS = 8 * int(Header.SLOTS)  # bytes
_CHECK_ALL, _CHECK_EDGES, _EXTRA, _HAS_REST, _ONCE, _ELEMENT, _MIXED = (
    int(flag)
    for flag in (
        GroupFlag.CHECK_ALL, GroupFlag.CHECK_EDGES, GroupFlag.EXTRA, GroupFlag.REST,
        GroupFlag.ONCE, GroupFlag.ELEMENT, GroupFlag.MIXED,
    )
)  # fmt: skip
_RANGE, _SET, _NOT_SET, _MISSING = (
    int(kind) for kind in (Exact.RANGE, Exact.SET, Exact.NOT_SET, Exact.MISSING)
)
(
    _COLUMNS, _IS_FLOAT, _HEADERS, _BLOCKS, _NUMBERS, _SOURCES, _OFFSETS, _PREDICATE_SLOTS, _KINDS,
    _LOWS, _HIGHS, _KEYS, _EXACT_SLOTS, _REST_ENDS, _RESTS, _DIRECTORY, _GROUPS, _SECONDS, _SCRATCH,
    _STAMPS, _OUTCOMES,
) = (int(pointer) for pointer in Pointers)  # fmt: skip
_HEADER_BYTES = 192


@njit(inline="always")
def _clauses(blocks, at, dims, row, slots, clauses):
    """The lanes of a block that hold one cell of each clause."""
    bits, some = _ALL, range64(blocks, at, load_u16(row, np.int64(load_u16(slots, 0))))
    for dim in range(1, dims):
        if (clauses >> dim) & 1 == 0:
            bits &= some
            if bits == 0:
                return bits
            some = np.uint64(0)
        some |= range64(blocks, at + dim * 128, load_u16(row, np.int64(load_u16(slots, dim))))
    return bits & some


@njit(inline="always")
def _block(blocks, at, dims, row, slots, clauses):
    """The lanes of a block that hold a publication's cells."""
    if clauses:
        return _clauses(blocks, at, dims, row, slots, clauses)
    bits = range64(blocks, at, load_u16(row, np.int64(load_u16(slots, 0))))
    if dims > 1:
        bits &= range64(blocks, at + 128, load_u16(row, np.int64(load_u16(slots, 1))))
    for dim in range(2, dims):
        if bits == 0:
            break
        bits &= range64(blocks, at + dim * 128, load_u16(row, np.int64(load_u16(slots, dim))))
    return bits


@njit(inline="always")
def _holds(at, conjunction, publication, row):
    """Whether the plain predicates of a conjunction hold, decided on exact keys."""
    offsets, slots = load_i64(at, _OFFSETS), load_i64(at, _PREDICATE_SLOTS)
    kinds, lows, highs = load_i64(at, _KINDS), load_i64(at, _LOWS), load_i64(at, _HIGHS)
    columns, is_float = load_i64(at, _COLUMNS), load_i64(at, _IS_FLOAT)
    for place in range(load_i64(offsets, conjunction), load_i64(offsets, conjunction + 1)):
        slot = np.int64(load_i32(slots, place))
        kind = load_u8(kinds, place)
        present = load_u16(row, slot) != 0
        if present == (kind == _MISSING):  # everything else wants it present
            return False
        if kind == _RANGE:
            key = key_at(load_i64(columns, slot), load_u8(is_float, slot), publication)
            if key < load_i64(lows, place) or key > load_i64(highs, place):
                return False
        elif kind != _MISSING and kind <= _NOT_SET:
            key = key_at(load_i64(columns, slot), load_u8(is_float, slot), publication)
            keys, end = load_i64(at, _KEYS), load_i64(highs, place)
            found = lower_bound(keys, load_i64(lows, place), end, key)
            inside = found < end and load_i64(keys, found) == key
            if inside != (kind == _SET):
                return False
    return True


@njit(inline="always")
def _one_holds(at, first, count, publication, row):
    """Whether one of the conjunctions from `first` on holds, decided on exact keys."""
    conjunction, end, holds = first, first + count, False
    while conjunction < end and not holds:
        holds = _holds(at, conjunction, publication, row)
        conjunction += 1
    return holds


@njit(cache=True, nogil=True)
def scan(there, begin, conjunctions, pointers, pairs, count):
    """Finds the conjunctions that hold, each tried on each publication from `begin` on.

    Returns the next publication and the number of pairs; stops where `pairs` could overflow.

    Shapes: there uint16 [rows, slots], 0 where a value is missing; pointers as for `match_rows`, of
    which only the columns and the predicates are used; pairs int32 [room, 2], publications and
    conjunctions.
    Cost: rows times predicates, at most.
    """
    rows, width = there.shape
    at, matrix, result = pointers.ctypes.data, there.ctypes.data, pairs.ctypes.data
    for publication in range(begin, rows):
        if count + conjunctions > pairs.shape[0]:
            return publication, count
        row = matrix + publication * width * 2
        for conjunction in range(conjunctions):
            if _holds(at, conjunction, publication, row):
                store_i32(result, 2 * count, np.int32(publication))
                store_i32(result, 2 * count + 1, np.int32(conjunction))
                count += 1
    return rows, count


@njit(inline="always")
def _leaves(at, header, row, half):
    """The leaf blocks of a group that may hold a publication: where they wait, how many, read.

    Breadth first: each level's blocks wait in one half of the scratch, their children in the other.
    """
    blocks, scratch, slots = load_i64(at, _BLOCKS), load_i64(at, _SCRATCH), header + _SLOTS
    dims, waiting, start, read = load_i64(header, _DIMS), 1, 0, 0
    clauses = load_i64(header, _CLAUSES)
    store_i32(scratch, 0, np.int32(0))
    for level in range(load_i64(header, _LEVELS) - 1, 0, -1):
        base = load_i64(header, _BASE + level)
        below = blocks + 2 * load_i64(header, _BASE + level - 1)
        target, children = half - start, 0
        for item in range(waiting):
            block = np.int64(load_i32(scratch, start + item))
            bits = _block(blocks, base + block * dims * 128, dims, row, slots, clauses)
            while bits:
                child = block * 64 + first_bit(bits)
                store_i32(scratch, target + children, np.int32(child))
                children += 1
                prefetch(below + child * dims * 256)
                prefetch(below + child * dims * 256 + 128)
                bits &= bits - _ONE
        read += waiting
        start, waiting = target, children
    return start, waiting, read


@njit(inline="always")
def _rest(at, header, position, bits, row):
    """The lanes whose other sides hold too, by cells; and those of them that cells leave open."""
    rests, exact = load_i64(at, _RESTS), load_i64(at, _EXACT_SLOTS)
    ends = load_i64(at, _REST_ENDS) + 4 * (load_i64(header, _REST) - load_i64(header, _FIRST))
    left, unsure = bits, np.uint64(0)
    while left:
        lane = first_bit(left)
        left &= left - _ONE
        end = 3 * np.int64(load_i32(ends, position + lane + 1))
        for place in range(3 * np.int64(load_i32(ends, position + lane)), end, 3):
            slot = np.int64(load_u16(rests, place))
            cell = load_u16(row, slot)
            low, high = load_u16(rests, place + 1), load_u16(rests, place + 2)
            if cell < low or cell > high:
                bits &= ~(_ONE << np.uint64(lane))
                break
            if ((cell == low) | (cell == high)) and load_u8(exact, slot) == 0:
                unsure |= _ONE << np.uint64(lane)
    return bits, unsure


@njit(inline="always")
def _edges(at, header, here, row):
    """The lanes of a leaf block where a cell is an end of a range and not exact."""
    exact, found = load_i64(header, _EXACT), np.uint64(0)
    for dim in range(load_i64(header, _DIMS)):
        if (exact >> dim) & 1 == 0:
            cell = load_u16(row, np.int64(load_u16(header + _SLOTS, dim)))
            found |= edge64(load_i64(at, _BLOCKS), here + dim * 128, cell)
    return found


@njit(inline="always")
def _emit(at, bits, position, out, found):
    """Writes the filters of the lanes; six at a time, overrunning into slack."""
    numbers = load_i64(at, _NUMBERS)
    if bits == _ALL:
        for lane in range(64):
            store_i32(out, found + lane, load_i32(numbers, position + lane))
        return found + 64
    total, done = count_bits(bits), 0
    while done < total:
        for lane in range(6):
            spot = first_bit(bits | (_ONE << np.uint64(63)))
            store_i32(out, found + done + lane, load_i32(numbers, position + spot))
            bits &= bits - _ONE
        done += 6
    return found + total


@njit(inline="always")
def _emit_once(at, bits, position, out, found, mark):
    """Writes the filters of the lanes that no entry has reported for this publication."""
    numbers, marks = load_i64(at, _NUMBERS), load_i64(at, _STAMPS)
    if bits == _ALL:
        for lane in range(64):
            found = put_once(load_i32(numbers, position + lane), out, found, marks, mark)
        return found
    while bits:
        number = load_i32(numbers, position + first_bit(bits))
        found = put_once(number, out, found, marks, mark)
        bits &= bits - _ONE
    return found


@njit(inline="always")
def _probe(at, header, row, publication, half, out, found, extra, extra_count, counters, mark):
    """Matches a publication with the entries of one group; returns the new counts.

    Each filter is written once where `mark` is that of the publication; 0 asks no stamps.
    """
    start, waiting, inner = _leaves(at, header, row, half)
    blocks, scratch, sources = load_i64(at, _BLOCKS), load_i64(at, _SCRATCH), load_i64(at, _SOURCES)
    dims, flags = load_i64(header, _DIMS), load_i64(header, _FLAGS)
    base, first, checked = load_i64(header, _BASE), load_i64(header, _FIRST), 0
    clauses, count = load_i64(header, _CLAUSES), max(1, load_i64(header, _CONJUNCTIONS))
    outcomes, are_extra = load_i64(at, _OUTCOMES), _ALL if flags & _EXTRA else np.uint64(0)
    are_once = _ALL if flags & _ONCE and mark else np.uint64(0)
    for item in range(waiting):
        block = np.int64(load_i32(scratch, start + item))
        here, position = base + block * dims * 128, first + block * 64
        bits = _block(blocks, here, dims, row, header + _SLOTS, clauses)
        if bits == 0:
            continue
        unsure = np.uint64(0)
        if flags & _HAS_REST:
            checked += count_bits(bits)
            bits, unsure = _rest(at, header, position, bits, row)
        if flags & _CHECK_ALL:
            unsure = bits
        elif flags & _CHECK_EDGES:
            unsure |= _edges(at, header, here, row)
        unsure &= bits
        while unsure:
            lane = first_bit(unsure)
            unsure &= unsure - _ONE
            checked += 1
            source = np.int64(load_i32(sources, position + lane))
            if not _one_holds(at, source, count, publication, row):
                bits &= ~(_ONE << np.uint64(lane))
        if flags & _MIXED:
            are_extra = load_u64(outcomes, position >> 5)
            are_once = load_u64(outcomes, (position >> 5) + 1) if mark else np.uint64(0)
        left = bits & are_extra
        while left:
            store_i32(extra, 2 * extra_count, np.int32(publication))
            store_i32(extra, 2 * extra_count + 1, np.int32(position + first_bit(left)))
            extra_count += 1
            left &= left - _ONE
        left = bits & ~are_extra & are_once
        if left:
            found = _emit_once(at, left, position, out, found, mark)
        left = bits & ~are_extra & ~are_once
        if left:
            found = _emit(at, left, position, out, found)
    counters[0] += inner
    counters[1] += waiting
    counters[2] += checked
    return found, extra_count


@njit(inline="always")
def _usable(header, row):
    """Whether a publication has all attributes that a group needs; two were looked up."""
    usable = True
    for dim in range(2, load_i64(header, _NEEDED)):
        usable &= load_u16(row, np.int64(load_u16(header + _SLOTS, dim))) != 0
    return usable


@njit(cache=True, nogil=True)
def match_rows(cells, firsts, begin, first, pointers, half, out, ends, extra, counts, stamps):
    """Matches the probes of a chunk from `begin` on; returns the next one to match.

    Stops where `out` or `extra` could overflow; the caller makes room and calls again. The first
    probe of a publication goes through all groups, the others only through those that ask for
    elements. What each row of the result has is what a probe adds to those before it.

    Shapes: firsts uint8 [rows], 1 for the first probe of a publication; cells uint16 [rows, slots];
    first, the row of the batch that the chunk begins with; pointers int64, the addresses of the
    arrays that the fields of `Pointers` name, which the caller keeps alive; out int32; ends int64
    [rows of the batch + 1]; extra int32 [room, 2]; counts int64 [4]: inner and leaf blocks read,
    entries checked, extra matches; stamps, `Stamps`.
    """
    rows, width = cells.shape
    at, matrix, result = pointers.ctypes.data, cells.ctypes.data, out.ctypes.data
    lists, others, members = load_i64(at, _DIRECTORY), load_i64(at, _SECONDS), load_i64(at, _GROUPS)
    extra_at, extra_count, found = extra.ctypes.data, counts[3], ends[first + begin]
    mark, start, inner, leaf, checked = np.uint8(0), begin, counts[0], counts[1], counts[2]
    for publication in range(begin, rows):
        row, is_first = matrix + publication * width * 2, firsts[publication] != 0
        if is_first:
            mark = next_mark(stamps.marks, stamps.last)
            start, counts[3] = publication, extra_count
            inner, leaf, checked = counts[0], counts[1], counts[2]
        for slot in range(width + 1):
            if slot < width and load_u16(row, slot) == 0:
                continue
            for place in range(load_i32(lists, slot), load_i32(lists, slot + 1)):
                if slot < width and load_u16(row, np.int64(load_i32(others, place))) == 0:
                    continue
                group = np.int64(load_i32(members, place))
                header = load_i64(at, _HEADERS) + group * _HEADER_BYTES
                if not (is_first or load_i64(header, _FLAGS) & _ELEMENT):
                    continue
                if not _usable(header, row):
                    continue
                room = load_i64(header, _SIZE) + 64
                if found + room > out.size or extra_count + room > extra.shape[0]:
                    counts[0], counts[1], counts[2] = inner, leaf, checked
                    return start  # this publication is matched again, from its first probe
                found, extra_count = _probe(
                    at, header, row, first + publication, half, result, found, extra_at,
                    extra_count, counts, mark,
                )  # fmt: skip
        ends[first + publication + 1] = found
    counts[3] = extra_count
    return rows


@njit(inline="always")
def _having(there, header, word, rows):
    """The publications of a word of 64 that have all attributes that a group needs."""
    left = rows - (word << 6)
    bits = _ALL if left >= 64 else (_ONE << np.uint64(left)) - _ONE
    for dim in range(load_i64(header, _NEEDED)):
        bits &= there[np.int64(load_u16(header + _SLOTS, dim)), word]
    return bits


@njit(cache=True, nogil=True)
def match_groups(
    cells, firsts, there, state, first, pointers, groups, half, stream, parts, extra, counts
):
    """Matches the probes of a chunk group by group, from a state on; whether all are done.

    What a publication finds in a group is a part: the publication and the number of its matches,
    which are next in `stream`. A filter may be in several parts of a publication: `once` follows.
    Stops where an array could overflow; the caller makes room and calls again.

    Shapes: as `match_rows`; there uint64 [slots, words of 64 rows]; state int64 [2], the group and
    the publication to go on with; groups, how many there are; stream int32; parts int32 [room, 2];
    counts int64 [6]: as there, then matches and parts.
    """
    rows, width = cells.shape
    at, matrix, result = pointers.ctypes.data, cells.ctypes.data, stream.ctypes.data
    parts_at, extra_at = parts.ctypes.data, extra.ctypes.data
    extra_count, found, part = counts[3], counts[4], counts[5]
    begin = state[1]
    for group in range(state[0], groups):
        header = load_i64(at, _HEADERS) + group * _HEADER_BYTES
        room = load_i64(header, _SIZE) + 64
        takes_all = load_i64(header, _FLAGS) & _ELEMENT != 0
        for word in range(begin >> 6, (rows + 63) >> 6):
            bits = _having(there, header, word, rows)
            if word == begin >> 6:
                bits &= _ALL << np.uint64(begin & 63)
            while bits:
                publication = (word << 6) + first_bit(bits)
                bits &= bits - _ONE
                if not (takes_all or firsts[publication]):
                    continue
                full = found + room > stream.size or part == parts.shape[0]
                if full or extra_count + room > extra.shape[0]:
                    state[0], state[1] = group, publication
                    counts[3], counts[4], counts[5] = extra_count, found, part
                    return False
                before = found
                found, extra_count = _probe(
                    at, header, matrix + publication * width * 2, first + publication, half,
                    result, found, extra_at, extra_count, counts, np.uint8(0),
                )  # fmt: skip
                if found > before:
                    store_i32(parts_at, 2 * part, np.int32(publication))
                    store_i32(parts_at, 2 * part + 1, np.int32(found - before))
                    part += 1
        begin = 0
    counts[3], counts[4], counts[5] = extra_count, found, part
    return True
