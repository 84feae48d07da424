"""The rules of a covering forest, checked from scratch."""

from itertools import permutations
from weakref import WeakKeyDictionary

from tests.unit.matching.trees.betree.structure import Box, box_of, inside
from wherecast import Filter
from wherecast.matching.trees.forest.index import ForestIndex
from wherecast.matching.trees.forest.layout import NODE, TOP
from wherecast.matching.trees.row_layout import END, ENTRY, FLAG, KIND, KIND_MASK

_READ: WeakKeyDictionary[ForestIndex, dict[str, Filter]] = WeakKeyDictionary()


def check_forest(index: ForestIndex) -> None:
    """Fails where the forest of an index breaks a rule."""
    with index._lock:
        index._settle()
    forest, store = index._forest, index._store
    filters = {node: _filter(index, next(forest.entries(node)))
               for node in forest.nodes().tolist()}  # fmt: skip
    live = set(index._numbers.values())
    never = {entry for entry in live if store.rows.e[entry, ENTRY.FLAGS] & FLAG.NEVER}
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
            assert forest.arrays.n[child, NODE.SIZE] == len(list(forest.entries(child)))
        reached |= set(children)
        waiting += children
    assert reached == filters.keys(), "every node is below a root"
    for node, own in filters.items():
        for entry in forest.entries(node):
            same = _filter(index, entry)
            assert own.covers(same)
            assert same.covers(own), "filters of one node are equal"


def covers(index: ForestIndex, outer: int, inner: int) -> bool:
    """Whether the filter of a node covers that of another.

    By their normal forms; or what the outer one asks follows from the box of the other: that of a
    comparison of attributes or a distance, which say nothing in a normal form but that a value is
    there.
    """
    entries = [next(index._forest.entries(node)) for node in (outer, inner)]
    wide, narrow = (_filter(index, entry) for entry in entries)
    return wide.covers(narrow) or _follows(index, entries[0], box_of(index._store, entries[1]))


def _filter(index: ForestIndex, entry: int) -> Filter:
    """The filter of an entry, read once."""
    known = _READ.setdefault(index, {})
    text = index._texts[entry]
    if text not in known:
        known[text] = Filter(text, index.schema)
    return known[text]


def _follows(index: ForestIndex, entry: int, box: Box) -> bool:
    """Whether a filter of one conjunction holds on all that is in a box."""
    rows = index._store.rows
    start, size = int(rows.e[entry, ENTRY.START]), int(rows.e[entry, ENTRY.SIZE])
    asked = rows.r[start : start + size].tolist()
    if not asked or any(kind & END for _, kind, _, _ in asked[:-1]):
        return False
    return all(
        slot in box and _holds_on(kind & KIND_MASK, low, high, *box[slot])
        for slot, kind, low, high in asked
    )


def _holds_on(kind: int, low: int, high: int, least: int, most: int) -> bool:
    """Whether a row of a filter holds on every key of an interval."""
    if kind == KIND.EXCEPT:
        return not least <= low <= most
    return kind == KIND.PRESENT or (kind == KIND.RANGE and low <= least and most <= high)


def check_siblings(index: ForestIndex) -> None:
    """Fails where a root covers another one, or a child of a node its sibling.

    For those that are one conjunction of intervals, keys left out and attributes present: covering
    of others is sound, but not transitive.
    """
    with index._lock:
        index._settle()
    forest = index._forest
    for node in (TOP, *forest.nodes().tolist()):
        for one, other in permutations(forest.children(node), 2):
            entries = [next(forest.entries(each)) for each in (one, other)]
            texts = [index._texts[entry] for entry in entries]
            wide, narrow = (box_of(index._store, entry) for entry in entries)
            if all(slot in narrow and inside(narrow[slot], *wide[slot]) for slot in wide):
                follows = _follows(index, entries[0], narrow)
                assert not follows, f"the first covers its sibling: {texts}"


def check_roots(index: ForestIndex) -> None:
    """Fails where a root is covered by another: for filters whose covering is transitive."""
    roots = [Filter(index._texts[index._numbers[id]], index.schema) for id in index.covering_set()]
    for one in roots:
        for other in roots:
            assert one is other or not one.covers(other) or other.covers(one)
