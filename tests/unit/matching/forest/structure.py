"""The rules of a covering forest, checked from scratch."""

from tests.unit.matching.betree.structure import box_of
from wherecast import Filter
from wherecast.matching.exact.kernels import BOX, E_FLAGS, NEVER
from wherecast.matching.forest.index import ForestIndex
from wherecast.matching.forest.layout import N_SIZE, TOP


def check_forest(index: ForestIndex) -> None:
    """Fails where the forest of an index breaks a rule."""
    with index._lock:
        index._settle()
    forest, store = index._forest, index._store
    filters = {node: Filter(index._texts[next(forest.entries(node))], index.schema)
               for node in forest.nodes().tolist()}  # fmt: skip
    live = set(index._numbers.values())
    never = {entry for entry in live if store.rows.e[entry, E_FLAGS] & NEVER}
    held = [entry for node in filters for entry in forest.entries(node)]
    assert len(held) == len(set(held)), "a filter in two nodes"
    assert set(held) == live - never, "each filter that can match is in one node"
    reached = set()
    waiting = [TOP]
    while waiting:
        node = waiting.pop()
        children = forest.children(node)
        for child in children:
            assert forest.parent(child) == node
            if node != TOP:
                assert covers(index, node, child), "a parent covers its children"
            assert forest.arrays.n[child, N_SIZE] == len(list(forest.entries(child)))
        reached |= set(children)
        waiting += children
    assert reached == filters.keys(), "every node is below a root"
    for node, own in filters.items():
        for entry in forest.entries(node):
            same = Filter(index._texts[entry], index.schema)
            assert own.covers(same)
            assert same.covers(own), "filters of one node are equal"


def covers(index: ForestIndex, outer: int, inner: int) -> bool:
    """Whether the filter of a node covers that of another.

    By their normal forms; or the outer one is a box, and the other has its box inside: that of a
    comparison of attributes or a distance, which say nothing in a normal form but that a value is
    there.
    """
    entries = [next(index._forest.entries(node)) for node in (outer, inner)]
    wide, narrow = (Filter(index._texts[entry], index.schema) for entry in entries)
    if wide.covers(narrow):
        return True
    boxes = [box_of(index._store, entry) for entry in entries]
    is_box = index._store.rows.e[entries[0], E_FLAGS] & BOX
    return bool(is_box) and all(
        slot in boxes[1] and low <= boxes[1][slot][0] and boxes[1][slot][1] <= high
        for slot, (low, high) in boxes[0].items()
    )


def check_roots(index: ForestIndex) -> None:
    """Fails where a root is covered by another: for filters whose covering is transitive."""
    roots = [Filter(index._texts[index._numbers[id]], index.schema) for id in index.covering_set()]
    for one in roots:
        for other in roots:
            assert one is other or not one.covers(other) or other.covers(one)
