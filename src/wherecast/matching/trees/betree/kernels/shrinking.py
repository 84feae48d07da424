"""The kernels that make a BE-Tree shrink: removal, folding, and cutting a branch off.

Source: elastic BE-Tree, section 6.2 (algorithm A10 of the spec). Two leaf buckets are folded into
theirs where all three have few filters and no p-nodes, or both are empty.
"""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.betree.kernels.nodes import drop_c, has_room, put_entry, take_entry
from wherecast.matching.trees.betree.layout import (
    C_COUNT,
    C_FALSE,
    C_FIRST,
    C_LEFT,
    C_OVER,
    C_PNODE,
    C_RIGHT,
    C_ROOM,
    C_START,
    E_NODE,
    P_COUNT,
    P_NEXT,
    P_PARENT,
    P_ROOT,
    P_SLOT,
    TreeState,
)
from wherecast.matching.trees.items import FIRST_SIZE, I_NUMBER

_P_FREE, _FIRST = int(TreeState.P_FREE), FIRST_SIZE


@inner
def _is_plain(tree, c):
    """Whether a bucket has neither halves nor p-nodes."""
    return tree.c[c, C_LEFT] < 0 and tree.c[c, C_FIRST] < 0


@inner
def _fold(tree, rows, limits, c):
    """Folds the halves of a bucket into it where the merge rule says so."""
    left, right = tree.c[c, C_LEFT], tree.c[c, C_RIGHT]
    if left < 0 or not _is_plain(tree, left) or not _is_plain(tree, right):
        return False
    total = tree.c[left, C_COUNT] + tree.c[right, C_COUNT]
    few = tree.c[c, C_FIRST] < 0 and total + tree.c[c, C_COUNT] <= limits.leaf_min
    if total > 0 and not few:
        return False
    for half in (left, right):
        while tree.c[half, C_COUNT] > 0:
            entry = tree.i[tree.c[half, C_START], I_NUMBER]
            take_entry(tree, rows, entry)
            put_entry(tree, rows, entry, c)
        drop_c(tree, half)
    tree.c[c, C_LEFT] = tree.c[c, C_RIGHT] = -1
    return True


@inner
def _drop_p(tree, p):
    """Takes an empty p-node from its c-node."""
    c = tree.p[p, P_PARENT]
    drop_c(tree, tree.p[p, P_ROOT])
    if tree.c[c, C_FIRST] == p:
        tree.c[c, C_FIRST] = tree.p[p, P_NEXT]
    else:
        at = tree.c[c, C_FIRST]
        while tree.p[at, P_NEXT] != p:
            at = tree.p[at, P_NEXT]
        tree.p[at, P_NEXT] = tree.p[p, P_NEXT]
    tree.p[p, P_SLOT] = -1
    tree.p[p, P_NEXT] = tree.state[_P_FREE]
    tree.state[_P_FREE] = p


@njit(cache=True)
def remove(tree, rows, limits, entry):
    """Removes an entry, and what is empty after that; False where room must be made first."""
    c = tree.e[entry, E_NODE]
    if c < 0:
        return True
    if not has_room(tree, 8 * (limits.leaf_min + _FIRST)):
        return False
    take_entry(tree, rows, entry)
    full = limits.leaf_max
    if tree.c[c, C_COUNT] + full <= tree.c[c, C_ROOM]:
        tree.c[c, C_ROOM] = max(full, (tree.c[c, C_COUNT] + full - 1) // full * full)
    while True:
        p, over = tree.c[c, C_PNODE], tree.c[c, C_OVER]
        _fold(tree, rows, limits, c)
        while over >= 0:
            above = tree.c[over, C_OVER]
            if not _fold(tree, rows, limits, over):
                break
            over = above
        if p < 0 or tree.p[p, P_COUNT] > 0:
            return True
        c = tree.p[p, P_PARENT]
        _drop_p(tree, p)


@njit(cache=True)
def prune(tree, rows, limits, nodes):
    """Drops p-nodes without filters, and halves that are empty, of nodes that were made at once.

    Shapes: nodes int32, the c-nodes, each after those above it; -1 for none.
    """
    for c in nodes[::-1]:
        if c < 0:
            continue
        p = tree.c[c, C_FIRST]
        while p >= 0:
            below = tree.p[p, P_NEXT]
            if tree.p[p, P_COUNT] == 0:
                _drop_p(tree, p)
            p = below
        left = tree.c[c, C_LEFT]
        if left >= 0 and tree.c[left, C_COUNT] + tree.c[tree.c[c, C_RIGHT], C_COUNT] == 0:
            _fold(tree, rows, limits, c)


@inner
def _clear_branch(tree, p, stack):
    """Drops a p-node with all that is in it; the entries are in no l-node after that."""
    depth = 1
    stack[0] = tree.p[p, P_ROOT]
    while depth > 0:
        depth -= 1
        c = stack[depth]
        if tree.c[c, C_LEFT] >= 0:
            stack[depth], stack[depth + 1] = tree.c[c, C_LEFT], tree.c[c, C_RIGHT]
            depth += 2
        q = tree.c[c, C_FIRST]
        while q >= 0:
            stack[depth] = tree.p[q, P_ROOT]
            depth += 1
            below = tree.p[q, P_NEXT]
            tree.p[q, P_SLOT] = -1
            tree.p[q, P_NEXT] = tree.state[_P_FREE]
            tree.state[_P_FREE] = q
            q = below
        for at in range(tree.c[c, C_START], tree.c[c, C_START] + tree.c[c, C_COUNT]):
            tree.e[tree.i[at, I_NUMBER], E_NODE] = -1
        tree.c[c, C_COUNT] = 0
        if c != tree.p[p, P_ROOT]:
            tree.c[c, C_FALSE] = 0
            drop_c(tree, c)


@njit(cache=True)
def cut(tree, p, stack):
    """Cuts a p-node of the root off, with its branch.

    Shapes: stack int32, with room for all c-nodes.
    """
    _clear_branch(tree, p, stack)
    tree.c[tree.p[p, P_ROOT], C_FALSE] = 0
    _drop_p(tree, p)
