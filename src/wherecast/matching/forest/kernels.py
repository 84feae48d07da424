"""The kernels of the covering forest: finding what covers and what is covered, and matching.

Whether one filter covers another is decided here where both are boxes. Where one is more than that,
boxes tell only that it cannot, and the caller decides the others.

Source: CUPUS, section 4.4.1; steps A5 and A6 of the spec.
"""

from wherecast.matching.exact.compiled import inner, njit
from wherecast.matching.exact.kernels import (
    ALWAYS,
    B_HIGH,
    B_LOW,
    B_SLOT,
    BOX,
    CHECKED,
    E_BOX,
    E_FLAGS,
    E_SIDES,
    E_SIZE,
    E_START,
    END,
    EXCEPT,
    KIND_MASK,
    LATER,
    MISSING,
    NOT_SET,
    PLAIN,
    R_HIGH,
    R_KIND,
    R_LOW,
    R_SLOT,
    RANGE,
    SET,
    VISITED,
)
from wherecast.matching.forest.layout import (
    DECIDES,
    E_NEXT,
    E_NODE,
    FIRST_SIZE,
    I_HIGH,
    I_LOW,
    I_NODE,
    I_PROBE,
    N_CLASS,
    N_COUNT,
    N_HEAD,
    N_PARENT,
    N_PLACE,
    N_SIZE,
    N_START,
    NO_PROBE,
    TOP,
    State,
)

_USED, _FREE, _ITEMS = (int(word) for word in State)
_TOP, _FIRST, _NO_PROBE, _DECIDES = TOP, FIRST_SIZE, NO_PROBE, DECIDES
NONE, SURE, UNSURE = 0, 1, 2


@njit(cache=True)
def has_items(forest, count):
    """Whether a node and so many items can be made."""
    nodes = forest.state[_USED] + 1 <= forest.n.shape[0]
    return nodes and forest.state[_ITEMS] + count <= forest.i.shape[0]


@njit(cache=True)
def new_node(forest):
    """A node without filters, in no place."""
    node = forest.state[_FREE]
    if node >= 0:
        forest.state[_FREE] = forest.n[node, N_PARENT]
    else:
        node = forest.state[_USED]
        forest.state[_USED] += 1
    forest.n[node, N_PARENT] = forest.n[node, N_PLACE] = forest.n[node, N_HEAD] = -1
    forest.n[node, N_SIZE] = forest.n[node, N_START] = forest.n[node, N_COUNT] = 0
    forest.n[node, N_CLASS] = -1
    return node


@njit(cache=True)
def plant_forest(forest):
    """Makes the node above all roots."""
    forest.state[_FREE] = -1
    forest.free[:] = -1
    new_node(forest)


@inner
def _free_stretch(forest, node):
    kind = forest.n[node, N_CLASS]
    if kind >= 0:
        forest.i[forest.n[node, N_START], I_NODE] = forest.free[kind]
        forest.free[kind] = forest.n[node, N_START]
        forest.n[node, N_CLASS] = -1


@njit(cache=True)
def drop_node(forest, node):
    """Gives a node without filters and children back."""
    _free_stretch(forest, node)
    forest.n[node, N_PARENT] = forest.state[_FREE]
    forest.n[node, N_HEAD] = -2
    forest.state[_FREE] = node


@inner
def _stretch(forest, node):
    """Moves the children of a node to a stretch twice as long."""
    kind = forest.n[node, N_CLASS] + 1
    start = forest.free[kind]
    if start >= 0:
        forest.free[kind] = forest.i[start, I_NODE]
    else:
        start = forest.state[_ITEMS]
        forest.state[_ITEMS] += _FIRST << kind
    old = forest.n[node, N_START]
    for place in range(forest.n[node, N_COUNT]):
        child = forest.i[old + place, I_NODE]
        forest.i[start + place, I_NODE] = child
        forest.i[start + place, I_PROBE] = forest.i[old + place, I_PROBE]
        forest.i[start + place, I_LOW] = forest.i[old + place, I_LOW]
        forest.i[start + place, I_HIGH] = forest.i[old + place, I_HIGH]
        forest.n[child, N_PLACE] = start + place
    _free_stretch(forest, node)
    forest.n[node, N_START], forest.n[node, N_CLASS] = start, kind


