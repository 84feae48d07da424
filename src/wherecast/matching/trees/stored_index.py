"""The common part of `betree` and `forest`: filters by id in a store, and matching under a lock.

Concurrency: changes and matches exclude each other by one lock. Single filters wait until the next
match, which reads all that wait together and then inserts them one by one.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import override

from wherecast.language import Filter, PredicateTable, read_filters
from wherecast.language.bulk.deferred_reader import AcceptedFilter, DeferredReader
from wherecast.language.bulk.plain_reader import PlainFilter, PlainReader
from wherecast.language.table.table_join import joined
from wherecast.matching.columnar.run_arrays import put_strings
from wherecast.matching.engine import Drawable, Engine, Savable
from wherecast.matching.ids import Ids
from wherecast.matching.matches import Id, Matches
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.key_batch import BatchKeys
from wherecast.matching.trees.search import EntryMatches
from wherecast.matching.trees.tree_file import Arrays, save_filters
from wherecast.matching.trees.tree_pictures import PictureNode, dot_of, svg_of
from wherecast.model import ConfigError, FilterError, Schema

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]
_DEAD_MIN = 1_024  # dropped entries below which nothing is compacted


@dataclass(frozen=True, slots=True, eq=False)
class TableWithTexts:
    """The predicate table of filters, and their texts."""

    table: PredicateTable
    texts: list[str]

    @property
    def rejected(self) -> tuple[tuple[int, FilterError], ...]:
        """The row and the error of each text that is no filter."""
        return self.table.rejected


class StoredIndex(Engine, Drawable, Savable, ABC):
    """Filters by id, in a store; a subclass finds the candidates.

    Attributes:
        kind: the kind of index.
        schema: the schema that the filters are read with.
    """

    kind: ClassVar[str]

    def __init__(self, schema: Schema, store: FilterStore) -> None:
        self.schema = schema
        self._store = store
        self._reader = DeferredReader(schema, has_programs=False)
        self._plain = PlainReader(schema)
        self._ids: list[Id] = []  # by entry; those of results are never changed
        self._id_type: type = str  # of the ids that are there
        self._texts: list[str] = []
        self._numbers: dict[Id, int] = {}
        self._waiting: dict[Id, AcceptedFilter | PlainFilter] = {}
        self._lock = RLock()
        self._costs: Counter[str] = Counter()

    @abstractmethod
    def _insert(self, entries: range) -> None:
        """Puts new entries of the store into the index."""

    @abstractmethod
    def _remove(self, entry: int) -> None:
        """Takes an entry out of the index."""

    @abstractmethod
    def _search(self, batch: BatchKeys) -> EntryMatches:
        """The matches of a batch."""

    @abstractmethod
    def _renumber(self, kept: Ints) -> None:
        """Follows a compaction of the store, which keeps some entries, numbered from 0 on."""

    @abstractmethod
    def _shape(self) -> PictureNode:
        """The picture of the index; raises `ConfigError` where it is too large."""

    @abstractmethod
    def _plan(self) -> list[str]:
        """How the index is searched, in lines of text."""

    def __len__(self) -> int:
        with self._lock:
            return len(self._numbers) + len(self._waiting)

    def __contains__(self, id: Id) -> bool:
        with self._lock:
            return self._has(id)

    def _has(self, id: Id) -> bool:
        if not isinstance(id, self._id_type) or isinstance(id, bool):  # True is not 1
            return False
        return id in self._numbers or id in self._waiting

    def _expect(self, id_type: type) -> None:
        """Sets the type of the ids.

        Raises:
            ConfigError: there are ids of another type.
        """
        if id_type is not self._id_type and len(self):
            expected, given = self._id_type.__name__, id_type.__name__
            raise ConfigError(f"the ids of this index are {expected}, not {given}")
        self._id_type = id_type

    @override
    def add(self, id: Id, filter: Filter | str) -> None:
        text = filter.text if isinstance(filter, Filter) else filter
        with self._lock:
            waiting = self._plain.read(text) or self._reader.accept(text)
            if not isinstance(id, self._id_type):
                self._expect(str if isinstance(id, str) else int)
            self._drop([id])
            self._waiting[id] = waiting

    @override
    def read(self, filters: pa.Array | Sequence[Filter | str]) -> TableWithTexts:
        if isinstance(filters, pa.Array | pa.ChunkedArray):
            return TableWithTexts(
                read_filters(filters, self.schema, has_programs=False), filters.to_pylist()
            )
        texts = [f.text if isinstance(f, Filter) else f for f in filters]
        return TableWithTexts(read_filters(texts, self.schema, has_programs=False), texts)

    @override
    def add_all(self, ids: Ids, read: TableWithTexts, kept: Bools | None) -> None:
        names, texts, table = list(ids), read.texts, read.table
        if kept is not None:
            places = np.flatnonzero(kept).tolist()
            names, texts = [names[n] for n in places], [texts[n] for n in places]
            table = joined([(table, kept)], self.schema)
        with self._lock:
            self._settle()
            if names:
                self._expect(ids.id_type)
            self._drop(names)
            self._take(names, texts, table)

    @override
    def remove_all(self, ids: Sequence[Id]) -> None:
        with self._lock:
            for id in ids:
                if not self._has(id):
                    raise KeyError(id)
            self._drop(ids)

    @override
    def match(self, batch: pa.RecordBatch) -> Matches:
        with self._lock:
            self._settle()
            found = self._search(self._keys(batch))
            self._costs["publications"] += batch.num_rows
            self._costs["checked"] += found.checked
            self._costs["visited"] += found.visited
            return Matches(found.offsets, found.entries, self._ids)

    def _keys(self, batch: pa.RecordBatch) -> BatchKeys:
        return BatchKeys(batch, self._store.slots, self._store.leaves)

    def _drop(self, ids: Iterable[Id]) -> None:
        """Drops the filters of some ids; unknown ids are left out."""
        for id in ids:
            if self._waiting.pop(id, None) is None:
                entry = self._numbers.pop(id, None)
                if entry is not None:
                    self._remove(entry)

    def _settle(self) -> None:
        """Inserts the filters that wait, and compacts the store where most entries are dropped."""
        if self._waiting:
            waiting, self._waiting = self._waiting, {}
            plain = {id: one for id, one in waiting.items() if isinstance(one, PlainFilter)}
            if plain:
                entries = self._store.add_plain(list(plain.values()))
                self._enter(list(plain), [one.text for one in plain.values()], entries)
            others = {id: one for id, one in waiting.items() if isinstance(one, AcceptedFilter)}
            if others:
                table = self._reader.read_accepted(list(others.values()))
                self._take(list(others), [one.text for one in others.values()], table)
        dead = self._store.count - len(self._numbers)
        if dead > max(_DEAD_MIN, len(self._numbers)):
            kept = np.sort(np.fromiter(self._numbers.values(), np.int64, len(self._numbers)))
            self._store.compact(kept)
            self._renumber(kept)
            self._ids = [self._ids[entry] for entry in kept.tolist()]
            self._texts = [self._texts[entry] for entry in kept.tolist()]
            self._numbers = {id: entry for entry, id in enumerate(self._ids)}

    def _take(
        self,
        ids: list[Id],
        texts: list[str],
        table: PredicateTable,
        insert: Callable[[range], None] | None = None,
    ) -> None:
        """Adds filters of new ids from their table."""
        assert not table.rejected
        self._enter(ids, texts, self._store.add(table), insert)

    def _enter(
        self,
        ids: list[Id],
        texts: list[str],
        entries: range,
        insert: Callable[[range], None] | None = None,
    ) -> None:
        """Puts new entries of the store into the index."""
        self._ids += ids
        self._texts += texts
        self._numbers.update(zip(ids, entries, strict=True))
        (insert or self._insert)(entries)

    @override
    def save(self, path: Path) -> str:
        with self._lock:
            self._settle()
            ids = sorted(self._numbers)
            entries = [self._numbers[id] for id in ids]
            figures, arrays = self._layout(entries)
            put_strings(arrays, "texts", [self._texts[entry] for entry in entries])
            about = {"kind": self.kind, **figures}
            return save_filters(path, about, self.schema, Ids.of(ids), arrays)

    def _layout(self, entries: list[int]) -> tuple[dict[str, Any], Arrays]:
        """Figures, and arrays named `layout.…`, that describe how some entries are arranged."""
        return {}, {}

    @override
    def to_dot(self) -> str:
        with self._lock:
            self._settle()
            return dot_of(self._shape())

    @override
    def to_svg(self) -> str:
        with self._lock:
            self._settle()
            return svg_of(self._shape())

    @override
    def explain_plan(self) -> str:
        with self._lock:
            self._settle()
            done = self._costs["publications"]
            tried = self._costs["checked"] / max(1, done)
            cost = f"{done:,} publications matched so far, each tried on {tried:,.1f} filters"
            return "\n".join([*self._plan(), cost])

    @property
    @override
    def candidates(self) -> int:
        return self._costs["checked"]

    @property
    @override
    def nbytes(self) -> int:
        # The nodes over the filters are small.
        return self._store.nbytes

    def _cost_figures(self) -> dict[str, Any]:
        """The cost of matching so far."""
        done = max(1, self._costs["publications"])
        return {
            "publications_matched": self._costs["publications"],
            "filters_checked": self._costs["checked"],
            "per_publication": {
                "candidates": self._costs["checked"] / done,
                "nodes": self._costs["visited"] / done,
            },
        }
