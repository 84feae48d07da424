"""The smallest steps on the arrays of a BE-Tree: nodes come and go, filters are put and taken.

`tests.unit.matching.trees.betree.twin` is the obvious twin of all of these kernels together.
"""

import numpy as np

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.betree.layout import CNODE, PLACE, PNODE, SPAN, TreeState
from wherecast.matching.trees.items import (
    give_stretch,
    is_full,
    move_item,
    take_stretch,
    write_item,
)
from wherecast.matching.trees.row_layout import ENTRY, SIDE

_C_USED, _C_FREE, _P_USED, _P_FREE, _ITEMS, _WAITING, _SEEN, _SAMPLED = (int(w) for w in TreeState)
_INT_MIN = -(2**63)


@inner
def value_of(tree, key):
    """The double of a key."""
    tree.bits[0] = key if key >= 0 else _INT_MIN - key
    return tree.double[0]


@inner
def key_of(tree, value):
    """The key of a finite double."""
    tree.double[0] = value + 0.0
    bits = tree.bits[0]
    return bits if bits >= 0 else _INT_MIN - bits


@inner
def side(rows, entry, slot):
    """Where the side of an entry's box on a slot stands, or -1."""
    start = rows.e[entry, ENTRY.BOX]
    for place in range(start, start + rows.e[entry, ENTRY.SIDES]):
        if rows.b[place, SIDE.SLOT] == slot:
            return place
    return -1


@inner
def encloses(tree, c, rows, place):
    """Whether a bucket's interval has a side of a box inside."""
    return (
        tree.c[c, CNODE.LOW] <= rows.b[place, SIDE.LOW]
        and rows.b[place, SIDE.HIGH] <= tree.c[c, CNODE.HIGH]
    )


@njit(cache=True)
def has_room(tree, items):
    """Whether two c-nodes, a p-node and some items can be made."""
    cs = tree.state[_C_USED] + 2 <= tree.c.shape[0]
    ps = tree.state[_P_USED] + 1 <= tree.p.shape[0]
    waits = tree.state[_WAITING] + 3 <= tree.waiting.shape[0]
    return cs and ps and waits and tree.state[_ITEMS] + items <= tree.i.shape[0]


@inner
def new_c(tree, limits, pnode, over, low, high, first, last):
    """A new c-node without filters."""
    c = tree.state[_C_FREE]
    if c >= 0:
        tree.state[_C_FREE] = tree.c[c, CNODE.LEFT]
    else:
        c = tree.state[_C_USED]
        tree.state[_C_USED] += 1
    tree.c[c, CNODE.PNODE], tree.c[c, CNODE.OVER] = pnode, over
    tree.c[c, CNODE.LEFT] = tree.c[c, CNODE.RIGHT] = tree.c[c, CNODE.FIRST] = -1
    tree.c[c, CNODE.DEPTH] = 0 if over < 0 else tree.c[over, CNODE.DEPTH] + 1
    tree.c[c, CNODE.LOW], tree.c[c, CNODE.HIGH] = low, high
    tree.f[c, SPAN.FROM], tree.f[c, SPAN.TO] = first, last
    tree.c[c, CNODE.START], tree.c[c, CNODE.COUNT], tree.c[c, CNODE.CLASS] = 0, 0, -1
    tree.c[c, CNODE.ROOM] = limits.leaf_max
    tree.c[c, CNODE.EQUAL] = tree.c[c, CNODE.INSIDE] = tree.c[c, CNODE.FALSE] = 0
    return c


@njit(cache=True)
def plant(tree, limits):
    """Makes the root."""
    tree.state[_C_FREE] = tree.state[_P_FREE] = -1
    tree.free[:] = -1
    new_c(tree, limits, -1, -1, 0, 0, 0.0, 0.0)


@inner
def drop_c(tree, c):
    """Gives an empty c-node back; what was sampled of it no longer counts above."""
    give_stretch(tree.i, tree.free, tree.c[c, CNODE.CLASS], tree.c[c, CNODE.START])
    tree.c[c, CNODE.CLASS] = -1
    lost, at = tree.c[c, CNODE.FALSE], tree.c[c, CNODE.PNODE]
    while lost != 0 and at >= 0:
        tree.p[at, PNODE.FALSE] -= lost
        at = tree.c[tree.p[at, PNODE.PARENT], CNODE.PNODE]
    tree.c[c, CNODE.LEFT] = tree.state[_C_FREE]
    tree.c[c, CNODE.PNODE] = -2
    tree.state[_C_FREE] = c


@inner
def _widen(tree, c):
    """Moves the items of a c-node to a stretch twice as long."""
    kind, old = tree.c[c, CNODE.CLASS], tree.c[c, CNODE.START]
    start, tree.state[_ITEMS] = take_stretch(tree.i, tree.free, kind + 1, tree.state[_ITEMS])
    for place in range(tree.c[c, CNODE.COUNT]):
        entry = move_item(tree.i, old + place, start + place)
        tree.e[entry, PLACE.PLACE] = start + place
    give_stretch(tree.i, tree.free, kind, old)
    tree.c[c, CNODE.START], tree.c[c, CNODE.CLASS] = start, kind + 1


