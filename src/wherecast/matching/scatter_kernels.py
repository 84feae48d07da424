"""Kernels that group matches by the owner of the filter: a stable scatter instead of a sort.

Matches come publication by publication. So a scatter that keeps the order of its input leaves the
publications of each owner ascending.
"""

import numpy as np

from wherecast.matching.compile_cache.kernel_decorators import inner, njit

_FEW = 32


@inner
def _sort_few(ids, begin, end):
    """Sorts a short stretch in place."""
    for right in range(begin + 1, end):
        id = ids[right]
        left = right - 1
        while left >= begin and ids[left] > id:
            ids[left + 1] = ids[left]
            left -= 1
        ids[left + 1] = id


@njit(cache=True, nogil=True)
def distinct(names, marks, used, counts, places):
    """The distinct names among matches in the order of their first match; returns their number.

    Shapes: names int32 [n]; marks int32 [names], zeros before and after; used int32 [n], the first
        of it are the distinct names; counts int32 [n], the matches of each of these; places int32
        [n], of each match the place of its name among them.
    Cost: n, and a cache miss for each match of a name that was not met lately.
    """
    count = 0
    for match in range(len(names)):
        name = names[match]
        mark = marks[name]
        if mark == 0:
            used[count] = name
            counts[count] = 0
            count += 1
            mark = count
            marks[name] = mark
        counts[mark - 1] += 1
        places[match] = mark - 1
    for place in range(count):
        marks[used[place]] = 0
    return count


@njit(cache=True, nogil=True)
def scatter(offsets, places, keys, ends):
    """Notifications by owner: the publications of each owner, and the ids that each one matched.

    Shapes: offsets int64 [n], ascending; places int32 [n], of the name of each match among the
        names used; keys int64 [used], of each name its owner, and in the lower half its id there;
        ends int64 [owners + 1], where the matches of each owner begin and end.
    Returns: the offset of each notification, int64 [notes]; where the notifications of each owner
        begin and end, int32 [owners + 1]; where the ids of each notification begin and end, int32
        [notes + 1]; the ids, int32 [n].
    Cost: n, and for a publication that matches several ids of one owner a sort of these.
    """
    count, owner_count = len(places), len(ends) - 1
    free = ends[:-1].copy()
    # Publications are numbered, so that each match moves as one word: publication and id.
    pairs, row_offsets = np.empty(count, np.int64), np.empty(count, np.int64)
    row, last = -1, np.int64(0)
    for match in range(count):
        if row < 0 or offsets[match] != last:
            last = offsets[match]
            row += 1
            row_offsets[row] = last
        key = keys[places[match]]
        owner = key >> 32
        pairs[free[owner]] = np.int64(row) << 32 | (key & 0xFFFFFFFF)
        free[owner] += 1
    own_ids = np.empty(count, np.int32)
    starts, note_ends = np.empty(count + 1, np.int32), np.zeros(owner_count + 1, np.int32)
    notes, at = 0, 0
    for owner in range(owner_count):
        end = ends[owner + 1]
        while at < end:
            begin, here = at, pairs[at] >> 32
            at += 1
            while at < end and pairs[at] >> 32 == here:
                at += 1
            if at - begin > _FEW:
                pairs[begin:at].sort()
            elif at - begin > 1:
                _sort_few(pairs, begin, at)
            for place in range(begin, at):
                own_ids[place] = pairs[place] & 0xFFFFFFFF
            starts[notes] = begin
            pairs[notes] = row_offsets[here]  # at most where the notification was read
            notes += 1
        note_ends[owner + 1] = notes
    starts[notes] = count
    return pairs[:notes], note_ends, starts[: notes + 1], own_ids
