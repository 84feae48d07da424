"""Nodes as a flat listing: what branches and files hold of a tree, and how it is made again.

Every node comes after the one above it. Intervals are not in the listing but for where they are
halved: they follow from the domains. So a listing cannot say what a tree cannot be.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.trees.betree import kernels
from wherecast.matching.trees.betree.kernels.nodes import has_room
from wherecast.matching.trees.betree.layout import CNODE, PLACE, PNODE, ROOT, SPAN, Tree
from wherecast.matching.trees.betree.tree import BETree
from wherecast.matching.trees.betree.tree_outline import parts_of
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.key_slots import Domains
from wherecast.matching.trees.row_layout import ENTRY, FLAG
from wherecast.model import SnapshotError

CLUSTER, PARTITION = 0, 1
_TYPES: dict[str, Any] = {
    "kind": np.uint8, "parent": np.int32, "half": np.uint8, "slot": np.int32, "room": np.int32,
    "split": np.int64, "first": np.float64, "last": np.float64, "false": np.int64,
    "checked": np.int64,
}  # fmt: skip
FIELDS = tuple(_TYPES)


@dataclass(frozen=True, slots=True, eq=False)
class Listing:
    """Nodes, one per row.

    Attributes:
        kind: uint8, CLUSTER or PARTITION.
        parent: int32, the row of the node above, -1 for the first.
        half: uint8, 0 or 1 for the left or right half of the bucket above, 2 for others.
        slot: int32, the attribute of a p-node, in the numbers of whoever made the listing.
        room: int32, the capacity of a c-node.
        split: int64, the last key of a bucket's left half; 0 where it has none.
        first, last: float64, the numbers that a bucket spans.
        false, checked: int64, candidates of the sample that did not match, and candidates.
    """

    kind: npt.NDArray[np.uint8]
    parent: npt.NDArray[np.int32]
    half: npt.NDArray[np.uint8]
    slot: npt.NDArray[np.int32]
    room: npt.NDArray[np.int32]
    split: npt.NDArray[np.int64]
    first: npt.NDArray[np.float64]
    last: npt.NDArray[np.float64]
    false: npt.NDArray[np.int64]
    checked: npt.NDArray[np.int64]

    @staticmethod
    def of(columns: dict[str, Any]) -> "Listing":
        """The listing of its columns."""
        return Listing(**{name: np.array(columns[name], kind) for name, kind in _TYPES.items()})

    def __len__(self) -> int:
        return len(self.kind)

    def resampled(self, sampled: int, here: int) -> "Listing":
        """The listing for a tree that has sampled another number of publications.

        Loss per publication stays what it was, but for less than one candidate in all.
        """
        ratio = here / sampled if sampled else 0.0
        if ratio == 1.0:
            return self
        sums = np.cumsum(np.maximum(self.false, 0)) * ratio
        ends = np.rint(np.concatenate([[0.0], sums])).astype(np.int64)
        return replace(self, false=ends[1:] - ends[:-1])

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns by name."""
        return {name: getattr(self, name) for name in FIELDS}


def list_nodes(tree: Tree, p: int | None = None) -> tuple[Listing, dict[int, int]]:
    """The nodes of a p-node's branch, or of the whole tree; and the row of each c-node."""
    rows: list[tuple[Any, ...]] = []
    places: dict[int, int] = {}
    waiting = [(CLUSTER, ROOT, -1, 2)] if p is None else [(PARTITION, p, -1, 2)]
    while waiting:
        kind, node, parent, half = waiting.pop()
        here = len(rows)
        if kind == PARTITION:
            slot, checked = int(tree.p[node, PNODE.SLOT]), int(tree.p[node, PNODE.CHECKED])
            rows.append((kind, parent, half, slot, 0, 0, 0.0, 0.0, 0, checked))
            waiting.append((CLUSTER, int(tree.p[node, PNODE.ROOT]), here, 2))
            continue
        places[node] = here
        left = int(tree.c[node, CNODE.LEFT])
        split = int(tree.c[left, CNODE.HIGH]) if left >= 0 else 0
        rows.append((
            kind, parent, half, 0, int(tree.c[node, CNODE.ROOM]), split,
            float(tree.f[node, SPAN.FROM]), float(tree.f[node, SPAN.TO]),
            int(tree.c[node, CNODE.FALSE]), 0,
        ))  # fmt: skip
        waiting += [(PARTITION, below, here, 2) for below in parts_of(tree, node)]
        if left >= 0:
            halves = (left, int(tree.c[node, CNODE.RIGHT]))
            waiting += [(CLUSTER, each, here, side) for side, each in enumerate(halves)]
    columns = list(zip(*rows, strict=True))
    return Listing.of(dict(zip(FIELDS, columns, strict=True))), places


