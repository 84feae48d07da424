"""The kernel that matches: the children of a filter that does not match are skipped.

Source: CUPUS, section 4.4.1; step A5 of the spec.
"""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.forest.layout import MEMBER, NODE, TOP
from wherecast.matching.trees.items import DECIDES, ITEM
from wherecast.matching.trees.row_layout import COST, END, ENTRY, FLAG, KIND, KIND_MASK, ROW

NONE, SURE, UNSURE = 0, 1, 2  # whether a filter holds


@inner
def _state(e, r, sets, keys, there, row, entry):
    """Whether a filter holds on a row of keys: NONE, SURE, or UNSURE where leaves remain."""
    at = e[entry, ENTRY.START]
    end = at + e[entry, ENTRY.SIZE]
    best = SURE if at == end and e[entry, ENTRY.FLAGS] & FLAG.ALWAYS != 0 else NONE
    while at < end and best != SURE:
        state, last = SURE, False
        while not last:
            kind = r[at, ROW.KIND]
            last = kind & END != 0
            kind &= KIND_MASK
            slot = r[at, ROW.SLOT]
            if state == NONE:
                pass
            elif (there[row, slot] != 0) == (kind == KIND.MISSING):  # all others want it present
                state = NONE
            elif kind == KIND.RANGE:
                if keys[row, slot] < r[at, ROW.LOW] or keys[row, slot] > r[at, ROW.HIGH]:
                    state = NONE
            elif kind == KIND.EXCEPT:
                if keys[row, slot] == r[at, ROW.LOW]:
                    state = NONE
            elif kind == KIND.LATER:
                state = UNSURE
            elif kind <= KIND.NOT_SET:
                low, high = r[at, ROW.LOW], r[at, ROW.HIGH]
                while low < high:
                    middle = (low + high) >> 1
                    if sets[middle] < keys[row, slot]:
                        low = middle + 1
                    else:
                        high = middle
                inside = low < r[at, ROW.HIGH] and sets[low] == keys[row, slot]
                if inside != (kind == KIND.SET):
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
            start = n[node, NODE.START]
            counts[COST.VISITED] += 1
            counts[COST.CHECKED] += n[node, NODE.COUNT]
            for at in range(start, start + n[node, NODE.COUNT]):
                probe, child, state = i[at, ITEM.PROBE], i[at, ITEM.NUMBER], SURE
                if probe >= 0:
                    key = keys[row, probe >> 1]
                    if (
                        key < i[at, ITEM.LOW]
                        or key > i[at, ITEM.HIGH]
                        or not there[row, probe >> 1]
                    ):
                        continue
                entry = n[child, NODE.HEAD]
                if probe < 0 or probe & DECIDES == 0:
                    state = _state(e, r, sets, keys, there, row, entry)
                    if state == NONE:
                        continue
                while entry >= 0:
                    found[used] = 2 * entry + (1 if state == SURE else 0)
                    used += 1
                    entry = forest.e[entry, MEMBER.NEXT]
                if n[child, NODE.COUNT] > 0:
                    stack[depth] = child
                    depth += 1
        ends[row + 1] = used
    return keys.shape[0]
