"""Where buckets are halved: at the middle of a domain, or of what filters say where it is open.

Source: elastic BE-Tree, section 6.2 (algorithms A7 and A8 of the spec).
"""

import numpy as np

from wherecast.matching.compile_cache.kernel_decorators import inner
from wherecast.matching.trees.betree.kernels.nodes import key_of, side, value_of
from wherecast.matching.trees.betree.layout import CNODE, PNODE, SPAN
from wherecast.matching.trees.items import ITEM
from wherecast.matching.trees.key_slots import REAL
from wherecast.matching.trees.row_layout import SIDE

_INF_KEY = 0x7FF0_0000_0000_0000
_SAFE = 9.2e18  # numbers beyond have no int64 of their own


@inner
def _ends(tree, rows, domains, c, slot):
    """The least and the greatest number that filters of an l-node name, of those that use a slot.

    Open ends are none; without any number they are infinite, the wrong way round.
    """
    low, high, real = np.inf, -np.inf, domains.kinds[slot] == REAL
    for at in range(tree.c[c, CNODE.START], tree.c[c, CNODE.START] + tree.c[c, CNODE.COUNT]):
        place = side(rows, tree.i[at, ITEM.NUMBER], slot)
        if place < 0:
            continue
        for key in (rows.b[place, SIDE.LOW], rows.b[place, SIDE.HIGH]):
            if key == domains.least[slot] or key == domains.most[slot]:
                continue
            if real and (key <= -_INF_KEY or key >= _INF_KEY):
                continue
            value = value_of(tree, key) if real else np.float64(key)
            low, high = min(low, value), max(high, value)
    return low, high


@inner
def reach(tree, rows, domains, c):
    """The numbers whose middle halves a bucket; at an open end those of its filters."""
    slot = tree.p[tree.c[c, CNODE.PNODE], PNODE.SLOT]
    first, last = tree.f[c, SPAN.FROM], tree.f[c, SPAN.TO]
    below = tree.c[c, CNODE.LOW] == domains.least[slot] and np.isnan(domains.first[slot])
    above = tree.c[c, CNODE.HIGH] == domains.most[slot] and np.isnan(domains.last[slot])
    if not below and not above:
        return first, last
    low, high = _ends(tree, rows, domains, c, slot)
    return (low if below else first), (high if above else last)


@inner
def halve(tree, domains, slot, first, last):
    """Whether an interval can be halved, the ends inside, and the last key of the left half."""
    step = domains.steps[slot]
    if not first < last or not (np.isfinite(first) and np.isfinite(last)):
        return False, 0.0, 0.0, 0
    if domains.kinds[slot] == REAL and step == 0.0:
        middle = first * 0.5 + last * 0.5
        return first < middle < last, middle, middle, key_of(tree, middle)
    if step == 0.0:
        step = 1.0
    steps = np.floor((last - first) / step + 0.5)
    if steps < 1.0 or not np.isfinite(steps):
        return False, 0.0, 0.0, 0
    left = first + np.floor(steps / 2.0) * step
    right = left + step
    if domains.kinds[slot] == REAL:
        return True, left, right, key_of(tree, right) - 1
    if not -_SAFE < right < _SAFE:
        return False, 0.0, 0.0, 0
    return True, left, right, np.int64(right) - 1


@inner
def crowd(tree, rows, domains, c, slot):
    """How many filters would meet in a bucket of a new p-node: those that stay and a full half."""
    first, last = domains.first[slot], domains.last[slot]
    if np.isnan(first) or np.isnan(last):
        low, high = _ends(tree, rows, domains, c, slot)
        first = low if np.isnan(first) else first
        last = high if np.isnan(last) else last
    fine, _, _, split = halve(tree, domains, slot, first, last)
    stay, left, right = 0, 0, 0
    for at in range(tree.c[c, CNODE.START], tree.c[c, CNODE.START] + tree.c[c, CNODE.COUNT]):
        place = side(rows, tree.i[at, ITEM.NUMBER], slot)
        if place < 0:
            continue
        if fine and rows.b[place, SIDE.HIGH] <= split:
            left += 1
        elif fine and rows.b[place, SIDE.LOW] > split:
            right += 1
        else:
            stay += 1
    return stay + max(left, right)
