"""The index of kind `betree`: filters by id in a BE-Tree, with branches that move.

Concurrency: as `StoredIndex`, one lock. A branch that was cut off is a value of its own.
"""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import override

from wherecast.language import read_filters
from wherecast.language.table.attribute_names import attribute_name, attribute_of
from wherecast.matching.columnar.run_arrays import get_strings, put_strings
from wherecast.matching.engine import Branching
from wherecast.matching.ids import Ids
from wherecast.matching.matches import Matches
from wherecast.matching.trees.betree import kernels
from wherecast.matching.trees.betree.branch import Branch, BranchFigures, check_schema, named
from wherecast.matching.trees.betree.drawing import shape_of
from wherecast.matching.trees.betree.figures import depth_of, figures_of, plan_of
from wherecast.matching.trees.betree.kernels import REST
from wherecast.matching.trees.betree.layout import PLACE, PNODE, ROOT, TreeState
from wherecast.matching.trees.betree.listing import (
    FIELDS,
    Listing,
    add_counts,
    list_nodes,
    make_nodes,
    place_entries,
)
from wherecast.matching.trees.betree.parameters import TreeParameters
from wherecast.matching.trees.betree.tree import BETree
from wherecast.matching.trees.betree.tree_outline import outline
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.key_batch import BatchKeys
from wherecast.matching.trees.search import EntryMatches, side_by_side
from wherecast.matching.trees.stored_index import StoredIndex
from wherecast.matching.trees.tree_file import Arrays, load_filters
from wherecast.matching.trees.tree_pictures import PictureNode, check_size
from wherecast.model import ConfigError, Schema, SnapshotError

Small = npt.NDArray[np.int32]