@inner
def _probe(tree, rows, entry, c):
    """The side of a box to look at first: one that no bucket above has tested.

    Where all have been, the interval that takes the least part of its bucket. A single key comes
    last: many publications may have it.
    """
    best, least = -1, 2.0
    for place in range(
        rows.e[entry, ENTRY.BOX], rows.e[entry, ENTRY.BOX] + rows.e[entry, ENTRY.SIDES]
    ):
        slot, at = rows.b[place, SIDE.SLOT], c
        while tree.c[at, CNODE.PNODE] >= 0 and tree.p[tree.c[at, CNODE.PNODE], PNODE.SLOT] != slot:
            at = tree.p[tree.c[at, CNODE.PNODE], PNODE.PARENT]
        if tree.c[at, CNODE.PNODE] < 0:
            return place
        part = 1.0
        if rows.b[place, SIDE.LOW] < rows.b[place, SIDE.HIGH]:
            part = _width(rows.b[place, SIDE.LOW], rows.b[place, SIDE.HIGH]) / _width(
                tree.c[at, CNODE.LOW], tree.c[at, CNODE.HIGH]
            )
        if best < 0 or part < least:
            best, least = place, part
    return best


@inner
def _width(low, high):
    """How many keys there are between two, in floats: it may be more than an int64 holds."""
    return np.float64(high) - np.float64(low)


@inner
def _tally(tree, rows, entry, c, sign):
    """Counts an entry of a c-node's l-node in the scores above it, or no longer."""
    equal, inside, at = 0, 0, c
    while tree.c[at, CNODE.PNODE] >= 0:
        p = tree.c[at, CNODE.PNODE]
        place = side(rows, entry, tree.p[p, PNODE.SLOT])
        if (
            tree.c[at, CNODE.LOW] == rows.b[place, SIDE.LOW]
            and tree.c[at, CNODE.HIGH] == rows.b[place, SIDE.HIGH]
        ):
            equal += 1
        else:
            inside += 1
        at = tree.p[p, PNODE.PARENT]
    tree.c[c, CNODE.EQUAL] += sign * equal
    tree.c[c, CNODE.INSIDE] += sign * inside
    p = tree.c[c, CNODE.PNODE]
    while p >= 0:
        tree.p[p, PNODE.COUNT] += sign
        tree.p[p, PNODE.EQUAL] += sign * equal
        tree.p[p, PNODE.INSIDE] += sign * inside
        p = tree.c[tree.p[p, PNODE.PARENT], CNODE.PNODE]


@inner
def put_entry(tree, rows, entry, c):
    """Puts an entry to the l-node of a c-node."""
    count = tree.c[c, CNODE.COUNT]
    if is_full(tree.c[c, CNODE.CLASS], count):
        _widen(tree, c)
    at = tree.c[c, CNODE.START] + count
    write_item(tree.i, at, entry, rows, entry, _probe(tree, rows, entry, c))
    tree.c[c, CNODE.COUNT] = count + 1
    tree.e[entry, PLACE.NODE], tree.e[entry, PLACE.PLACE] = c, at
    _tally(tree, rows, entry, c, 1)


@inner
def take_entry(tree, rows, entry):
    """Takes an entry from its l-node."""
    c, at = tree.e[entry, PLACE.NODE], tree.e[entry, PLACE.PLACE]
    last = tree.c[c, CNODE.START] + tree.c[c, CNODE.COUNT] - 1
    if at != last:
        tree.e[move_item(tree.i, last, at), PLACE.PLACE] = at
    tree.c[c, CNODE.COUNT] -= 1
    tree.e[entry, PLACE.NODE] = -1
    _tally(tree, rows, entry, c, -1)


@njit(cache=True)
def score(tree, limits, p):
    """The score of a p-node: Gain of its branch, less Loss per sampled publication."""
    gain = (1.0 - limits.beta) * tree.p[p, PNODE.EQUAL] + limits.beta * tree.p[p, PNODE.INSIDE]
    loss = tree.p[p, PNODE.FALSE] / max(1, tree.state[_SAMPLED])
    return (1.0 - limits.alpha) * gain - limits.alpha * loss


@njit(cache=True)
def add_p(tree, domains, limits, c, slot):
    """A new p-node of a c-node, with the bucket that spans its domain."""
    p = tree.state[_P_FREE]
    if p >= 0:
        tree.state[_P_FREE] = tree.p[p, PNODE.NEXT]
    else:
        p = tree.state[_P_USED]
        tree.state[_P_USED] += 1
    tree.p[p, PNODE.SLOT], tree.p[p, PNODE.PARENT], tree.p[p, PNODE.NEXT] = (
        slot,
        c,
        tree.c[c, CNODE.FIRST],
    )
    tree.c[c, CNODE.FIRST] = p
    tree.p[p, PNODE.COUNT] = tree.p[p, PNODE.EQUAL] = tree.p[p, PNODE.INSIDE] = 0
    tree.p[p, PNODE.FALSE] = tree.p[p, PNODE.CHECKED] = 0
    tree.p[p, PNODE.ROOT] = new_c(
        tree, limits, p, -1, domains.least[slot], domains.most[slot], domains.first[slot],
        domains.last[slot],
    )  # fmt: skip
    return p


@njit(cache=True)
def halve_at(tree, limits, c, split, ends):
    """Gives a bucket its halves: the keys up to one, and those after it.

    `ends` are the numbers that each half spans: from, to, from, to.
    """
    p = tree.c[c, CNODE.PNODE]
    tree.c[c, CNODE.LEFT] = new_c(tree, limits, p, c, tree.c[c, CNODE.LOW], split, ends[0], ends[1])
    tree.c[c, CNODE.RIGHT] = new_c(
        tree, limits, p, c, split + 1, tree.c[c, CNODE.HIGH], ends[2], ends[3]
    )
