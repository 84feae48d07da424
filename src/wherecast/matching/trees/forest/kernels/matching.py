"""The kernel that matches: the children of a filter that does not match are skipped.

Source: CUPUS, section 4.4.1; step A5 of the spec.
"""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.exact_kernels import (
    ALWAYS,
    CHECKED,
    E_FLAGS,
    E_SIZE,
    E_START,
    END,
    EXCEPT,
    KIND_MASK,
    LATER,
    MISSING,
    NOT_SET,
    R_HIGH,
    R_KIND,
    R_LOW,
    R_SLOT,
    RANGE,
    SET,
    VISITED,
)
from wherecast.matching.trees.forest.layout import E_NEXT, N_COUNT, N_HEAD, N_START, TOP
from wherecast.matching.trees.items import DECIDES, I_HIGH, I_LOW, I_NUMBER, I_PROBE

NONE, SURE, UNSURE = 0, 1, 2  # whether a filter holds


@inner
def _state(e, r, sets, keys, there, row, entry):
    """Whether a filter holds on a row of keys: NONE, SURE, or UNSURE where leaves remain."""
    at = e[entry, E_START]
    end = at + e[entry, E_SIZE]
    best = SURE if at == end and e[entry, E_FLAGS] & ALWAYS != 0 else NONE
    while at < end and best != SURE:
        state, last = SURE, False
        while not last:
            kind = r[at, R_KIND]
            last = kind & END != 0
            kind &= KIND_MASK
            slot = r[at, R_SLOT]
            if state == NONE:
                pass
            elif (there[row, slot] != 0) == (kind == MISSING):  # all others want it present
                state = NONE
            elif kind == RANGE:
                if keys[row, slot] < r[at, R_LOW] or keys[row, slot] > r[at, R_HIGH]:
                    state = NONE
            elif kind == EXCEPT:
                if keys[row, slot] == r[at, R_LOW]:
                    state = NONE
            elif kind == LATER:
                state = UNSURE
            elif kind <= NOT_SET:
                low, high = r[at, R_LOW], r[at, R_HIGH]
                while low < high:
                    middle = (low + high) >> 1
                    if sets[middle] < keys[row, slot]:
                        low = middle + 1
                    else:
                        high = middle
                inside = low < r[at, R_HIGH] and sets[low] == keys[row, slot]
                if inside != (kind == SET):
                    state = NONE
            at += 1
        if state != NONE and best != SURE:
            best = state
    return best


@njit(cache=True, nogil=True)
def find_covered(forest, rows, keys, there, begin, stack, found, ends, counts, most):
    """Writes the candidates of publications from `begin` on; returns the first that has none yet.

    The children of a filter that does not match are skipped. A candidate is twice an entry, plus
    one where it matches for sure; the others have leaves to be decided.

    Shapes: as those of the BE-Tree's `find`; stack int64, with room for all nodes.
    """
    n, i, e, r, sets = forest.n, forest.i, rows.e, rows.r, rows.keys
    used = ends[begin] = 0
    for row in range(begin, keys.shape[0]):
        if used + most > found.shape[0]:
            return row
        depth = 1
        stack[0] = TOP
        while depth > 0:
            depth -= 1
            node = stack[depth]
            start = n[node, N_START]
            counts[VISITED] += 1
            counts[CHECKED] += n[node, N_COUNT]
            for at in range(start, start + n[node, N_COUNT]):
                probe, child, state = i[at, I_PROBE], i[at, I_NUMBER], SURE
                if probe >= 0:
                    key = keys[row, probe >> 1]
                    if key < i[at, I_LOW] or key > i[at, I_HIGH] or not there[row, probe >> 1]:
                        continue
                entry = n[child, N_HEAD]
                if probe < 0 or probe & DECIDES == 0:
                    state = _state(e, r, sets, keys, there, row, entry)
                    if state == NONE:
                        continue
                while entry >= 0:
                    found[used] = 2 * entry + (1 if state == SURE else 0)
                    used += 1
                    entry = forest.e[entry, E_NEXT]
                if n[child, N_COUNT] > 0:
                    stack[depth] = child
                    depth += 1
        ends[row + 1] = used
    return keys.shape[0]
