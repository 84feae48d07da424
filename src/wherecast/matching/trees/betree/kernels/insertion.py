"""The kernels that make a BE-Tree grow: insertion, clustering and partitioning.

A kernel that needs more room than there is stops in a consistent state and says so; the caller
makes room and goes on.

Source: elastic BE-Tree, sections 2.2 and 6.2 (algorithms A6 to A9 of the spec).
"""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.betree.kernels.halving import crowd, halve, reach
from wherecast.matching.trees.betree.kernels.nodes import (
    add_p,
    encloses,
    halve_at,
    has_room,
    put_entry,
    score,
    side,
    take_entry,
)
from wherecast.matching.trees.betree.layout import CNODE, PLACE, PNODE, ROOT, TreeState
from wherecast.matching.trees.items import FIRST_SIZE, ITEM
from wherecast.matching.trees.row_layout import ENTRY, FLAG, SIDE

_WAITING = int(TreeState.WAITING)
_ROOT, _FIRST = ROOT, FIRST_SIZE


@inner
def _place_of(tree, rows, limits, entry):
    """The c-node that the insertion rule leads an entry to."""
    c = _ROOT
    while True:
        best, best_score, p = -1, 0.0, tree.c[c, CNODE.FIRST]
        while p >= 0:
            if side(rows, entry, tree.p[p, PNODE.SLOT]) >= 0:
                own = score(tree, limits, p)
                first = best < 0 or own > best_score
                if first or (
                    own == best_score and tree.p[p, PNODE.SLOT] < tree.p[best, PNODE.SLOT]
                ):
                    best, best_score = p, own
            p = tree.p[p, PNODE.NEXT]
        if best < 0:
            return c
        c = tree.p[best, PNODE.ROOT]
        place = side(rows, entry, tree.p[best, PNODE.SLOT])
        while tree.c[c, CNODE.LEFT] >= 0:
            if encloses(tree, tree.c[c, CNODE.LEFT], rows, place):
                c = tree.c[c, CNODE.LEFT]
            elif encloses(tree, tree.c[c, CNODE.RIGHT], rows, place):
                c = tree.c[c, CNODE.RIGHT]
            else:
                break


@inner
def _cluster(tree, rows, domains, limits, c):
    """Halves a leaf bucket where some of its filters fit into a half; pushes both halves."""
    if (
        tree.c[c, CNODE.PNODE] < 0
        or tree.c[c, CNODE.LEFT] >= 0
        or tree.c[c, CNODE.DEPTH] >= limits.depth_max
    ):
        return
    p = tree.c[c, CNODE.PNODE]
    slot = tree.p[p, PNODE.SLOT]
    first, last = reach(tree, rows, domains, c)
    fine, left_end, right_end, split = halve(tree, domains, slot, first, last)
    if not fine or split < tree.c[c, CNODE.LOW] or split >= tree.c[c, CNODE.HIGH]:
        return
    moving = 0
    for at in range(tree.c[c, CNODE.START], tree.c[c, CNODE.START] + tree.c[c, CNODE.COUNT]):
        place = side(rows, tree.i[at, ITEM.NUMBER], slot)
        moving += rows.b[place, SIDE.HIGH] <= split or rows.b[place, SIDE.LOW] > split
    if moving == 0:
        return
    halve_at(tree, limits, c, split, (first, left_end, right_end, last))
    left, right = tree.c[c, CNODE.LEFT], tree.c[c, CNODE.RIGHT]
    for at in range(
        tree.c[c, CNODE.START] + tree.c[c, CNODE.COUNT] - 1, tree.c[c, CNODE.START] - 1, -1
    ):
        entry = tree.i[at, ITEM.NUMBER]
        place = side(rows, entry, slot)
        if rows.b[place, SIDE.HIGH] <= split:
            take_entry(tree, rows, entry)
            put_entry(tree, rows, entry, left)
        elif rows.b[place, SIDE.LOW] > split:
            take_entry(tree, rows, entry)
            put_entry(tree, rows, entry, right)
    _wait(tree, left)
    _wait(tree, right)


@inner
def _wait(tree, c):
    tree.waiting[tree.state[_WAITING]] = c
    tree.state[_WAITING] += 1


@inner
def _is_above(tree, c, slot):
    """Whether an attribute partitions the tree above a c-node, or in it."""
    p = tree.c[c, CNODE.FIRST]
    while p >= 0:
        if tree.p[p, PNODE.SLOT] == slot:
            return True
        p = tree.p[p, PNODE.NEXT]
    p = tree.c[c, CNODE.PNODE]
    while p >= 0:
        if tree.p[p, PNODE.SLOT] == slot:
            return True
        p = tree.c[tree.p[p, PNODE.PARENT], CNODE.PNODE]
    return False


