"""The smallest steps on the arrays of a covering forest: nodes and filters come and go."""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.forest.layout import MEMBER, NODE, ForestState
from wherecast.matching.trees.items import (
    give_stretch,
    is_full,
    move_item,
    take_stretch,
    write_item,
)
from wherecast.matching.trees.row_layout import ENTRY

_USED, _FREE, _ITEMS = (int(word) for word in ForestState)


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
        forest.state[_FREE] = forest.n[node, NODE.PARENT]
    else:
        node = forest.state[_USED]
        forest.state[_USED] += 1
    forest.n[node, NODE.PARENT] = forest.n[node, NODE.PLACE] = forest.n[node, NODE.HEAD] = -1
    forest.n[node, NODE.SIZE] = forest.n[node, NODE.START] = forest.n[node, NODE.COUNT] = 0
    forest.n[node, NODE.CLASS] = -1
    return node


@njit(cache=True)
def plant_forest(forest):
    """Makes the node above all roots."""
    forest.state[_FREE] = -1
    forest.free[:] = -1
    new_node(forest)


@njit(cache=True)
def drop_node(forest, node):
    """Gives a node without filters and children back."""
    give_stretch(forest.i, forest.free, forest.n[node, NODE.CLASS], forest.n[node, NODE.START])
    forest.n[node, NODE.PARENT] = forest.state[_FREE]
    forest.n[node, NODE.HEAD] = -2
    forest.state[_FREE] = node


@inner
def _widen(forest, node):
    """Moves the children of a node to a stretch twice as long."""
    kind, old = forest.n[node, NODE.CLASS], forest.n[node, NODE.START]
    used = forest.state[_ITEMS]
    start, forest.state[_ITEMS] = take_stretch(forest.i, forest.free, kind + 1, used)
    for place in range(forest.n[node, NODE.COUNT]):
        child = move_item(forest.i, old + place, start + place)
        forest.n[child, NODE.PLACE] = start + place
    give_stretch(forest.i, forest.free, kind, old)
    forest.n[node, NODE.START], forest.n[node, NODE.CLASS] = start, kind + 1


@njit(cache=True)
def attach(forest, rows, node, parent):
    """Puts a node below another."""
    count = forest.n[parent, NODE.COUNT]
    if is_full(forest.n[parent, NODE.CLASS], count):
        _widen(forest, parent)
    at, entry = forest.n[parent, NODE.START] + count, forest.n[node, NODE.HEAD]
    probe = rows.e[entry, ENTRY.BOX] if rows.e[entry, ENTRY.SIDES] > 0 else -1
    write_item(forest.i, at, node, rows, entry, probe)
    forest.n[parent, NODE.COUNT] = count + 1
    forest.n[node, NODE.PARENT], forest.n[node, NODE.PLACE] = parent, at


@njit(cache=True)
def detach(forest, node):
    """Takes a node from the one above it."""
    parent, at = forest.n[node, NODE.PARENT], forest.n[node, NODE.PLACE]
    last = forest.n[parent, NODE.START] + forest.n[parent, NODE.COUNT] - 1
    if at != last:
        forest.n[move_item(forest.i, last, at), NODE.PLACE] = at
    forest.n[parent, NODE.COUNT] -= 1
    forest.n[node, NODE.PARENT] = forest.n[node, NODE.PLACE] = -1


@njit(cache=True)
def join(forest, entry, node):
    """Puts a filter to a node."""
    forest.e[entry, MEMBER.NEXT] = forest.n[node, NODE.HEAD]
    forest.n[node, NODE.HEAD] = entry
    forest.n[node, NODE.SIZE] += 1
    forest.e[entry, MEMBER.NODE] = node


@njit(cache=True)
def leave(forest, entry):
    """Takes a filter from its node; returns how many the node has then."""
    node = forest.e[entry, MEMBER.NODE]
    if forest.n[node, NODE.HEAD] == entry:
        forest.n[node, NODE.HEAD] = forest.e[entry, MEMBER.NEXT]
    else:
        at = forest.n[node, NODE.HEAD]
        while forest.e[at, MEMBER.NEXT] != entry:
            at = forest.e[at, MEMBER.NEXT]
        forest.e[at, MEMBER.NEXT] = forest.e[entry, MEMBER.NEXT]
    forest.e[entry, MEMBER.NODE] = -1
    forest.n[node, NODE.SIZE] -= 1
    return forest.n[node, NODE.SIZE]
