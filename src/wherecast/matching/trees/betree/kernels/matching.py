"""The kernels that match: the filters of a BE-Tree that a publication is tried on.

No kernel here calls another in its loops: a call would count references of all arrays.

Source: elastic BE-Tree, section 6.2 (algorithm A5 of the spec); attributes that a publication
lacks are not visited.
"""

from wherecast.matching.compile_cache.kernel_decorators import inner, njit
from wherecast.matching.trees.betree.layout import CNODE, PLACE, PNODE, ROOT
from wherecast.matching.trees.items import DECIDES, ITEM
from wherecast.matching.trees.row_layout import COST

ALL: int = -2  # what is visited: everything,
REST: int = -1  # or the root's l-node; else one p-node


@njit(cache=True, nogil=True)
def find(tree, only, keys, there, begin, stack, found, ends, counts, most):
    """Writes the candidates of publications from `begin` on; returns the first that has none yet.

    A candidate is twice an entry, plus one where its probe was all that it asks.

    Shapes: keys int64, there uint8 [rows, slots]; stack int64, with room for all c-nodes; found
    int64; ends int64 [rows + 1], where the candidates of each row end; counts int64 [2]: filters
    tried and c-nodes visited; most, how many filters there are. `only` is ALL, REST or a p-node of
    the root.
    Cost: the filters of the l-nodes that are visited.
    """
    c, p, i = tree.c, tree.p, tree.i
    used = ends[begin] = 0
    for row in range(begin, keys.shape[0]):
        if used + most > found.shape[0]:
            return row
        branch = -1  # first the root's l-node, then the p-nodes of the root
        at_p = c[ROOT, CNODE.FIRST]
        stack[0] = ROOT
        while True:
            depth = 1 if branch >= 0 or only < 0 else 0
            checked = 0
            while depth > 0:
                depth -= 1
                node = stack[depth]
                count = c[node, CNODE.COUNT]
                checked += count
                counts[COST.VISITED] += 1
                start = c[node, CNODE.START]
                for at in range(start, start + count):
                    probe = i[at, ITEM.PROBE]
                    if probe >= 0:
                        key = keys[row, probe >> 1]
                        if (
                            key < i[at, ITEM.LOW]
                            or key > i[at, ITEM.HIGH]
                            or not there[row, probe >> 1]
                        ):
                            continue
                        found[used] = 2 * i[at, ITEM.NUMBER] + (probe & DECIDES)
                    else:
                        found[used] = 2 * i[at, ITEM.NUMBER]
                    used += 1
                if branch < 0:
                    continue
                left = c[node, CNODE.LEFT]
                if left >= 0:
                    key = keys[row, p[c[node, CNODE.PNODE], PNODE.SLOT]]
                    stack[depth] = left if key <= c[left, CNODE.HIGH] else c[node, CNODE.RIGHT]
                    depth += 1
                below = c[node, CNODE.FIRST]
                while below >= 0:
                    if there[row, p[below, PNODE.SLOT]]:
                        stack[depth] = p[below, PNODE.ROOT]
                        depth += 1
                    below = p[below, PNODE.NEXT]
            counts[COST.CHECKED] += checked
            if branch >= 0:
                p[branch, PNODE.CHECKED] += checked
            while at_p >= 0 and not (
                there[row, p[at_p, PNODE.SLOT]] and (only == ALL or only == at_p)
            ):
                at_p = p[at_p, PNODE.NEXT]
            if at_p < 0:
                break
            branch = at_p
            at_p = p[at_p, PNODE.NEXT]
            stack[0] = p[branch, PNODE.ROOT]
        ends[row + 1] = used
    return keys.shape[0]


@njit(cache=True, nogil=True)
def find_all(tree, entries, begin, end, found, ends, counts):
    """Writes all filters as candidates of some publications, whatever their boxes say.

    Shapes: as `find`; found has room for all filters of all rows.
    """
    used = ends[begin] = 0
    for row in range(begin, end):
        for entry in range(entries):
            if tree.e[entry, PLACE.NODE] >= 0:
                found[used] = 2 * entry
                used += 1
        ends[row + 1] = used
    counts[COST.CHECKED] += used


@njit(cache=True, nogil=True)
def note_loss(tree, keys, there, row, matched, stack):
    """Counts the candidates of one publication that did not match, for the scores.

    Shapes: as `find`; matched int32, the entries that did match.
    """
    depth = 1
    stack[0] = ROOT
    while depth > 0:
        depth -= 1
        node = stack[depth]
        _add_false(tree, node, tree.c[node, CNODE.COUNT])
        left = tree.c[node, CNODE.LEFT]
        if left >= 0:
            key = keys[row, tree.p[tree.c[node, CNODE.PNODE], PNODE.SLOT]]
            stack[depth] = left if key <= tree.c[left, CNODE.HIGH] else tree.c[node, CNODE.RIGHT]
            depth += 1
        below = tree.c[node, CNODE.FIRST]
        while below >= 0:
            if there[row, tree.p[below, PNODE.SLOT]]:
                stack[depth] = tree.p[below, PNODE.ROOT]
                depth += 1
            below = tree.p[below, PNODE.NEXT]
    for entry in matched:
        _add_false(tree, tree.e[entry, PLACE.NODE], -1)


@inner
def _add_false(tree, node, count):
    """Counts candidates of a c-node's l-node, and in all p-nodes above it."""
    tree.c[node, CNODE.FALSE] += count
    p = tree.c[node, CNODE.PNODE]
    while p >= 0:
        tree.p[p, PNODE.FALSE] += count
        p = tree.c[tree.p[p, PNODE.PARENT], CNODE.PNODE]