@inner
def _attribute(tree, rows, domains, limits, c, counts):
    """The attribute that most filters of an l-node use, of those that are not used above; or -1.

    Of attributes that are used alike, the one that spreads the filters best.
    """
    counts[:] = 0
    for at in range(tree.c[c, CNODE.START], tree.c[c, CNODE.START] + tree.c[c, CNODE.COUNT]):
        start = rows.e[tree.i[at, ITEM.NUMBER], ENTRY.BOX]
        for place in range(start, start + rows.e[tree.i[at, ITEM.NUMBER], ENTRY.SIDES]):
            counts[rows.b[place, SIDE.SLOT]] += 1
    best, least = -1, 0
    for slot in range(counts.shape[0]):
        count = counts[slot]
        if count < limits.leaf_min or (best >= 0 and count < counts[best]):
            continue
        if _is_above(tree, c, slot):
            continue
        meeting = crowd(tree, rows, domains, c, slot)
        if best < 0 or count > counts[best] or meeting < least:
            best, least = slot, meeting
    return best


@njit(cache=True)
def settle(tree, rows, domains, limits, counts):
    """Clusters and partitions the c-nodes that wait; False where room must be made first."""
    while tree.state[_WAITING] > 0:
        c = tree.waiting[tree.state[_WAITING] - 1]
        if tree.c[c, CNODE.COUNT] <= tree.c[c, CNODE.ROOM]:
            tree.state[_WAITING] -= 1
            continue
        if not has_room(tree, 8 * (tree.c[c, CNODE.COUNT] + _FIRST)):
            return False
        before = tree.state[_WAITING]
        _cluster(tree, rows, domains, limits, c)
        if tree.state[_WAITING] > before:
            continue
        slot = -1
        if tree.c[c, CNODE.COUNT] > tree.c[c, CNODE.ROOM]:
            slot = _attribute(tree, rows, domains, limits, c, counts)
        if slot < 0:
            full = limits.leaf_max
            tree.c[c, CNODE.ROOM] = max(full, (tree.c[c, CNODE.COUNT] + full - 1) // full * full)
            continue
        root = tree.p[add_p(tree, domains, limits, c, slot), PNODE.ROOT]
        for at in range(
            tree.c[c, CNODE.START] + tree.c[c, CNODE.COUNT] - 1, tree.c[c, CNODE.START] - 1, -1
        ):
            entry = tree.i[at, ITEM.NUMBER]
            if side(rows, entry, slot) >= 0:
                take_entry(tree, rows, entry)
                put_entry(tree, rows, entry, root)
        _wait(tree, root)
    return True


@njit(cache=True)
def insert(tree, rows, domains, limits, begin, end, counts):
    """Inserts entries; returns the first that is left to do, where room must be made."""
    for entry in range(begin, end):
        if not settle(tree, rows, domains, limits, counts):
            return entry
        if rows.e[entry, ENTRY.FLAGS] & FLAG.NEVER:
            tree.e[entry, PLACE.NODE] = -1
            continue
        c = _place_of(tree, rows, limits, entry)
        if not has_room(tree, 4 * (tree.c[c, CNODE.COUNT] + _FIRST)):
            return entry
        put_entry(tree, rows, entry, c)
        if tree.c[c, CNODE.COUNT] > tree.c[c, CNODE.ROOM]:
            _wait(tree, c)
    settle(tree, rows, domains, limits, counts)
    return end


@njit(cache=True)
def put(tree, rows, domains, begin, end, nodes):
    """Puts entries to the c-nodes that are given, where those enclose them.

    Returns the first that is left to do; an entry that does not fit into its c-node stays out.
    """
    for entry in range(begin, end):
        c = nodes[entry - begin]
        if rows.e[entry, ENTRY.FLAGS] & FLAG.NEVER or c < 0:
            tree.e[entry, PLACE.NODE] = -1
            continue
        if not has_room(tree, 4 * (tree.c[c, CNODE.COUNT] + _FIRST)):
            return entry
        fits, at = True, c
        while fits and tree.c[at, CNODE.PNODE] >= 0:
            p = tree.c[at, CNODE.PNODE]
            place = side(rows, entry, tree.p[p, PNODE.SLOT])
            fits = place >= 0 and encloses(tree, at, rows, place)
            at = tree.p[p, PNODE.PARENT]
        tree.e[entry, PLACE.NODE] = -1
        if fits:
            put_entry(tree, rows, entry, c)
    return end
