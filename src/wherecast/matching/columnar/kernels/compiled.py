"""The compiled kernels: cells of values, order of entries, levels of blocks, and matching.

`columnar.plain` is the obvious twin of all of them together: it gives the same matches from whole
columns, and is what they are compared with. `columnar.layout` says what the arrays mean.
"""

import numpy as np

from wherecast.matching.columnar.kernels.kept import njit
from wherecast.matching.columnar.kernels.simd import (
    count_bits,
    edge64,
    first_bit,
    load_f64,
    load_i32,
    load_i64,
    load_u8,
    load_u16,
    prefetch,
    range64,
    store_i32,
    store_u16,
)

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
ONE = np.uint64(1)
_INT_MIN = -(2**63)
_NAN_KEY = 0x7FF8_0000_0000_0000
_STEPS = 4


@njit(cache=True, nogil=True)
def cells_of(values, valid, bounds, table, origin, scale, doubled, out, width, slot):
    """Writes the cell of each value into its place of a row-major matrix.

    Shapes: values float64 or int64 [n]; valid uint8 [n] or [0] where all are; bounds of the same
    type [m], sorted, distinct; table int32 [slots + 1]; out uint16 [n * width].
    Cost: a table look-up and a few compares per value.
    """
    last = table.size - 2
    count = bounds.size
    place = slot
    base = out.ctypes.data
    lookup = table.ctypes.data
    checked = valid.size > 0
    for row in range(values.size):
        if checked and valid[row] == 0:
            store_u16(base, place, np.uint16(0))
            place += width
            continue
        value = values[row]
        if value != value:  # NaN is greater than every number
            store_u16(base, place, np.uint16(1 + (count << doubled)))
            place += width
            continue
        spot = (np.float64(value) * 0.5 - origin) * scale
        spot = min(max(spot, 0.0), np.float64(last))
        low = np.int64(load_i32(lookup, np.int64(spot)))
        high = np.int64(load_i32(lookup, np.int64(spot) + 1))
        if high - low <= _STEPS:
            while low < high and bounds[low] < value:
                low += 1
        else:
            while low < high:
                middle = (low + high) >> 1
                if bounds[middle] < value:
                    low = middle + 1
                else:
                    high = middle
        equal = 1 if low < count and bounds[low] == value else 0
        store_u16(base, place, np.uint16(1 + (low << doubled) + equal))
        place += width


@njit(cache=True, nogil=True)
def _split_cost(sample, key, threshold, low, high, mass):
    """The expected work after a split of a sample of entries at a threshold of a key."""
    dims = low.shape[1]
    box_low = np.full((2, dims), 65535, np.int64)
    box_high = np.zeros((2, dims), np.int64)
    count = np.zeros(2, np.int64)
    for place in range(sample.size):
        side = 1 if key[place] >= threshold else 0
        count[side] += 1
        entry = sample[place]
        for dim in range(dims):
            box_low[side, dim] = min(box_low[side, dim], np.int64(low[entry, dim]))
            box_high[side, dim] = max(box_high[side, dim], np.int64(high[entry, dim]))
    total = 0.0
    for side in range(2):
        cost = np.float64(count[side])
        if count[side]:
            for dim in range(dims):
                share = mass[dim, box_high[side, dim] + 1] - mass[dim, box_low[side, dim]]
                cost *= max(share, 1e-7)
        total += cost
    return total


