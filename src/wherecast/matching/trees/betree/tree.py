"""A BE-Tree of the filters of a store: the kernels with the room that they need.

Not safe to change from one thread while another uses it.
"""

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import spans
from wherecast.matching.trees.betree import kernels
from wherecast.matching.trees.betree.kernels import ALL
from wherecast.matching.trees.betree.layout import CNODE, PNODE, ROOT, Tree, TreeLimits, TreeState
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.betree.room import empty_tree, with_entries, with_room
from wherecast.matching.trees.betree.tree_outline import parts_of
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.items import ITEM
from wherecast.matching.trees.key_batch import BatchKeys, KeyBatch
from wherecast.matching.trees.row_layout import ENTRY, SIDE
from wherecast.matching.trees.search import Candidates, EntryMatches, Search

Ints = npt.NDArray[np.int64]
_MORE = 64  # nodes that room is made for at least


class BETree:
    """The tree, and the store that its entries are in.

    Attributes:
        arrays: the tree as arrays; replaced where they must grow.
        limits: the parameters as kernels take them.
    """

    def __init__(self, store: FilterStore, parameters: TreeParameters) -> None:
        self._store = store
        self.limits = TreeLimits(
            parameters.leaf_max, parameters.leaf_min, parameters.depth_max,
            float(parameters.alpha), float(parameters.beta), parameters.sample,
        )  # fmt: skip
        self.arrays: Tree = with_room(empty_tree(), 4, 16)
        kernels.plant(self.arrays, self.limits)

    def insert(self, entries: range) -> None:
        """Inserts entries that are in no l-node yet."""
        self.cover(entries.stop)
        rows, domains = self._store.rows, self._store.slots.domains()
        counts = np.zeros(len(domains.least), np.int64)
        at = entries.start
        while at < entries.stop or self.arrays.state[TreeState.WAITING]:
            at = kernels.insert(self.arrays, rows, domains, self.limits, at, entries.stop, counts)
            if at < entries.stop or self.arrays.state[TreeState.WAITING]:
                self.grow()

    def cover(self, entries: int) -> None:
        """Makes room for so many entries."""
        self.arrays = with_entries(self.arrays, entries)

    def grow(self) -> None:
        """Makes room for more nodes and items."""
        state = self.arrays.state
        fullest = int(self.arrays.c[: state[TreeState.C_USED], CNODE.COUNT].max(initial=0))
        self.arrays = with_room(self.arrays, _MORE, 16 * (fullest + _MORE))

    def remove(self, entry: int) -> None:
        """Removes an entry."""
        while not kernels.remove(self.arrays, self._store.rows, self.limits, entry):
            self.grow()

    def gather(self, slot: int) -> None:
        """Moves the filters of the root's l-node that use an attribute to where they belong.

        A p-node that came with a branch takes them, as one that was made here does.
        """
        start = int(self.arrays.c[ROOT, CNODE.START])
        end = start + int(self.arrays.c[ROOT, CNODE.COUNT])
        rows = self._store.rows
        for entry in self.arrays.i[start:end, ITEM.NUMBER].tolist():
            box = int(rows.e[entry, ENTRY.BOX])
            if slot in rows.b[box : box + int(rows.e[entry, ENTRY.SIDES]), SIDE.SLOT]:
                self.remove(entry)
                self.insert(range(entry, entry + 1))

    def branches(self) -> list[int]:
        """The p-nodes of the root."""
        return list(parts_of(self.arrays, ROOT))

    def match(self, batch: BatchKeys, only: int = ALL) -> EntryMatches:
        """The matches of a batch in the whole tree, or in the part that `only` names."""
        stack = np.empty(int(self.arrays.state[TreeState.C_USED]) + 1, np.int64)

        def find(keys: KeyBatch, begin: int, room: Candidates) -> int:
            if keys.odd[begin] and only == ALL:
                kernels.find_all(
                    self.arrays, self._store.count, begin, begin + 1, room.found, room.ends,
                    room.counts,
                )  # fmt: skip
                return begin + 1
            end = None
            if only == ALL and keys.any_odd:
                later = np.flatnonzero(keys.odd[begin:])
                end = begin + int(later[0]) if len(later) else None
            at: int = kernels.find(
                self.arrays, only, keys.keys[:end], keys.there[:end], begin, stack, room.found,
                room.ends, room.counts, room.most,
            )  # fmt: skip
            return at

        found = Search(batch, self._store, find).run()
        if self.limits.alpha > 0 and only == ALL:
            self._sample(batch, found, stack)
        return found

    def _sample(self, batch: BatchKeys, found: EntryMatches, stack: Ints) -> None:
        """Notes what was tried in vain, on one publication in so many."""
        state = self.arrays.state
        seen, every = int(state[TreeState.SEEN]), self.limits.sample
        state[TreeState.SEEN] += batch.rows
        for row in range(-seen % every, batch.rows, every):
            keys = batch.chunk(row, row + 1)
            if not keys.any_odd:
                matched = found.entries[found.offsets[row] : found.offsets[row + 1]]
                kernels.note_loss(self.arrays, keys.keys, keys.there, 0, matched, stack)
                state[TreeState.SAMPLED] += 1

    def renumber(self, kept: Ints) -> None:
        """Gives the entries new numbers, as `FilterStore.compact` does."""
        numbers = np.full(len(self.arrays.e) + 1, -1, np.int64)
        numbers[kept] = np.arange(len(kept))
        tree, nodes = self.arrays, self.nodes()
        places = spans(tree.c[nodes, CNODE.START], tree.c[nodes, CNODE.COUNT])
        tree.i[places, ITEM.NUMBER] = numbers[tree.i[places, ITEM.NUMBER]]
        self.arrays = tree._replace(e=tree.e[kept])

    def nodes(self) -> Ints:
        """The c-nodes that are used."""
        pnodes = self.arrays.c[: int(self.arrays.state[TreeState.C_USED]), CNODE.PNODE]
        return np.flatnonzero(pnodes >= -1)

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays, as far as they are used."""
        tree, state = self.arrays, self.arrays.state
        nodes = int(state[TreeState.C_USED]) * (tree.c.itemsize * len(CNODE) + 2 * tree.f.itemsize)
        nodes += int(state[TreeState.P_USED]) * tree.p.itemsize * len(PNODE)
        return (
            nodes + int(state[TreeState.ITEMS_USED]) * tree.i.itemsize * len(ITEM) + tree.e.nbytes
        )
