"""The index of kind `forest`: filters by id in a covering forest.

Concurrency: as `StoredIndex`, one lock.

Which filters a broker passes on to its neighbours: those of `covering_set`. When one goes, those
that `withdraw` gives must be passed on first.
"""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from wherecast.language import Filter, read_filters
from wherecast.matching.engine import Covering
from wherecast.matching.matches import Id
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.forest.drawing import shape_of
from wherecast.matching.trees.forest.figures import figures_of
from wherecast.matching.trees.forest.layout import MEMBER, TOP
from wherecast.matching.trees.forest.tree import CoveringForest
from wherecast.matching.trees.key_batch import BatchKeys
from wherecast.matching.trees.search import EntryMatches
from wherecast.matching.trees.stored_index import StoredIndex
from wherecast.matching.trees.tree_file import load_filters
from wherecast.matching.trees.tree_pictures import PictureNode, check_size
from wherecast.model import Schema


class ForestIndex(StoredIndex, Covering):
    """Filters by id, each below one that covers it."""

    kind = "forest"

    def __init__(self, schema: Schema) -> None:
        super().__init__(schema, FilterStore(circles=False))
        self._forest = CoveringForest(self._store, self._covers, self._identity)
        self._filters: dict[int, Filter] = {}  # by entry, those that are more than boxes

    @override
    def covering_set(self) -> list[Id]:
        with self._lock:
            self._settle()
            return self._ids_of(self._forest.children(TOP))

    @override
    def withdraw(self, id: Id) -> list[Id]:
        with self._lock:
            if not self._has(id):
                raise KeyError(id)
            self._settle()
            uncovered = self._forest.remove(self._numbers[id])
            self._filters.pop(self._numbers.pop(id), None)
            return self._ids_of(uncovered)

    def parent(self, id: Id) -> list[Id]:
        """The ids of the equal filters right above one; none where it is a root.

        Raises:
            KeyError: there is no filter of that id that can match.
        """
        with self._lock:
            self._settle()
            node = int(self._forest.arrays.e[self._numbers[id], MEMBER.NODE])
            if node < 0:
                raise KeyError(id)
            above = self._forest.parent(node)
            return [] if above == TOP else self._ids_of([above])

    def _ids_of(self, nodes: list[int]) -> list[Id]:
        return sorted(self._ids[entry] for node in nodes for entry in self._forest.entries(node))

    @override
    def _insert(self, entries: range) -> None:
        for entry in entries:
            self._forest.insert(entry)

    @override
    def _remove(self, entry: int) -> None:
        self._forest.remove(entry)
        self._filters.pop(entry, None)

    @override
    def _search(self, batch: BatchKeys) -> EntryMatches:
        return self._forest.match(batch)

    @override
    def _renumber(self, kept: npt.NDArray[np.int64]) -> None:
        self._forest.renumber(kept)
        numbers = {old: new for new, old in enumerate(kept.tolist())}
        self._filters = {numbers[old]: f for old, f in self._filters.items() if old in numbers}

    def _filter(self, entry: int) -> Filter:
        found = self._filters.get(entry)
        if found is None:
            found = self._filters[entry] = Filter(self._texts[entry], self.schema)
        return found

    def _covers(self, outer: int, inner: int) -> bool:
        return self._filter(outer).covers(self._filter(inner))

    def _identity(self, entry: int) -> Hashable:
        found = self._filter(entry)
        return frozenset(found.normal.conjunctions) if found.normal.is_exact else found.expression

    @classmethod
    def load(cls, path: Path) -> tuple["ForestIndex", type]:
        """The index in a file, and the type of its ids; the forest is made anew.

        Raises:
            SnapshotError: the file is missing, damaged, or of a newer format.
        """
        _, _, schema, ids, texts = load_filters(path)
        index = cls(schema)
        index._expect(ids.id_type)
        index._take(list(ids), texts.to_pylist(), read_filters(texts, schema, has_programs=False))
        return index, ids.id_type

    @override
    def _shape(self) -> PictureNode:
        check_size(len(self._forest.nodes()))
        return shape_of(self._forest, self._ids, self._texts)

    @override
    def _plan(self) -> list[str]:
        figures = figures_of(self._forest, self._store, len(self._numbers))
        filters = f"{len(self._numbers):,} filters in a covering forest"
        never = f"{figures['never_matching']:,} of them never matching"
        nodes = f"{figures['nodes']:,} nodes, {figures['roots']:,} roots"
        return [
            f"{filters}, {never}: {nodes}, {figures['depth']} deep",
            "a publication is tried on the roots, and on what is below a filter that matches",
        ]

    @override
    def stats(self) -> dict[str, Any]:
        with self._lock:
            self._settle()
            return {
                **figures_of(self._forest, self._store, len(self._numbers)),
                **self._cost_figures(),
            }
