"""The kernels that find what covers a filter and what it covers.

Whether one filter covers another is decided here where the outer one is a box, or a box with keys
left out. Where it is more than that, boxes tell only that it cannot, and the caller decides.

Source: CUPUS, section 4.4.1; steps A5 and A6 of the spec.
"""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.forest.layout import NODE
from wherecast.matching.trees.items import ITEM
from wherecast.matching.trees.row_layout import END, ENTRY, FLAG, KIND, KIND_MASK, ROW, SIDE

NONE, SURE, UNSURE = 0, 1, 2  # whether a filter covers another; UNSURE leaves it to the caller


@inner
def contains_box(rows, outer, inner):
    """Whether the box of one filter has that of another inside."""
    start, own = rows.e[outer, ENTRY.BOX], rows.e[inner, ENTRY.BOX]
    at, end = own, own + rows.e[inner, ENTRY.SIDES]
    for place in range(start, start + rows.e[outer, ENTRY.SIDES]):
        slot = rows.b[place, SIDE.SLOT]
        while at < end and rows.b[at, SIDE.SLOT] < slot:
            at += 1
        if at == end or rows.b[at, SIDE.SLOT] != slot:
            return False
        if (
            rows.b[at, SIDE.LOW] < rows.b[place, SIDE.LOW]
            or rows.b[at, SIDE.HIGH] > rows.b[place, SIDE.HIGH]
        ):
            return False
    return True


@njit(cache=True)
def is_conjunction(rows, entry):
    """Whether a filter is one conjunction of intervals, keys left out and attributes present."""
    end = rows.e[entry, ENTRY.START] + rows.e[entry, ENTRY.SIZE]
    for at in range(rows.e[entry, ENTRY.START], end):
        kind = rows.r[at, ROW.KIND] & KIND_MASK
        if kind != KIND.RANGE and kind != KIND.EXCEPT and kind != KIND.PRESENT:
            return False
        if rows.r[at, ROW.KIND] & END and at + 1 < end:
            return False
    return rows.e[entry, ENTRY.SIZE] > 0


@inner
def _leaves_out(rows, entry, slot, key):
    """Whether a filter holds on no value with a key: SURE, NONE or UNSURE."""
    start = rows.e[entry, ENTRY.BOX]
    for place in range(start, start + rows.e[entry, ENTRY.SIDES]):
        outside = key < rows.b[place, SIDE.LOW] or key > rows.b[place, SIDE.HIGH]
        if rows.b[place, SIDE.SLOT] == slot and outside:
            return SURE
    if not is_conjunction(rows, entry):
        return UNSURE
    start = rows.e[entry, ENTRY.START]
    for at in range(start, start + rows.e[entry, ENTRY.SIZE]):
        same = rows.r[at, ROW.SLOT] == slot and rows.r[at, ROW.LOW] == key
        if same and rows.r[at, ROW.KIND] & KIND_MASK == KIND.EXCEPT:
            return SURE
    return NONE


@inner
def covers(rows, outer, inner):
    """Whether a filter covers another that has its box in the other's: SURE, NONE or UNSURE."""
    if rows.e[outer, ENTRY.FLAGS] & FLAG.BOX or rows.e[outer, ENTRY.SIZE] == 0:
        return SURE
    if not is_conjunction(rows, outer):
        return UNSURE
    found, start = SURE, rows.e[outer, ENTRY.START]
    for at in range(start, start + rows.e[outer, ENTRY.SIZE]):
        if rows.r[at, ROW.KIND] & KIND_MASK == KIND.EXCEPT:
            state = _leaves_out(rows, inner, rows.r[at, ROW.SLOT], rows.r[at, ROW.LOW])
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
        end, found = forest.n[node, NODE.START] + forest.n[node, NODE.COUNT], -1
        while at < end and found < 0:
            probe = forest.i[at, ITEM.PROBE]
            if probe >= 0:
                slot = probe >> 1
                outside = (lows[slot] < forest.i[at, ITEM.LOW]) | (
                    highs[slot] > forest.i[at, ITEM.HIGH]
                )
                if outside or has[slot] == 0:
                    at += 1
                    continue
            head = forest.n[forest.i[at, ITEM.NUMBER], NODE.HEAD]
            if contains_box(rows, head, entry):
                state = covers(rows, head, entry)
                if state == UNSURE:
                    return UNSURE, node, at
                if state == SURE:
                    found = at
            at += 1
        if found < 0:
            return NONE, node, at
        node = forest.i[found, ITEM.NUMBER]
        at = forest.n[node, NODE.START]


@njit(cache=True)
def covered(forest, rows, entry, node, lows, highs, has, out):
    """Writes the children of a node that a filter covers or may cover; returns how many.

    Shapes: lows, highs, has as those of `descend`; out int64 [children, 2], with room for all: the
    child, and SURE or UNSURE.
    """
    count = 0
    for at in range(
        forest.n[node, NODE.START], forest.n[node, NODE.START] + forest.n[node, NODE.COUNT]
    ):
        slot = forest.i[at, ITEM.PROBE] >> 1
        outside = (forest.i[at, ITEM.LOW] < lows[slot]) | (forest.i[at, ITEM.HIGH] > highs[slot])
        if outside and slot >= 0 and has[slot] != 0:
            continue
        child = forest.i[at, ITEM.NUMBER]
        head = forest.n[child, NODE.HEAD]
        if contains_box(rows, entry, head):
            state = covers(rows, entry, head)
            if state != NONE:
                out[count, 0], out[count, 1] = child, state
                count += 1
    return count
