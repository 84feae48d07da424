"""The rules of a BE-Tree, checked from scratch on its outline."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np
import pyarrow as pa

from wherecast.matching.matches import Id
from wherecast.matching.trees.betree import kernels
from wherecast.matching.trees.betree.index import BETreeIndex
from wherecast.matching.trees.betree.layout import CNODE, PLACE, PNODE, TreeState
from wherecast.matching.trees.betree.tree_outline import BucketView, PartView, buckets_of, outline
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.items import ITEM
from wherecast.matching.trees.key_batch import BatchKeys
from wherecast.matching.trees.row_layout import ENTRY, FLAG, SIDE

Box = dict[int, tuple[int, int]]
Key = dict[int, tuple[int, int]]


def box_of(store: FilterStore, entry: int) -> Box:
    rows = store.rows
    start = int(rows.e[entry, ENTRY.BOX])
    places = range(start, start + int(rows.e[entry, ENTRY.SIDES]))
    return {
        int(rows.b[place, SIDE.SLOT]): (int(rows.b[place, SIDE.LOW]), int(rows.b[place, SIDE.HIGH]))
        for place in places
    }


def inside(side: tuple[int, int], low: int, high: int) -> bool:
    return low <= side[0] and side[1] <= high


def each(view: BucketView, key: Key) -> Iterator[tuple[BucketView, Key]]:
    """The c-nodes below one, each with the keys of the buckets above it."""
    yield view, key
    slots = list(key)
    for half in view.halves:
        yield from each(half, {**key, slots[-1]: (half.low, half.high)})
    for part in view.parts:
        yield from each(part.root, {**key, part.slot: (part.root.low, part.root.high)})


def check_structure(index: BETreeIndex) -> None:
    """Fails where the tree of an index breaks a rule."""
    with index._lock:
        index._settle()
    tree, store, limits = index._tree.arrays, index._store, index._tree.limits
    root = outline(tree)
    live = set(index._numbers.values())
    never = {entry for entry in live if store.rows.e[entry, ENTRY.FLAGS] & FLAG.NEVER}
    held = [entry for view in buckets_of(root) for entry in view.entries]
    assert len(held) == len(set(held)), "a filter in two l-nodes"
    assert set(held) == live - never, "each filter that can match is in one l-node"
    assert all(tree.e[entry, PLACE.NODE] == -1 for entry in never)
    assert len(list(buckets_of(root))) == len(index._tree.nodes())
    for view, key in each(root, {}):
        check_node(view, key, store)
        assert len(view.entries) <= view.room
        assert view.room % limits.leaf_max == 0
        for entry in view.entries:
            assert tree.e[entry, PLACE.NODE] == view.number
            assert tree.i[tree.e[entry, PLACE.PLACE], ITEM.NUMBER] == entry
        for part in view.parts:
            assert part.slot not in key, "an attribute twice on one path"
            check_part(part)
            check_score(index, part)
    assert tree.state[TreeState.WAITING] == 0


def check_node(view: BucketView, key: Key, store: FilterStore) -> None:
    slots = {part.slot for part in view.parts}
    equal = covered = 0
    for entry in view.entries:
        box = box_of(store, entry)
        assert key.keys() <= box.keys()
        assert all(inside(box[slot], *key[slot]) for slot in key), "not inside its bucket"
        assert not slots & box.keys(), "a p-node takes all filters with its attribute"
        for half in view.halves:
            assert not inside(box[list(key)[-1]], half.low, half.high), "a half encloses it"
        same = sum(box[slot] == key[slot] for slot in key)
        equal, covered = equal + same, covered + len(key) - same
    assert (view.equal, view.inside) == (equal, covered), "scores from scratch"
    if view.halves:
        left, right = view.halves
        assert (left.low, right.high) == (view.low, view.high)
        assert left.high + 1 == right.low
        assert any(one.entries or one.parts or one.halves for one in view.halves), "both are empty"


def check_part(part: PartView) -> None:
    views = list(buckets_of(part.root))
    assert part.count == sum(len(view.entries) for view in views) > 0
    assert part.equal == sum(view.equal for view in views)
    assert part.inside == sum(view.inside for view in views)


def check_score(index: BETreeIndex, part: PartView) -> None:
    """The score of a p-node, from what its c-nodes and the sample say."""
    tree, limits = index._tree.arrays, index._tree.limits
    lost = sum(int(tree.c[view.number, CNODE.FALSE]) for view in buckets_of(part.root))
    assert tree.p[part.number, PNODE.FALSE] == lost >= 0, "candidates in vain from scratch"
    gain = (1 - limits.beta) * part.equal + limits.beta * part.inside
    loss = lost / max(1, int(tree.state[TreeState.SAMPLED]))
    wanted = (1 - limits.alpha) * gain - limits.alpha * loss
    assert abs(float(kernels.score(tree, limits, part.number)) - wanted) < 1e-9 * max(
        1, abs(wanted)
    )


def expected_loss(
    index: BETreeIndex, batch: pa.RecordBatch, wanted: Sequence[Collection[Id]]
) -> Counter[int]:
    """What a match adds to the sampled candidates that did not match, by c-node.

    Args:
        index: before the match.
        batch: of publications.
        wanted: the ids that match each of them.
    """
    with index._lock:
        index._settle()
    tree, limits = index._tree.arrays, index._tree.limits
    lost: Counter[int] = Counter()
    every = range(-int(tree.state[TreeState.SEEN]) % limits.sample, batch.num_rows, limits.sample)
    keys = BatchKeys(batch, index._store.slots, index._store.leaves).chunk(0, batch.num_rows)
    for row in every if limits.alpha else ():
        if keys.odd[row]:
            continue
        there = np.flatnonzero(keys.there[row]).tolist()
        values = {slot: int(keys.keys[row, slot]) for slot in there}
        for view in tried(outline(tree), values):
            lost[view.number] += sum(index._ids[entry] not in wanted[row] for entry in view.entries)
    return lost


def tried(view: BucketView, values: dict[int, int], slot: int = -1) -> Iterator[BucketView]:
    """The c-nodes that a publication with some keys visits, from one on."""
    yield view
    if view.halves:
        left, right = view.halves
        yield from tried(left if values[slot] <= left.high else right, values, slot)
    for part in view.parts:
        if part.slot in values:
            yield from tried(part.root, values, part.slot)
