"""The kernels of the exact check: what a filter asks of keys, and the box around it.

`wherecast.matching.scan` is the obvious twin of `confirm`: it evaluates each filter on each row.
"""

import numpy as np

from wherecast.matching.compile_cache.kernel_decorators import njit
from wherecast.matching.trees.row_layout import END, ENTRY, FLAG, KIND, KIND_MASK, ROW, SIDE


@njit(cache=True, nogil=True)
def confirm(rows, keys, there, first, begin, end, found, found_ends, out, ends, extra, most):
    """Writes the candidates that hold; returns the first publication that has none yet.

    Where leaves remain to be decided, a candidate is put to `extra`. Stops where `out` or `extra`
    could overflow. One loop without calls, which would count references of all arrays.

    Shapes: keys int64, there uint8 [rows, slots]; first, the row of the batch that the chunk begins
    with; found int64, found_ends int64 [rows + 1], twice the entries, plus one where nothing is
    left to check; out int32; ends int64 [rows of the batch + 1]; most, how many leaves there are.
    """
    e, r, sets = rows.e, rows.r, rows.keys
    groups, tests, used = extra.groups, extra.tests, extra.used
    count = ends[first + begin]
    for row in range(begin, end):
        start, stop = found_ends[row], found_ends[row + 1]
        full = used[0] + most > groups.shape[0] or used[1] + most > tests.shape[0]
        if full or count + stop - start > out.shape[0]:
            return row
        for place in range(start, stop):
            entry = found[place] >> 1
            if found[place] & 1:
                out[count] = entry
                count += 1
                continue
            at = e[entry, ENTRY.START]
            last_row = at + e[entry, ENTRY.SIZE]
            holds = at == last_row and e[entry, ENTRY.FLAGS] & FLAG.ALWAYS != 0
            group, test = used[0], used[1]
            while at < last_row and not holds:  # conjunction by conjunction
                before, true, last = test, True, False
                while not last:
                    kind = r[at, ROW.KIND]
                    last = kind & END != 0
                    kind &= KIND_MASK
                    slot = r[at, ROW.SLOT]
                    if true and (there[row, slot] != 0) == (kind == KIND.MISSING):
                        true = False  # all but KIND.MISSING want it present
                    elif true and kind == KIND.RANGE:
                        key = keys[row, slot]
                        true = r[at, ROW.LOW] <= key and key <= r[at, ROW.HIGH]
                    elif true and kind == KIND.EXCEPT:
                        true = keys[row, slot] != r[at, ROW.LOW]
                    elif true and kind == KIND.LATER:
                        tests[test, 0] = group
                        tests[test, 1] = r[at, ROW.LOW]
                        test += 1
                    elif true and kind <= KIND.NOT_SET:
                        key, low, high = keys[row, slot], r[at, ROW.LOW], r[at, ROW.HIGH]
                        while low < high:
                            middle = (low + high) >> 1
                            if sets[middle] < key:
                                low = middle + 1
                            else:
                                high = middle
                        inside = low < r[at, ROW.HIGH] and sets[low] == key
                        true = inside == (kind == KIND.SET)
                    at += 1
                if not true:
                    test = before
                elif test == before:
                    holds = True
                else:
                    groups[group, 0] = first + row
                    groups[group, 1] = entry
                    group += 1
            if holds:
                out[count] = entry
                count += 1
            else:
                used[0], used[1] = group, test
        ends[first + row + 1] = count
    return end


