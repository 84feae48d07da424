"""The kernels that find what covers a filter and what it covers.

Whether one filter covers another is decided here where the outer one is a box, or a box with keys
left out. Where it is more than that, boxes tell only that it cannot, and the caller decides.

Source: CUPUS, section 4.4.1; steps A5 and A6 of the spec.
"""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.exact_kernels import (
    B_HIGH,
    B_LOW,
    B_SLOT,
    BOX,
    E_BOX,
    E_FLAGS,
    E_SIDES,
    E_SIZE,
    E_START,
    END,
    EXCEPT,
    KIND_MASK,
    PRESENT,
    R_KIND,
    R_LOW,
    R_SLOT,
    RANGE,
)
from wherecast.matching.trees.forest.layout import N_COUNT, N_HEAD, N_START
from wherecast.matching.trees.items import I_HIGH, I_LOW, I_NUMBER, I_PROBE

NONE, SURE, UNSURE = 0, 1, 2  # whether a filter covers another; UNSURE leaves it to the caller


@inner
def contains_box(rows, outer, inner):
    """Whether the box of one filter has that of another inside."""
    start, own = rows.e[outer, E_BOX], rows.e[inner, E_BOX]
    at, end = own, own + rows.e[inner, E_SIDES]
    for place in range(start, start + rows.e[outer, E_SIDES]):
        slot = rows.b[place, B_SLOT]
        while at < end and rows.b[at, B_SLOT] < slot:
            at += 1
        if at == end or rows.b[at, B_SLOT] != slot:
            return False
        if rows.b[at, B_LOW] < rows.b[place, B_LOW] or rows.b[at, B_HIGH] > rows.b[place, B_HIGH]:
            return False
    return True


@njit(cache=True)
def is_conjunction(rows, entry):
    """Whether a filter is one conjunction of intervals, keys left out and attributes present."""
    end = rows.e[entry, E_START] + rows.e[entry, E_SIZE]
    for at in range(rows.e[entry, E_START], end):
        kind = rows.r[at, R_KIND] & KIND_MASK
        if kind != RANGE and kind != EXCEPT and kind != PRESENT:
            return False
        if rows.r[at, R_KIND] & END and at + 1 < end:
            return False
    return rows.e[entry, E_SIZE] > 0


@inner
def _leaves_out(rows, entry, slot, key):
    """Whether a filter holds on no value with a key: SURE, NONE or UNSURE."""
    start = rows.e[entry, E_BOX]
    for place in range(start, start + rows.e[entry, E_SIDES]):
        outside = key < rows.b[place, B_LOW] or key > rows.b[place, B_HIGH]
        if rows.b[place, B_SLOT] == slot and outside:
            return SURE
    if not is_conjunction(rows, entry):
        return UNSURE
    start = rows.e[entry, E_START]
    for at in range(start, start + rows.e[entry, E_SIZE]):
        same = rows.r[at, R_SLOT] == slot and rows.r[at, R_LOW] == key
        if same and rows.r[at, R_KIND] & KIND_MASK == EXCEPT:
            return SURE
    return NONE


@inner
def covers(rows, outer, inner):
    """Whether a filter covers another that has its box in the other's: SURE, NONE or UNSURE."""
    if rows.e[outer, E_FLAGS] & BOX or rows.e[outer, E_SIZE] == 0:
        return SURE
    if not is_conjunction(rows, outer):
        return UNSURE
    found, start = SURE, rows.e[outer, E_START]
    for at in range(start, start + rows.e[outer, E_SIZE]):
        if rows.r[at, R_KIND] & KIND_MASK == EXCEPT:
            state = _leaves_out(rows, inner, rows.r[at, R_SLOT], rows.r[at, R_LOW])
            if state == NONE:
                return NONE
            if state == UNSURE:
                found = UNSURE
    return found


@njit(cache=True)
def descend(forest, rows, entry, node, begin, lows, highs, has):
    """Goes down from a node to what covers a filter: (NONE or UNSURE, the node, the item).

    Looks at the children from an item on. UNSURE asks the caller whether the child there covers
    the filter. Both ends of a probe are compared before the one branch, which then nearly always
    goes the same way.

    Shapes: lows, highs int64, has uint8 [slots]: the box of the filter.
    """
    at = begin
    while True:
        end, found = forest.n[node, N_START] + forest.n[node, N_COUNT], -1
        while at < end and found < 0:
            probe = forest.i[at, I_PROBE]
            if probe >= 0:
                slot = probe >> 1
                outside = (lows[slot] < forest.i[at, I_LOW]) | (highs[slot] > forest.i[at, I_HIGH])
                if outside or has[slot] == 0:
                    at += 1
                    continue
            head = forest.n[forest.i[at, I_NUMBER], N_HEAD]
            if contains_box(rows, head, entry):
                state = covers(rows, head, entry)
                if state == UNSURE:
                    return UNSURE, node, at
                if state == SURE:
                    found = at
            at += 1
        if found < 0:
            return NONE, node, at
        node = forest.i[found, I_NUMBER]
        at = forest.n[node, N_START]


@njit(cache=True)
def covered(forest, rows, entry, node, lows, highs, has, out):
    """Writes the children of a node that a filter covers or may cover; returns how many.

    Shapes: lows, highs, has as those of `descend`; out int64 [children, 2], with room for all: the
    child, and SURE or UNSURE.
    """
    count = 0
    for at in range(forest.n[node, N_START], forest.n[node, N_START] + forest.n[node, N_COUNT]):
        slot = forest.i[at, I_PROBE] >> 1
        outside = (forest.i[at, I_LOW] < lows[slot]) | (forest.i[at, I_HIGH] > highs[slot])
        if outside and slot >= 0 and has[slot] != 0:
            continue
        child = forest.i[at, I_NUMBER]
        head = forest.n[child, N_HEAD]
        if contains_box(rows, entry, head):
            state = covers(rows, entry, head)
            if state != NONE:
                out[count, 0], out[count, 1] = child, state
                count += 1
    return count
