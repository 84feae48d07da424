"""A covering forest of the filters of a store: the kernels with the room that they need.

Invariants: a filter is in one node, with all that say the same in the same form; a node covers its
children; of two children of one node, or two roots, none covers the other. So the roots are the
covering set. Filters that are equal but differ in form cover each other: one is above the other.

Not safe to change from one thread while another uses it.

Sources: CUPUS, section 4.4.1 (A5 of the spec); PADRES, sections 3.1 and 3.2 (covering set, and
what a removal uncovers). Where the poset of PADRES has several parents, one is kept: the roots are
the same.
"""

from collections.abc import Callable, Hashable, Iterator

import numpy as np
import numpy.typing as npt

from wherecast.arrays.growth import grow
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.forest import kernels
from wherecast.matching.trees.forest.layout import MEMBER, NODE, TOP, ForestArrays, ForestState
from wherecast.matching.trees.items import CLASSES, ITEM
from wherecast.matching.trees.key_batch import BatchKeys, KeyBatch
from wherecast.matching.trees.row_layout import ENTRY, FLAG, SIDE
from wherecast.matching.trees.search import Candidates, EntryMatches, Search

Ints = npt.NDArray[np.int64]
Box = tuple[Ints, Ints, npt.NDArray[np.uint8]]  # by slot: lows, highs, whether there is a side
Covers = Callable[[int, int], bool]  # whether one entry surely covers another
_MORE = 64