@njit(cache=True)
def attach(forest, rows, node, parent):
    """Puts a node below another."""
    count = forest.n[parent, N_COUNT]
    if forest.n[parent, N_CLASS] < 0 or count == _FIRST << forest.n[parent, N_CLASS]:
        _stretch(forest, parent)
    at, entry = forest.n[parent, N_START] + count, forest.n[node, N_HEAD]
    forest.i[at, I_NODE] = node
    forest.i[at, I_PROBE], forest.i[at, I_LOW], forest.i[at, I_HIGH] = _NO_PROBE, 0, 0
    if rows.e[entry, E_SIDES] > 0:
        place = rows.e[entry, E_BOX]
        decides = _DECIDES if rows.e[entry, E_FLAGS] & PLAIN else 0
        forest.i[at, I_PROBE] = 2 * rows.b[place, B_SLOT] + decides
        forest.i[at, I_LOW], forest.i[at, I_HIGH] = rows.b[place, B_LOW], rows.b[place, B_HIGH]
    forest.n[parent, N_COUNT] = count + 1
    forest.n[node, N_PARENT], forest.n[node, N_PLACE] = parent, at


@njit(cache=True)
def detach(forest, node):
    """Takes a node from the one above it."""
    parent, at = forest.n[node, N_PARENT], forest.n[node, N_PLACE]
    last = forest.n[parent, N_START] + forest.n[parent, N_COUNT] - 1
    if at != last:
        other = forest.i[last, I_NODE]
        forest.i[at, I_NODE], forest.i[at, I_PROBE] = other, forest.i[last, I_PROBE]
        forest.i[at, I_LOW], forest.i[at, I_HIGH] = forest.i[last, I_LOW], forest.i[last, I_HIGH]
        forest.n[other, N_PLACE] = at
    forest.n[parent, N_COUNT] -= 1
    forest.n[node, N_PARENT] = forest.n[node, N_PLACE] = -1


@njit(cache=True)
def join(forest, entry, node):
    """Puts a filter to a node."""
    forest.e[entry, E_NEXT] = forest.n[node, N_HEAD]
    forest.n[node, N_HEAD] = entry
    forest.n[node, N_SIZE] += 1
    forest.e[entry, E_NODE] = node


@njit(cache=True)
def leave(forest, entry):
    """Takes a filter from its node; returns how many the node has then."""
    node = forest.e[entry, E_NODE]
    if forest.n[node, N_HEAD] == entry:
        forest.n[node, N_HEAD] = forest.e[entry, E_NEXT]
    else:
        at = forest.n[node, N_HEAD]
        while forest.e[at, E_NEXT] != entry:
            at = forest.e[at, E_NEXT]
        forest.e[at, E_NEXT] = forest.e[entry, E_NEXT]
    forest.e[entry, E_NODE] = -1
    forest.n[node, N_SIZE] -= 1
    return forest.n[node, N_SIZE]


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
            head = forest.n[forest.i[at, I_NODE], N_HEAD]
            if contains_box(rows, head, entry):
                # a box covers whatever has its own box inside
                if rows.e[head, E_FLAGS] & BOX == 0 and rows.e[head, E_SIZE] > 0:
                    return UNSURE, node, at
                found = at
            at += 1
        if found < 0:
            return NONE, node, at
        node = forest.i[found, I_NODE]
        at = forest.n[node, N_START]


@njit(cache=True)
def covered(forest, rows, entry, node, out):
    """Writes the children of a node whose boxes lie in that of a filter; returns how many.

    Shapes: out int32, with room for all children.
    """
    count = 0
    for at in range(forest.n[node, N_START], forest.n[node, N_START] + forest.n[node, N_COUNT]):
        child = forest.i[at, I_NODE]
        if contains_box(rows, entry, forest.n[child, N_HEAD]):
            out[count] = child
            count += 1
    return count


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
        stack[0] = _TOP
        while depth > 0:
            depth -= 1
            node = stack[depth]
            start = n[node, N_START]
            counts[VISITED] += 1
            counts[CHECKED] += n[node, N_COUNT]
            for at in range(start, start + n[node, N_COUNT]):
                probe, child, state = i[at, I_PROBE], i[at, I_NODE], SURE
                if probe >= 0:
                    key = keys[row, probe >> 1]
                    if key < i[at, I_LOW] or key > i[at, I_HIGH] or not there[row, probe >> 1]:
                        continue
                entry = n[child, N_HEAD]
                if probe < 0 or probe & _DECIDES == 0:
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
