"""The kernels that find what covers a filter and what it covers.

Whether one filter covers another is decided here where both are boxes. Where one is more than that,
boxes tell only that it cannot, and the caller decides the others.

Source: CUPUS, section 4.4.1; steps A5 and A6 of the spec.
"""

from wherecast.matching.exact.compiled import inner, njit
from wherecast.matching.exact.items import I_HIGH, I_LOW, I_NUMBER, I_PROBE
from wherecast.matching.exact.kernels import (
    B_HIGH,
    B_LOW,
    B_SLOT,
    BOX,
    E_BOX,
    E_FLAGS,
    E_SIDES,
    E_SIZE,
)
from wherecast.matching.forest.layout import N_COUNT, N_HEAD, N_START

NONE, UNSURE = 0, 1  # whether the caller must decide


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
def descend(forest, rows, entry, node, begin, lows, highs, has):
    """Goes down from a node to what covers a filter: (NONE or UNSURE, the node, the item).

    Looks at the children from an item on. UNSURE asks the caller whether the child there covers
    the filter.

    Shapes: lows, highs int64, has uint8 [slots]: the box of the filter.
    """
    at = begin
    while True:
        end, found = forest.n[node, N_START] + forest.n[node, N_COUNT], -1
        while at < end and found < 0:
            probe = forest.i[at, I_PROBE]
            if probe >= 0:
                slot = probe >> 1
                outside = lows[slot] < forest.i[at, I_LOW] or highs[slot] > forest.i[at, I_HIGH]
                if has[slot] == 0 or outside:
                    at += 1
                    continue
            head = forest.n[forest.i[at, I_NUMBER], N_HEAD]
            if contains_box(rows, head, entry):
                # a box covers whatever has its own box inside
                if rows.e[head, E_FLAGS] & BOX == 0 and rows.e[head, E_SIZE] > 0:
                    return UNSURE, node, at
                found = at
            at += 1
        if found < 0:
            return NONE, node, at
        node = forest.i[found, I_NUMBER]
        at = forest.n[node, N_START]


@njit(cache=True)
def covered(forest, rows, entry, node, out):
    """Writes the children of a node whose boxes lie in that of a filter; returns how many.

    Shapes: out int32, with room for all children.
    """
    count = 0
    for at in range(forest.n[node, N_START], forest.n[node, N_START] + forest.n[node, N_COUNT]):
        child = forest.i[at, I_NUMBER]
        if contains_box(rows, entry, forest.n[child, N_HEAD]):
            out[count] = child
            count += 1
    return count
