"""The columnar index: filters by id over a snapshot.

Concurrency: `match` sees one consistent state, also while another thread changes the index. A
change is seen by the next `match`, which first reads all filters again.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.language import Filter, read_filters
from wherecast.matching.columnar.snapshot import Snapshot
from wherecast.matching.matches import Id, Matches
from wherecast.model import FilterError, Schema


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """A snapshot and the ids of its filters, sorted."""

    snapshot: Snapshot
    ids: list[Id]


class ColumnarIndex:
    """The texts of filters by id, and the snapshot of them."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._texts: dict[Id, str] = {}
        self._state: _State | None = None
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._texts)

    def __contains__(self, id: Id) -> bool:
        return id in self._texts

    def read(self, filters: list[Filter | str]) -> list[str | FilterError]:
        """The filters as `add_all` takes them, or what is wrong with each."""
        texts = [filter.text if isinstance(filter, Filter) else filter for filter in filters]
        rejected = dict(read_filters(texts, self._schema).rejected)
        return [rejected.get(row, text) for row, text in enumerate(texts)]

    def add_all(self, filters: Iterable[tuple[Id, str]]) -> None:
        """Adds filters, or replaces those of the same ids, all at once."""
        with self._lock:
            self._texts.update(filters)
            self._state = None

    def remove_all(self, ids: Iterable[Id]) -> None:
        """Removes filters that are there, all at once."""
        with self._lock:
            for id in ids:
                del self._texts[id]
            self._state = None

    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each publication."""
        state = self._current()
        found = state.snapshot.match(batch)
        return Matches(found.offsets, found.numbers.astype(np.int32), state.ids)

    def stats(self) -> dict[str, Any]:
        """Figures about the snapshot, read first where filters have changed."""
        table = self._current().snapshot.table
        return {
            "conjunctions": len(table.predicate_offsets) - 1,
            "predicates": len(table.kind),
            "shapes": table.shapes,
            "table_bytes": table.nbytes,
        }

    def _current(self) -> _State:
        with self._lock:
            if self._state is None:
                ids = sorted(self._texts)
                table = read_filters([self._texts[id] for id in ids], self._schema)
                self._state = _State(Snapshot.of(table), ids)
            return self._state