class CoveringForest:
    """The forest, and the store that its entries are in.

    Attributes:
        arrays: the forest as arrays; replaced where they must grow.
    """

    def __init__(
        self, store: FilterStore, covers: Covers, identity: Callable[[int], Hashable]
    ) -> None:
        self._store, self._covers, self._identity = store, covers, identity
        self._nodes: dict[Hashable, int] = {}  # by what their filters say
        self._said_by: dict[int, Hashable] = {}  # the same the other way
        self.arrays = _empty()
        kernels.plant_forest(self.arrays)

    def insert(self, entry: int) -> None:
        """Puts a new entry to the node of its equals, or to a new one below what covers it."""
        self._cover(self._store.count)
        if self._store.rows.e[entry, ENTRY.FLAGS] & FLAG.NEVER:
            self.arrays.e[entry, MEMBER.NODE] = -1
            return
        said = self._said(entry)
        node = self._nodes.get(said)
        if node is not None:
            kernels.join(self.arrays, entry, node)
            return
        self._grow(TOP)
        node = int(kernels.new_node(self.arrays))
        self._nodes[said], self._said_by[node] = node, said
        kernels.join(self.arrays, entry, node)
        self._hang(node, TOP)

    def remove(self, entry: int) -> list[int]:
        """Removes an entry; returns the nodes that no root covers any more: new roots."""
        node = int(self.arrays.e[entry, MEMBER.NODE])
        if node < 0:
            return []
        if kernels.leave(self.arrays, entry):
            return []
        del self._nodes[self._said_by.pop(node)]
        parent = int(self.arrays.n[node, NODE.PARENT])
        children = self.children(node)
        for child in children:
            kernels.detach(self.arrays, child)
        kernels.detach(self.arrays, node)
        kernels.drop_node(self.arrays, node)
        for child in children:
            self._hang(child, parent)
        return [child for child in children if parent == TOP and self.parent(child) == TOP]

    def parent(self, node: int) -> int:
        """The node above one."""
        return int(self.arrays.n[node, NODE.PARENT])

    def children(self, node: int) -> list[int]:
        """The nodes right below one."""
        start, count = int(self.arrays.n[node, NODE.START]), int(self.arrays.n[node, NODE.COUNT])
        found: list[int] = self.arrays.i[start : start + count, ITEM.NUMBER].tolist()
        return found

    def entries(self, node: int) -> Iterator[int]:
        """The filters of a node."""
        entry = int(self.arrays.n[node, NODE.HEAD])
        while entry >= 0:
            yield entry
            entry = int(self.arrays.e[entry, MEMBER.NEXT])

    def nodes(self) -> Ints:
        """The nodes that are used, but for the one above all roots."""
        heads = self.arrays.n[: int(self.arrays.state[ForestState.NODES_USED]), NODE.HEAD]
        return np.flatnonzero(heads >= 0)

    def _said(self, entry: int) -> Hashable:
        """What a filter says, the same for equal ones: its box where that is all, or its rows."""
        rows = self._store.rows
        if not rows.e[entry, ENTRY.FLAGS] & FLAG.BOX:
            if not kernels.is_conjunction(rows, entry):
                return self._identity(entry)
            start = int(rows.e[entry, ENTRY.START])
            return rows.r[start : start + int(rows.e[entry, ENTRY.SIZE])].tobytes()
        start = int(rows.e[entry, ENTRY.BOX])
        end = start + int(rows.e[entry, ENTRY.SIDES])
        return (
            rows.b[start:end, SIDE.SLOT].tobytes(), rows.b[start:end, SIDE.LOW].tobytes(),
            rows.b[start:end, SIDE.HIGH].tobytes(),
        )  # fmt: skip

    def _hang(self, node: int, below: int) -> None:
        """Puts a node, with all below it, to its place below another."""
        entry = int(self.arrays.n[node, NODE.HEAD])
        box = self._box(entry)
        parent = self._parent_for(entry, below, box)
        self._grow(parent)
        lower = self._lower(entry, parent, box)
        kernels.attach(self.arrays, self._store.rows, node, parent)
        own = int(self.arrays.n[node, NODE.COUNT]) > 0  # children that these were not compared with
        for child in lower:
            kernels.detach(self.arrays, child)
            if own:
                self._hang(child, node)
                continue
            self._grow(node)
            kernels.attach(self.arrays, self._store.rows, child, node)

    def _box(self, entry: int) -> Box:
        """The box of an entry."""
        rows = self._store.rows
        width = len(self._store.slots) + 1
        box = np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(width, np.uint8)
        start = int(rows.e[entry, ENTRY.BOX])
        sides = rows.b[start : start + int(rows.e[entry, ENTRY.SIDES])]
        slots = sides[:, SIDE.SLOT]
        box[0][slots], box[1][slots], box[2][slots] = sides[:, SIDE.LOW], sides[:, SIDE.HIGH], 1
        return box

    def _parent_for(self, entry: int, below: int, box: Box) -> int:
        """The lowest node that covers an entry, found going down from one."""
        rows, at = self._store.rows, int(self.arrays.n[below, NODE.START])
        while True:
            status, below, at = kernels.descend(self.arrays, rows, entry, below, at, *box)
            if status == kernels.NONE:
                return int(below)
            child = int(self.arrays.i[at, ITEM.NUMBER])
            if self._covers(int(self.arrays.n[child, NODE.HEAD]), entry):
                below, at = child, int(self.arrays.n[child, NODE.START])
            else:
                at += 1

    def _lower(self, entry: int, parent: int, box: Box) -> list[int]:
        """The children of a node that an entry covers."""
        out = np.empty((int(self.arrays.n[parent, NODE.COUNT]), 2), np.int64)
        count = kernels.covered(self.arrays, self._store.rows, entry, parent, *box, out)
        heads = self.arrays.n[:, NODE.HEAD]
        return [
            child
            for child, state in out[:count].tolist()
            if state != kernels.UNSURE or self._covers(entry, int(heads[child]))
        ]

    def _cover(self, entries: int) -> None:
        self.arrays = self.arrays._replace(e=grow(self.arrays.e, entries, len(self.arrays.e)))

    def _grow(self, node: int) -> None:
        """Makes room for a node, and for one more child of a node."""
        needed = 4 * (int(self.arrays.n[node, NODE.COUNT]) + _MORE)
        if kernels.has_items(self.arrays, needed):
            return
        state = self.arrays.state
        nodes, items = int(state[ForestState.NODES_USED]), int(state[ForestState.ITEMS_USED])
        self.arrays = self.arrays._replace(
            n=grow(self.arrays.n, nodes + _MORE, nodes),
            i=grow(self.arrays.i, items + needed, items),
        )

    def match(self, batch: BatchKeys) -> EntryMatches:
        """What a batch finds."""
        stack = np.empty(int(self.arrays.state[ForestState.NODES_USED]) + 1, np.int64)

        def find(keys: KeyBatch, begin: int, room: Candidates) -> int:
            at: int = kernels.find_covered(
                self.arrays, self._store.rows, keys.keys, keys.there, begin, stack, room.found,
                room.ends, room.counts, room.most,
            )  # fmt: skip
            return at

        return Search(batch, self._store, find).run()

    def renumber(self, kept: Ints) -> None:
        """Gives the entries new numbers, as `FilterStore.compact` does."""
        numbers = np.full(len(self.arrays.e) + 1, -1, np.int64)  # the last for -1
        numbers[kept] = np.arange(len(kept))
        arrays, nodes = self.arrays, self.nodes()
        arrays.n[nodes, NODE.HEAD] = numbers[arrays.n[nodes, NODE.HEAD]]
        entries = arrays.e[kept]
        entries[:, MEMBER.NEXT] = numbers[entries[:, MEMBER.NEXT]]
        self.arrays = arrays._replace(e=entries)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays, as far as they are used."""
        arrays, state = self.arrays, self.arrays.state
        nodes = int(state[ForestState.NODES_USED]) * arrays.n.itemsize * len(NODE)
        return (
            nodes
            + int(state[ForestState.ITEMS_USED]) * arrays.i.itemsize * len(ITEM)
            + arrays.e.nbytes
        )


def _empty() -> ForestArrays:
    return ForestArrays(
        n=np.zeros((16, len(NODE)), np.int64),
        i=np.zeros((64, len(ITEM)), np.int64),
        e=np.zeros((0, len(MEMBER)), np.int64),
        free=np.zeros(CLASSES, np.int64),
        state=np.zeros(len(ForestState), np.int64),
    )
