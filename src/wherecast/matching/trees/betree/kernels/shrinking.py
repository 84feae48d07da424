"""The kernels that make a BE-Tree shrink: removal, folding, and cutting a branch off.

Source: elastic BE-Tree, section 6.2 (algorithm A10 of the spec). Two leaf buckets are folded into
theirs where all three have few filters and no p-nodes, or both are empty.
"""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.betree.kernels.nodes import drop_c, has_room, put_entry, take_entry
from wherecast.matching.trees.betree.layout import CNODE, PLACE, PNODE, TreeState
from wherecast.matching.trees.items import FIRST_SIZE, ITEM

_P_FREE, _FIRST = int(TreeState.P_FREE), FIRST_SIZE


@inner
def _is_plain(tree, c):
    """Whether a bucket has neither halves nor p-nodes."""
    return tree.c[c, CNODE.LEFT] < 0 and tree.c[c, CNODE.FIRST] < 0


@inner
def _fold(tree, rows, limits, c):
    """Folds the halves of a bucket into it where the merge rule says so."""
    left, right = tree.c[c, CNODE.LEFT], tree.c[c, CNODE.RIGHT]
    if left < 0 or not _is_plain(tree, left) or not _is_plain(tree, right):
        return False
    total = tree.c[left, CNODE.COUNT] + tree.c[right, CNODE.COUNT]
    few = tree.c[c, CNODE.FIRST] < 0 and total + tree.c[c, CNODE.COUNT] <= limits.leaf_min
    if total > 0 and not few:
        return False
    for half in (left, right):
        while tree.c[half, CNODE.COUNT] > 0:
            entry = tree.i[tree.c[half, CNODE.START], ITEM.NUMBER]
            take_entry(tree, rows, entry)
            put_entry(tree, rows, entry, c)
        drop_c(tree, half)
    tree.c[c, CNODE.LEFT] = tree.c[c, CNODE.RIGHT] = -1
    return True


@inner
def _drop_p(tree, p):
    """Takes an empty p-node from its c-node."""
    c = tree.p[p, PNODE.PARENT]
    drop_c(tree, tree.p[p, PNODE.ROOT])
    if tree.c[c, CNODE.FIRST] == p:
        tree.c[c, CNODE.FIRST] = tree.p[p, PNODE.NEXT]
    else:
        at = tree.c[c, CNODE.FIRST]
        while tree.p[at, PNODE.NEXT] != p:
            at = tree.p[at, PNODE.NEXT]
        tree.p[at, PNODE.NEXT] = tree.p[p, PNODE.NEXT]
    tree.p[p, PNODE.SLOT] = -1
    tree.p[p, PNODE.NEXT] = tree.state[_P_FREE]
    tree.state[_P_FREE] = p


@njit(cache=True)
def remove(tree, rows, limits, entry):
    """Removes an entry, and what is empty after that; False where room must be made first."""
    c = tree.e[entry, PLACE.NODE]
    if c < 0:
        return True
    if not has_room(tree, 8 * (limits.leaf_min + _FIRST)):
        return False
    take_entry(tree, rows, entry)
    full = limits.leaf_max
    if tree.c[c, CNODE.COUNT] + full <= tree.c[c, CNODE.ROOM]:
        tree.c[c, CNODE.ROOM] = max(full, (tree.c[c, CNODE.COUNT] + full - 1) // full * full)
    while True:
        p, over = tree.c[c, CNODE.PNODE], tree.c[c, CNODE.OVER]
        _fold(tree, rows, limits, c)
        while over >= 0:
            above = tree.c[over, CNODE.OVER]
            if not _fold(tree, rows, limits, over):
                break
            over = above
        if p < 0 or tree.p[p, PNODE.COUNT] > 0:
            return True
        c = tree.p[p, PNODE.PARENT]
        _drop_p(tree, p)


@njit(cache=True)
def prune(tree, rows, limits, nodes):
    """Drops p-nodes without filters, and halves that are empty, of nodes that were made at once.

    Shapes: nodes int32, the c-nodes, each after those above it; -1 for none.
    """
    for c in nodes[::-1]:
        if c < 0:
            continue
        p = tree.c[c, CNODE.FIRST]
        while p >= 0:
            below = tree.p[p, PNODE.NEXT]
            if tree.p[p, PNODE.COUNT] == 0:
                _drop_p(tree, p)
            p = below
        left = tree.c[c, CNODE.LEFT]
        if (
            left >= 0
            and tree.c[left, CNODE.COUNT] + tree.c[tree.c[c, CNODE.RIGHT], CNODE.COUNT] == 0
        ):
            _fold(tree, rows, limits, c)


@inner
def _clear_branch(tree, p, stack):
    """Drops a p-node with all that is in it; the entries are in no l-node after that."""
    depth = 1
    stack[0] = tree.p[p, PNODE.ROOT]
    while depth > 0:
        depth -= 1
        c = stack[depth]
        if tree.c[c, CNODE.LEFT] >= 0:
            stack[depth], stack[depth + 1] = tree.c[c, CNODE.LEFT], tree.c[c, CNODE.RIGHT]
            depth += 2
        q = tree.c[c, CNODE.FIRST]
        while q >= 0:
            stack[depth] = tree.p[q, PNODE.ROOT]
            depth += 1
            below = tree.p[q, PNODE.NEXT]
            tree.p[q, PNODE.SLOT] = -1
            tree.p[q, PNODE.NEXT] = tree.state[_P_FREE]
            tree.state[_P_FREE] = q
            q = below
        for at in range(tree.c[c, CNODE.START], tree.c[c, CNODE.START] + tree.c[c, CNODE.COUNT]):
            tree.e[tree.i[at, ITEM.NUMBER], PLACE.NODE] = -1
        tree.c[c, CNODE.COUNT] = 0
        if c != tree.p[p, PNODE.ROOT]:
            tree.c[c, CNODE.FALSE] = 0
            drop_c(tree, c)


@njit(cache=True)
def cut(tree, p, stack):
    """Cuts a p-node of the root off, with its branch.

    Shapes: stack int32, with room for all c-nodes.
    """
    _clear_branch(tree, p, stack)
    tree.c[tree.p[p, PNODE.ROOT], CNODE.FALSE] = 0
    _drop_p(tree, p)