def make_nodes(
    tree: BETree, listing: Listing, slots: Sequence[int], domains: Domains
) -> npt.NDArray[np.int32]:
    """Makes the nodes of a listing; returns the c-node of each row, -1 for p-nodes.

    Args:
        tree: where the nodes go; a listing of a p-node goes below the root, which has no p-node of
            that attribute.
        listing: the nodes.
        slots: the tree's slot for each attribute of the listing.
        domains: of the tree's slots.

    Raises:
        SnapshotError: the listing is none of a tree.
    """
    made = np.full(len(listing), -1, np.int32)
    p_nodes: dict[int, int] = {}
    for row in range(len(listing)):
        while not has_room(tree.arrays, 64):
            tree.grow()
        parent = int(listing.parent[row])
        if parent >= row:
            raise SnapshotError("a listing of nodes has one before the node above it")
        if listing.kind[row] == PARTITION:
            above = ROOT if parent < 0 else int(made[parent])
            p_nodes[row] = _partition(tree, listing, row, above, slots, domains)
        elif parent < 0:
            made[row] = ROOT
        elif parent in p_nodes:
            made[row] = tree.arrays.p[p_nodes[parent], PNODE.ROOT]
        else:
            made[row] = _half(tree, listing, row, int(made[parent]))
        if made[row] >= 0:
            _note(tree, listing, row, int(made[row]))
    return made


def _partition(
    tree: BETree, listing: Listing, row: int, above: int, slots: Sequence[int], domains: Domains
) -> int:
    """A p-node of a listing."""
    number = int(listing.slot[row])
    if above < 0 or not 0 <= number < len(slots):
        raise SnapshotError("a listing of nodes has a p-node in no c-node")
    slot = slots[number]
    if any(tree.arrays.p[p, PNODE.SLOT] == slot for p in parts_of(tree.arrays, above)):
        raise SnapshotError("a listing of nodes has two p-nodes of one attribute")
    p: int = kernels.add_p(tree.arrays, domains, tree.limits, above, slot)
    tree.arrays.p[p, PNODE.CHECKED] = listing.checked[row]
    return p


def _half(tree: BETree, listing: Listing, row: int, over: int) -> int:
    """A half of a bucket that is there already; the first of the two makes both."""
    arrays, side, parent = tree.arrays, int(listing.half[row]), int(listing.parent[row])
    if over < 0 or side not in (0, 1) or arrays.c[over, CNODE.PNODE] < 0:
        raise SnapshotError("a listing of nodes has a half of no bucket")
    if arrays.c[over, CNODE.LEFT] < 0:
        split = int(listing.split[parent])
        if not arrays.c[over, CNODE.LOW] <= split < arrays.c[over, CNODE.HIGH]:
            raise SnapshotError("a listing of nodes halves a bucket outside of it")
        kernels.halve_at(arrays, tree.limits, over, split, (0.0, 0.0, 0.0, 0.0))
    return int(arrays.c[over, CNODE.LEFT] if side == 0 else arrays.c[over, CNODE.RIGHT])


def _note(tree: BETree, listing: Listing, row: int, c: int) -> None:
    """Writes capacity, span and counts of a listing's row into its c-node."""
    arrays, most = tree.arrays, tree.limits.leaf_max
    arrays.c[c, CNODE.ROOM] = max(most, -(-int(listing.room[row]) // most) * most)
    arrays.f[c, SPAN.FROM], arrays.f[c, SPAN.TO] = listing.first[row], listing.last[row]
    lost = max(0, int(listing.false[row]))
    arrays.c[c, CNODE.FALSE] += lost
    p = int(arrays.c[c, CNODE.PNODE])
    while p >= 0:
        arrays.p[p, PNODE.FALSE] += lost
        p = int(arrays.c[arrays.p[p, PNODE.PARENT], CNODE.PNODE])


def add_counts(tree: BETree, p: int, listing: Listing) -> None:
    """Adds the counts of a listing to a p-node of the same attribute."""
    arrays, lost = tree.arrays, int(listing.false.sum())
    arrays.c[arrays.p[p, PNODE.ROOT], CNODE.FALSE] += lost
    arrays.p[p, PNODE.FALSE] += lost
    arrays.p[p, PNODE.CHECKED] += listing.checked[0]


def place_entries(
    tree: BETree, store: FilterStore, entries: range, nodes: npt.NDArray[np.int32]
) -> None:
    """Puts new entries into c-nodes; an entry that its c-node does not enclose is inserted anew.

    Shapes: nodes int32 [entries].
    """
    tree.cover(entries.stop)
    domains, at = store.slots.domains(), entries.start
    while at < entries.stop:
        rest = nodes[at - entries.start :]
        at = kernels.put(tree.arrays, store.rows, domains, at, entries.stop, rest)
        if at < entries.stop:
            tree.grow()
    for entry in entries:
        if (
            tree.arrays.e[entry, PLACE.NODE] < 0
            and not store.rows.e[entry, ENTRY.FLAGS] & FLAG.NEVER
        ):
            tree.insert(range(entry, entry + 1))