class BETreeIndex(StoredIndex, Branching):
    """Filters by id, in a BE-Tree.

    Attributes:
        parameters: how the tree grows and shrinks.
    """

    kind = "betree"

    def __init__(self, schema: Schema, parameters: TreeParameters | None = None) -> None:
        super().__init__(schema, FilterStore())
        self.parameters = parameters or TreeParameters()
        self._tree = BETree(self._store, self.parameters)

    @override
    def _insert(self, entries: range) -> None:
        self._tree.insert(entries)

    @override
    def _remove(self, entry: int) -> None:
        self._tree.remove(entry)

    @override
    def _search(self, batch: BatchKeys) -> EntryMatches:
        return self._tree.match(batch)

    @override
    def _renumber(self, kept: npt.NDArray[np.int64]) -> None:
        self._tree.renumber(kept)

    # --- branches

    @override
    def branches(self) -> list[BranchFigures]:
        with self._lock:
            self._settle()
            tree = self._tree.arrays
            found = [
                BranchFigures(
                    *self._name(p), int(tree.p[p, PNODE.COUNT]),
                    int(tree.p[p, PNODE.CHECKED]), float(kernels.score(tree, self._tree.limits, p)),
                )
                for p in self._tree.branches()
            ]  # fmt: skip
            return sorted(found, key=lambda b: (-b.subscriptions, b.attribute, b.type))

    @override
    def cut(self, attribute: str, type: str | None = None) -> Branch:
        with self._lock:
            self._settle()
            p = self._branch(attribute, type)
            listing, places = list_nodes(self._tree.arrays, p)
            nodes = self._tree.arrays.e[: self._store.count, PLACE.NODE]
            entries = np.flatnonzero(np.isin(nodes, list(places))).tolist()
            branch = self._taken(listing, places, entries)
            stack = np.empty(2 * len(listing) + 2, np.int32)
            kernels.cut(self._tree.arrays, p, stack)
            for entry in entries:
                del self._numbers[self._ids[entry]]
            return branch

    def _branch(self, attribute: str, type: str | None) -> int:
        names = {self._name(p): p for p in self._tree.branches()}
        found = [(kind, p) for (name, kind), p in names.items() if name == attribute]
        if type is not None:
            found = [(kind, p) for kind, p in found if kind == type]
        if not found:
            raise KeyError(attribute if type is None else f"{attribute} as {type}")
        if len(found) > 1:
            types = " and as ".join(sorted(kind for kind, _ in found))
            raise ConfigError(f"{attribute} is branched as {types}; say which")
        return found[0][1]

    def _taken(self, listing: Listing, rows: dict[int, int], entries: list[int]) -> Branch:
        names = [attribute_name(a) for a in self._store.slots.attributes]
        numbered, attributes = named(listing, names)
        nodes = self._tree.arrays.e
        places = np.array(
            [rows.get(int(nodes[entry, PLACE.NODE]), -1) for entry in entries], np.int32
        )
        ids, texts = [self._ids[e] for e in entries], [self._texts[e] for e in entries]
        sampled = int(self._tree.arrays.state[TreeState.SAMPLED])
        return Branch(attributes, numbered, Ids.of(ids), texts, places, sampled)

    @override
    def graft(self, branch: Branch) -> None:
        ids = list(branch.ids)
        with self._lock:
            self._settle()
            self._expect(branch.ids.id_type)
            here = [id for id in ids if self._has(id)]
            if here:
                raise ConfigError(f"{len(here)} ids are here already, such as {here[0]!r}")
            check_schema(branch, self.schema)
            table = read_filters(branch.texts, self.schema, has_programs=False)
            if table.rejected:
                raise SnapshotError(f"a filter of the branch is none: {table.rejected[0][1]}")
            slots = self._slots(branch.attributes)
            listing, sampled = self._resampled(branch.listing, branch.sampled)
            known = [
                p for p in self._tree.branches() if self._tree.arrays.p[p, PNODE.SLOT] == slots[0]
            ]
            if known:
                self._take(ids, branch.texts, table)
                add_counts(self._tree, known[0], listing)
            else:
                place = self._checked(listing, slots, branch.places)
                self._take(ids, branch.texts, table, place)
                self._tree.gather(slots[0])
            self._tree.arrays.state[TreeState.SAMPLED] = sampled

    def _resampled(self, listing: Listing, sampled: int) -> tuple[Listing, int]:
        """A listing with its counts scaled to the samples of this tree, and the number of these.

        A tree that has sampled nothing yet takes over what was sampled elsewhere.
        """
        here = int(self._tree.arrays.state[TreeState.SAMPLED]) or sampled
        return listing.resampled(sampled, here), here

    def _slots(self, attributes: Any) -> list[int]:
        found = [attribute_of(self.schema, name, kind) for name, kind in attributes]
        return [self._store.slots.number(attribute) for attribute in found]

    def _checked(
        self, listing: Listing, slots: list[int], places: Small
    ) -> Callable[[range], None]:
        """A function that puts new entries into the nodes of a listing.

        Raises:
            SnapshotError: the listing does not make a tree.
        """
        domains = self._store.slots.domains()
        make_nodes(BETree(self._store, self.parameters), listing, slots, domains)
        if len(places) and not -1 <= places.min() <= places.max() < len(listing):
            raise SnapshotError("a filter is in no node of the listing")

        def place(entries: range) -> None:
            made = make_nodes(self._tree, listing, slots, domains)
            nodes = np.where(places < 0, np.int32(-1), made[places]).astype(np.int32)
            place_entries(self._tree, self._store, entries, nodes)
            within = np.append(np.int32(ROOT), made)
            kernels.prune(self._tree.arrays, self._store.rows, self._tree.limits, within)

        return place

    @override
    def time_branches(
        self, batch: pa.RecordBatch, clock: Callable[[], int]
    ) -> tuple[Matches, dict[tuple[str, str], int]]:
        with self._lock:
            self._settle()
            keys = self._keys(batch)
            times: dict[tuple[str, str], int] = {}
            found: list[EntryMatches] = []
            for only in [REST, *self._tree.branches()]:
                started = clock()
                found.append(self._tree.match(keys, only))
                times[("", "") if only == REST else self._name(only)] = clock() - started
            return Matches(*side_by_side(found, batch.num_rows), self._ids), times

    def _name(self, p: int) -> tuple[str, str]:
        """The name and the type of a p-node's attribute."""
        attribute = self._store.slots.attributes[self._tree.arrays.p[p, PNODE.SLOT]]
        return attribute_name(attribute)

    # --- files

    @override
    def _layout(self, entries: list[int]) -> tuple[dict[str, Any], Arrays]:
        listing, rows = list_nodes(self._tree.arrays)
        branch = self._taken(listing, rows, entries)
        arrays: Arrays = {f"layout.{n}": c for n, c in branch.listing.columns().items()}
        arrays["layout.places"] = branch.places
        arrays["layout.sampled"] = np.array([branch.sampled])
        put_strings(arrays, "layout.names", [f"{kind} {name}" for name, kind in branch.attributes])
        return {"parameters": asdict(self.parameters)}, arrays

    @classmethod
    def load(cls, path: Path) -> tuple["BETreeIndex", type]:
        """The index in a file, which is read as a whole, and the type of its ids.

        Raises:
            SnapshotError: the file is missing, damaged, or of a newer format.
        """
        figures, arrays, schema, ids, texts = load_filters(path)
        index = cls(schema, TreeParameters(**figures["parameters"]))
        listing = Listing.of({name: arrays[f"layout.{name}"] for name in FIELDS})
        names = [
            name.split(" ", 1)[::-1] for name in get_strings(arrays, "layout.names").to_pylist()
        ]
        sampled = int(arrays["layout.sampled"][0]) if "layout.sampled" in arrays else 0
        listing, index._tree.arrays.state[TreeState.SAMPLED] = index._resampled(listing, sampled)
        place = index._checked(listing, index._slots(names), np.array(arrays["layout.places"]))
        index._expect(ids.id_type)
        index._take(
            list(ids), texts.to_pylist(), read_filters(texts, schema, has_programs=False), place
        )
        return index, ids.id_type

    # --- what can be read

    @override
    def _shape(self) -> PictureNode:
        nodes = self._tree.nodes().tolist()
        check_size(len(nodes))
        check_size(len(nodes), max(depth_of(self._tree, node) for node in nodes))
        return shape_of(outline(self._tree.arrays), self._store.slots, self._ids)

    @override
    def _plan(self) -> list[str]:
        figures = figures_of(self._tree, self._store, len(self._numbers))
        return plan_of(figures, len(self._numbers), self.branches())

    @override
    def stats(self) -> dict[str, Any]:
        with self._lock:
            self._settle()
            return {
                **figures_of(self._tree, self._store, len(self._numbers)),
                **self._cost_figures(),
            }
