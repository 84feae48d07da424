"""The smallest steps on the arrays of a covering forest: nodes and filters come and go."""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.exact_kernels import E_BOX, E_SIDES
from wherecast.matching.trees.forest.layout import (
    E_NEXT,
    E_NODE,
    N_CLASS,
    N_COUNT,
    N_HEAD,
    N_PARENT,
    N_PLACE,
    N_SIZE,
    N_START,
    ForestState,
)
from wherecast.matching.trees.items import (
    give_stretch,
    is_full,
    move_item,
    take_stretch,
    write_item,
)

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


@njit(cache=True)
def drop_node(forest, node):
    """Gives a node without filters and children back."""
    give_stretch(forest.i, forest.free, forest.n[node, N_CLASS], forest.n[node, N_START])
    forest.n[node, N_PARENT] = forest.state[_FREE]
    forest.n[node, N_HEAD] = -2
    forest.state[_FREE] = node


@inner
def _widen(forest, node):
    """Moves the children of a node to a stretch twice as long."""
    kind, old = forest.n[node, N_CLASS], forest.n[node, N_START]
    used = forest.state[_ITEMS]
    start, forest.state[_ITEMS] = take_stretch(forest.i, forest.free, kind + 1, used)
    for place in range(forest.n[node, N_COUNT]):
        child = move_item(forest.i, old + place, start + place)
        forest.n[child, N_PLACE] = start + place
    give_stretch(forest.i, forest.free, kind, old)
    forest.n[node, N_START], forest.n[node, N_CLASS] = start, kind + 1


@njit(cache=True)
def attach(forest, rows, node, parent):
    """Puts a node below another."""
    count = forest.n[parent, N_COUNT]
    if is_full(forest.n[parent, N_CLASS], count):
        _widen(forest, parent)
    at, entry = forest.n[parent, N_START] + count, forest.n[node, N_HEAD]
    probe = rows.e[entry, E_BOX] if rows.e[entry, E_SIDES] > 0 else -1
    write_item(forest.i, at, node, rows, entry, probe)
    forest.n[parent, N_COUNT] = count + 1
    forest.n[node, N_PARENT], forest.n[node, N_PLACE] = parent, at


@njit(cache=True)
def detach(forest, node):
    """Takes a node from the one above it."""
    parent, at = forest.n[node, N_PARENT], forest.n[node, N_PLACE]
    last = forest.n[parent, N_START] + forest.n[parent, N_COUNT] - 1
    if at != last:
        forest.n[move_item(forest.i, last, at), N_PLACE] = at
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
