"""Kernels that build trees: the order of entries, and the levels of blocks."""

import numpy as np

from wherecast.matching.compile_cache.cached_njit import njit


@njit(cache=True, nogil=True)
def _split_cost(sample, key, threshold, low, high, mass, starts, tops, continues):
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
            none = 1.0  # of the sides of a clause is satisfied
            for dim in range(dims):
                upper = min(box_high[side, dim], tops[dim]) + 1
                lower = min(box_low[side, dim], tops[dim])
                share = mass[starts[dim] + upper] - mass[starts[dim] + lower]
                none *= 1.0 - share
                if dim == dims - 1 or not continues[dim + 1]:
                    cost *= max(1.0 - none, 1e-7)
                    none = 1.0
        total += cost
    return total


@njit(cache=True, nogil=True)
def _best_key(order, start, end, cut, low, high, mass, starts, tops, sample_max, continues):
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
        cost = _split_cost(sample, key, threshold, low, high, mass, starts, tops, continues)
        if cost < best_cost:
            best, best_cost = candidate, cost
    return best


@njit(cache=True, nogil=True)
def order_of(low, high, mass, starts, tops, sample_max, continues):
    """The order of entries that keeps similar boxes in one block of 64.

    A recursive split into full blocks of 64**k entries; at each, the key and side that cost least
    on a sample, where a cost is entries times the chance that a publication falls into their box.

    Shapes: low, high uint16 [entries, dims]; mass float32, starts, tops int64 [dims], as in
    `CellWeights`; continues bool [dims], the dimensions that are in the clause of the one before;
    result int32 [entries].
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
        best = _best_key(
            order, start, end, cut, low, high, mass, starts, tops, sample_max, continues
        )
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