@njit(cache=True, nogil=True)
def _best_key(order, start, end, cut, low, high, mass, sample_max):
    """The key (2 * dim for low ends, 2 * dim + 1 for high ends) whose split costs least."""
    count = end - start
    step = max(1, count // sample_max)
    size = (count + step - 1) // step
    sample = np.empty(size, np.int64)
    for place in range(size):
        sample[place] = order[start + place * step]
    key = np.empty(size, np.uint16)
    middle = min(size - 1, cut * size // count)
    best, best_cost = 0, 1e300
    for candidate in range(2 * low.shape[1]):
        dim = candidate >> 1
        for place in range(size):
            entry = sample[place]
            key[place] = low[entry, dim] if candidate & 1 == 0 else high[entry, dim]
        least, most = key.min(), key.max()
        if least == most:
            continue
        threshold = np.partition(key, middle)[middle]
        if threshold == least:
            threshold = np.uint16(threshold + 1)
        cost = _split_cost(sample, key, threshold, low, high, mass)
        if cost < best_cost:
            best, best_cost = candidate, cost
    return best


@njit(cache=True, nogil=True)
def order_of(low, high, mass, sample_max):
    """The order of entries that keeps similar boxes in one block of 64.

    A recursive split into full blocks of 64**k entries; at each, the key and side that cost least
    on a sample, where a cost is entries times the chance that a publication falls into their box.

    Shapes: low, high uint16 [entries, dims]; mass float32 [dims, 65537], the cumulative chance of
    cells; result int32 [entries].
    """
    entries = low.shape[0]
    order = np.arange(entries).astype(np.int32)
    spare = np.empty(entries, np.int32)
    key = np.empty(entries, np.uint16)
    waiting = np.empty((512, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, entries
    depth = 1
    while depth:
        depth -= 1
        start, end = waiting[depth, 0], waiting[depth, 1]
        count = end - start
        if count <= 64:
            continue
        unit = 64
        while unit * 64 < count:
            unit *= 64
        cut = unit * (((count + unit - 1) // unit + 1) // 2)
        best = _best_key(order, start, end, cut, low, high, mass, sample_max)
        dim = best >> 1
        for place in range(start, end):
            entry = order[place]
            key[place] = low[entry, dim] if best & 1 == 0 else high[entry, dim]
        threshold = np.partition(key[start:end], cut)[cut]
        less = 0
        for place in range(start, end):
            less += 1 if key[place] < threshold else 0
        equal_left = cut - less
        left, right = start, start + cut
        for place in range(start, end):
            value = key[place]
            goes_left = value < threshold
            if value == threshold and equal_left > 0:
                goes_left = True
                equal_left -= 1
            if goes_left:
                spare[left] = order[place]
                left += 1
            else:
                spare[right] = order[place]
                right += 1
        order[start:end] = spare[start:end]
        waiting[depth, 0], waiting[depth, 1] = start, start + cut
        waiting[depth + 1, 0], waiting[depth + 1, 1] = start + cut, end
        depth += 2
    return order


@njit(cache=True, nogil=True)
def fill_leaves(low, high, order, blocks, base):
    """Writes entries in their order into leaf blocks; the last block is padded with no match."""
    entries, dims = low.shape
    for block in range((entries + 63) // 64):
        for dim in range(dims):
            at = base + (block * dims + dim) * 128
            for lane in range(64):
                place = block * 64 + lane
                inside = place < entries
                blocks[at + lane] = low[order[place], dim] if inside else np.uint16(65535)
                blocks[at + 64 + lane] = high[order[place], dim] if inside else np.uint16(0)


@njit(cache=True, nogil=True)
def fill_level(blocks, source, count, base, dims):
    """Writes the boxes of `count` blocks at `source` as the lanes of the level above."""
    for block in range((count + 63) // 64):
        for dim in range(dims):
            at = base + (block * dims + dim) * 128
            for lane in range(64):
                child = block * 64 + lane
                least, most = np.uint16(65535), np.uint16(0)
                if child < count:
                    inner = source + (child * dims + dim) * 128
                    for place in range(64):
                        least = min(least, blocks[inner + place])
                        most = max(most, blocks[inner + 64 + place])
                blocks[at + lane] = least
                blocks[at + 64 + lane] = most


@njit(inline="always")
def _block(blocks, at, dims, row, slots):
    """The lanes of a block that hold a publication's cells."""
    bits = range64(blocks, at, load_u16(row, np.int64(load_u16(slots, 0))))
    if dims > 1:
        bits &= range64(blocks, at + 128, load_u16(row, np.int64(load_u16(slots, 1))))
    for dim in range(2, dims):
        if bits == 0:
            break
        bits &= range64(blocks, at + dim * 128, load_u16(row, np.int64(load_u16(slots, dim))))
    return bits


@njit(inline="always")
def _key(columns, is_float, slot, publication):
    """The key of a present value."""
    address = load_i64(columns, slot)
    bits = load_i64(address, publication)
    if load_u8(is_float, slot):
        value = load_f64(address, publication)
        if value != value:
            return np.int64(_NAN_KEY)
        if bits < 0:
            return np.int64(_INT_MIN) - bits
    return bits


@njit(inline="always")
def _in_set(keys, start, end, key):
    while start < end:
        middle = (start + end) >> 1
        if load_i64(keys, middle) < key:
            start = middle + 1
        else:
            end = middle
    return start


@njit(inline="always")
def _holds(at, conjunction, publication, row):
    """Whether the plain predicates of a conjunction hold, decided on exact keys."""
    offsets, slots, kinds = load_i64(at, 6), load_i64(at, 7), load_i64(at, 8)
    lows, highs, keys = load_i64(at, 9), load_i64(at, 10), load_i64(at, 11)
    columns, is_float = load_i64(at, 0), load_i64(at, 1)
    for place in range(load_i64(offsets, conjunction), load_i64(offsets, conjunction + 1)):
        slot = np.int64(load_i32(slots, place))
        kind = load_u8(kinds, place)
        present = load_u16(row, slot) != 0
        if present == (kind == 4):  # MISSING wants it missing, everything else present
            return False
        if kind == 0:
            key = _key(columns, is_float, slot, publication)
            if key < load_i64(lows, place) or key > load_i64(highs, place):
                return False
        elif kind == 1 or kind == 2:
            key = _key(columns, is_float, slot, publication)
            end = load_i64(highs, place)
            found = _in_set(keys, load_i64(lows, place), end, key)
            inside = found < end and load_i64(keys, found) == key
            if inside != (kind == 1):
                return False
    return True


@njit(inline="always")
def _leaves(at, header, row, half):
    """The leaf blocks of a group that may hold a publication: where they wait, how many, read.

    Breadth first: each level's blocks wait in one half of the scratch, their children in the other.
    """
    blocks, scratch, dims_at = load_i64(at, 3), load_i64(at, 12), header + 128
    dims, waiting, start, read = load_i64(header, 0), 1, 0, 0
    store_i32(scratch, 0, np.int32(0))
    for level in range(load_i64(header, 1) - 1, 0, -1):
        base, below = load_i64(header, 2 + level), blocks + 2 * load_i64(header, 1 + level)
        target, children = half - start, 0
        for item in range(waiting):
            block = np.int64(load_i32(scratch, start + item))
            bits = _block(blocks, base + block * dims * 128, dims, row, dims_at)
            while bits:
                child = block * 64 + first_bit(bits)
                store_i32(scratch, target + children, np.int32(child))
                children += 1
                prefetch(below + child * dims * 256)
                prefetch(below + child * dims * 256 + 128)
                bits &= bits - ONE
        read += waiting
        start, waiting = target, children
    return start, waiting, read


@njit(inline="always")
def _doubtful(at, header, here, bits, row):
    """The lanes of a leaf block that only exact keys can decide."""
    flags, exact = load_i64(header, 8), load_i64(header, 11)
    if flags & 1:
        return bits
    found = np.uint64(0)
    if flags & 2:
        for dim in range(load_i64(header, 0)):
            if (exact >> dim) & 1 == 0:
                cell = load_u16(row, np.int64(load_u16(header + 128, dim)))
                found |= edge64(load_i64(at, 3), here + dim * 128, cell)
    return found & bits


@njit(inline="always")
def _emit(at, bits, position, out, found):
    """Writes the filters of the lanes; six at a time, overrunning into slack."""
    numbers = load_i64(at, 4)
    if bits == ALL:
        for lane in range(64):
            store_i32(out, found + lane, load_i32(numbers, position + lane))
        return found + 64
    total, done = count_bits(bits), 0
    while done < total:
        for lane in range(6):
            spot = first_bit(bits | (ONE << np.uint64(63)))
            store_i32(out, found + done + lane, load_i32(numbers, position + spot))
            bits &= bits - ONE
        done += 6
    return found + total


@njit(inline="always")
def _probe(at, header, row, publication, half, out, found, extra, extra_count, counters):
    """Matches a publication with the entries of one group; returns the new counts."""
    start, waiting, read = _leaves(at, header, row, half)
    inner, checked = read, 0
    blocks, sources = load_i64(at, 3), load_i64(at, 5)
    dims, base, first = load_i64(header, 0), load_i64(header, 2), load_i64(header, 7)
    for item in range(waiting):
        block = np.int64(load_i32(load_i64(at, 12), start + item))
        here, position = base + block * dims * 128, first + block * 64
        bits = _block(blocks, here, dims, row, header + 128)
        if bits == 0:
            continue
        unsure = _doubtful(at, header, here, bits, row)
        while unsure:
            lane = first_bit(unsure)
            unsure &= unsure - ONE
            checked += 1
            if not _holds(at, np.int64(load_i32(sources, position + lane)), publication, row):
                bits &= ~(ONE << np.uint64(lane))
        if load_i64(header, 8) & 4:
            while bits:
                store_i32(extra, 2 * extra_count, np.int32(publication))
                store_i32(extra, 2 * extra_count + 1, np.int32(position + first_bit(bits)))
                extra_count += 1
                bits &= bits - ONE
        else:
            found = _emit(at, bits, position, out, found)
    counters[0] += inner
    counters[1] += waiting
    counters[2] += checked
    return found, extra_count


@njit(inline="always")
def _usable(header, row):
    """Whether a publication has all attributes that a group needs; the first was looked up."""
    usable = True
    for dim in range(1, load_i64(header, 10)):
        usable &= load_u16(row, np.int64(load_u16(header + 128, dim))) != 0
    return usable


@njit(cache=True, nogil=True)
def match_rows(cells, begin, pointers, directory, groups, half, out, ends, extra, counts):
    """Matches publications from `begin` on; returns the next one to match.

    Stops where `out` or `extra` could overflow; the caller makes room and calls again.

    Shapes: cells uint16 [rows, slots]; pointers int64, the addresses of the arrays that the fields
    of `Pointers` name, which the caller keeps alive; directory int32 [slots + 2]; groups int32;
    out int32; ends int64 [rows + 1]; extra int32 [room, 2]; counts int64 [4]: inner and leaf blocks
    read, entries checked, extra matches.
    """
    rows, width = cells.shape
    at, matrix, result = pointers.ctypes.data, cells.ctypes.data, out.ctypes.data
    extra_at, extra_count, found = extra.ctypes.data, counts[3], ends[begin]
    for publication in range(begin, rows):
        row = matrix + publication * width * 2
        inner, leaf, checked = counts[0], counts[1], counts[2]
        for slot in range(width + 1):
            if slot < width and load_u16(row, slot) == 0:
                continue
            for place in range(directory[slot], directory[slot + 1]):
                header = load_i64(at, 2) + np.int64(groups[place]) * 192
                if not _usable(header, row):
                    continue
                room = load_i64(header, 9) + 64
                if found + room > out.size or extra_count + room > extra.shape[0]:
                    counts[0], counts[1], counts[2] = inner, leaf, checked
                    return publication  # this row is matched again, from its start
                found, extra_count = _probe(
                    at, header, row, publication, half, result, found, extra_at, extra_count, counts
                )
        ends[publication + 1] = found
        counts[3] = extra_count
    return rows