@njit(cache=True)
def boxes(filters, offsets, slots, kinds, lows, highs, keys, least, most, sizes, sides):
    """Writes the box of each filter: for every slot that all its conjunctions need, an interval.

    Returns the number of sides. A conjunction whose box is empty can never hold and is left out; a
    filter without any is marked by the size -1.

    Shapes: filters int64 [filters + 1], the conjunctions of each; offsets int64 [conjunctions + 1]
    into slots, kinds, lows, highs; keys of sets; least, most int64 [slots]; sizes int32 [filters];
    sides int64 [room, 3]: slots, lows and highs, with room for all rows.
    """
    count = least.shape[0]
    low, high = np.zeros(count, np.int64), np.zeros(count, np.int64)  # of the conjunction
    all_low, all_high = np.zeros(count, np.int64), np.zeros(count, np.int64)
    seen, met = np.zeros(count, np.int64), np.zeros(count, np.int64)
    stamp, used = 0, 0
    for one in range(filters.shape[0] - 1):
        possible, first = 0, stamp + 1
        for conjunction in range(filters[one], filters[one + 1]):
            stamp += 1
            begin, end = offsets[conjunction], offsets[conjunction + 1]
            empty = False
            for at in range(begin, end):
                slot, kind = slots[at], kinds[at]
                if kind == KIND.MISSING:
                    continue
                if seen[slot] != stamp:
                    seen[slot] = stamp
                    low[slot], high[slot] = least[slot], most[slot]
                if kind == KIND.RANGE:
                    low[slot] = max(low[slot], lows[at])
                    high[slot] = min(high[slot], highs[at])
                elif kind == KIND.SET:
                    if lows[at] == highs[at]:
                        empty = True
                    else:
                        low[slot] = max(low[slot], keys[lows[at]])
                        high[slot] = min(high[slot], keys[highs[at] - 1])
                empty |= low[slot] > high[slot]
            if empty:
                continue
            possible += 1
            for at in range(begin, end):
                slot = slots[at]
                if seen[slot] != stamp:
                    continue
                seen[slot] = -stamp  # once for each slot
                if possible == 1:
                    met[slot] = first
                    all_low[slot], all_high[slot] = low[slot], high[slot]
                elif met[slot] == first + possible - 2:
                    met[slot] += 1
                    all_low[slot] = min(all_low[slot], low[slot])
                    all_high[slot] = max(all_high[slot], high[slot])
        start = used
        if possible > 0:
            for conjunction in range(filters[one], filters[one + 1]):
                for at in range(offsets[conjunction], offsets[conjunction + 1]):
                    slot = slots[at]
                    if met[slot] == first + possible - 1:
                        met[slot] = 0
                        place = used
                        while place > start and sides[place - 1, 0] > slot:
                            sides[place, :] = sides[place - 1, :]
                            place -= 1
                        sides[place, 0] = slot
                        sides[place, 1], sides[place, 2] = all_low[slot], all_high[slot]
                        used += 1
        sizes[one] = used - start if possible > 0 else -1
    return used


@njit(cache=True)
def append_plain(rows, used, heads, ends, sizes, least, most):
    """Puts filters behind those that are there: conjunctions of intervals and of keys left out.

    `used` counts entries, rows and sides, and is moved on. What `boxes` says of such filters is
    said here too.

    Shapes: rows with room; used int64 [3]; heads int64 [predicates, 2], slots and kinds, RANGE or
    EXCEPT, each slot once in a filter; ends int64 [predicates, 2]; sizes int64 [filters]; least,
    most int64 [slots].
    """
    given, at, side = 0, used[1], used[2]
    for entry in range(used[0], used[0] + sizes.shape[0]):
        size, first, flags = sizes[entry - used[0]], side, FLAG.BOX
        rows.e[entry, ENTRY.START], rows.e[entry, ENTRY.SIZE], rows.e[entry, ENTRY.BOX] = (
            at,
            size,
            side,
        )
        for place in range(given, given + size):
            slot, kind = heads[place, 0], heads[place, 1]
            rows.r[at, ROW.SLOT], rows.r[at, ROW.KIND] = slot, kind
            rows.r[at, ROW.LOW], rows.r[at, ROW.HIGH] = ends[place, 0], ends[place, 1]
            at += 1
            low, high = least[slot], most[slot]
            if kind == KIND.RANGE:
                low, high = max(low, ends[place, 0]), min(high, ends[place, 1])
            else:
                flags &= ~FLAG.BOX
            if low > high:
                flags |= FLAG.NEVER
            to = side
            while to > first and rows.b[to - 1, SIDE.SLOT] > slot:
                rows.b[to, :] = rows.b[to - 1, :]
                to -= 1
            rows.b[to, SIDE.SLOT], rows.b[to, SIDE.LOW], rows.b[to, SIDE.HIGH] = slot, low, high
            side += 1
        given += size
        rows.r[at - 1, ROW.KIND] |= END
        if flags & FLAG.NEVER:
            flags, side = FLAG.NEVER, first
        elif flags & FLAG.BOX and size == 1:
            flags |= FLAG.PLAIN
        rows.e[entry, ENTRY.SIDES], rows.e[entry, ENTRY.FLAGS] = side - first, flags
    used[0] += sizes.shape[0]
    used[1], used[2] = at, side
