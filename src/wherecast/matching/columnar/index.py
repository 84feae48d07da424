"""The columnar index: filters by id, in runs.

Concurrency: any number of threads may match while others change the index. Changes are made under
one lock and wait; the next `match` puts them into a new run and publishes a new tuple of runs. A
match works on the tuple that it found, so it sees one consistent state: all changes that were made
before it began, and perhaps some that were made while it waited for the lock. Runs are merged by a
thread of their own, which holds the lock only to put the result in their place.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.language import Filter, read_filters
from wherecast.matching.columnar.explain import explain_plan
from wherecast.matching.columnar.file import map_file, write_file
from wherecast.matching.columnar.runs import Run, due, merged, run_of
from wherecast.matching.columnar.saved import put_together, taken_apart
from wherecast.matching.columnar.snapshot import Found
from wherecast.matching.matches import Id, Matches
from wherecast.model import FilterError, Schema

_COUNTERS = (
    "changes_published",
    "merges",
    "filters_read_again",
    "matches_while_merging",
    "publications_matched",
    "blocks_inner_read",
    "blocks_leaf_read",
    "entries_checked",
)

_TYPES: dict[str, type] = {"string": str, "int": int}


class ColumnarIndex:
    """Runs of filters, and the changes since."""

    def __init__(self, schema: Schema, runs: Sequence[Run] = ()) -> None:
        self._schema = schema
        self._lock = Lock()
        self._merge_lock = Lock()  # taken before the other
        self._runs: tuple[Run, ...] = tuple(runs)
        self._added: dict[Id, str] = {}
        self._hidden: dict[int, set[int]] = {}  # by run, numbers that changes hide
        self._count = sum(len(run) for run in runs)
        self._merging: Thread | None = None
        self._counters: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._count

    def __contains__(self, id: Id) -> bool:
        with self._lock:
            return id in self._added or self._place(id) is not None

    def read(self, filters: list[Filter | str]) -> list[str | FilterError]:
        """The filters as `add_all` takes them, or what is wrong with each."""
        texts = [filter.text if isinstance(filter, Filter) else filter for filter in filters]
        rejected = dict(read_filters(texts, self._schema).rejected)
        return [rejected.get(row, text) for row, text in enumerate(texts)]

    def add_all(self, filters: Iterable[tuple[Id, str]]) -> None:
        """Adds filters, or replaces those of the same ids, all at once."""
        given = dict(filters)
        with self._lock:
            for id in given:
                if id not in self._added and not self._hide(id):
                    self._count += 1
            self._added.update(given)

    def remove_all(self, ids: Iterable[Id]) -> None:
        """Removes filters that are there, all at once."""
        with self._lock:
            for id in ids:
                if self._added.pop(id, None) is None:
                    self._hide(id)
                self._count -= 1

    def _place(self, id: Id) -> tuple[int, int] | None:
        """The run and the number of a filter that no change hides."""
        for place in range(len(self._runs) - 1, -1, -1):
            number = self._runs[place].find(id)
            if number is not None and number not in self._hidden.get(place, ()):
                return place, number
        return None

    def _hide(self, id: Id) -> bool:
        """Hides a filter in its run; whether there was one."""
        found = self._place(id)
        if found is not None:
            self._hidden.setdefault(found[0], set()).add(found[1])
        return found is not None

    def runs(self) -> tuple[Run, ...]:
        """The runs with all changes that were made so far; starts merging where it is due."""
        with self._lock:
            if self._added or self._hidden:
                self._publish()
            if self._merging is None and due(self._runs) is not None:
                self._merging = Thread(target=self._merge_beside, daemon=True)
                self._merging.start()
            return self._runs

    def _publish(self) -> None:
        """Makes the waiting changes part of the runs. Under the lock."""
        runs = [run.without(self._hidden.get(place, ())) for place, run in enumerate(self._runs)]
        if self._added:
            runs.append(run_of(self._added, self._schema))
        self._runs = tuple(runs)
        self._added, self._hidden = {}, {}
        self._counters["changes_published"] += 1

    def _merge_beside(self) -> None:
        """Merges runs until none is due, while others match and change the index."""
        while True:
            with self._merge_lock:
                with self._lock:
                    runs, span = self._runs, due(self._runs)
                    if span is None:
                        self._merging = None
                        return
                one = merged(runs[span], self._schema)
                with self._lock:
                    self._replace(runs[span], span, one)

    def _replace(self, old: Sequence[Run], span: slice, one: Run) -> None:
        """Puts a merged run in the place of those it was made from. Under the lock.

        What was hidden in them since is hidden in it. Other runs were only added behind them.
        """
        if self._added or self._hidden:
            self._publish()
        gone = [
            id
            for before, now in zip(old, self._runs[span], strict=True)
            for id in _hidden_since(before, now)
        ]
        numbers = [number for id in gone if (number := one.find(id)) is not None]
        self._runs = (*self._runs[: span.start], one.without(numbers), *self._runs[span.stop :])
        self._counters["merges"] += 1
        self._counters["filters_read_again"] += len(one.ids)

    def compact(self) -> Run:
        """One run with all filters as of now; others may match and change the index meanwhile."""
        with self._merge_lock:
            with self._lock:
                if self._added or self._hidden:
                    self._publish()
                runs = self._runs
            if len(runs) == 1 and runs[0].hidden is None:
                return runs[0]
            one = merged(runs, self._schema)
            with self._lock:
                self._replace(runs, slice(0, len(runs)), one)
            return one

    def wait(self) -> None:
        """Returns when no merge is running."""
        while (thread := self._merging) is not None:
            thread.join()

    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each publication."""
        runs = self.runs()
        merging = self._merging is not None
        found = [run.match(batch) for run in runs]
        with self._lock:
            self._counters["matches_while_merging"] += merging
            self._counters["publications_matched"] += batch.num_rows
            self._counters["blocks_inner_read"] += sum(part.inner for part in found)
            self._counters["blocks_leaf_read"] += sum(part.leaf for part in found)
            self._counters["entries_checked"] += sum(part.checked for part in found)
        if len(runs) == 1:
            return Matches(found[0].offsets, found[0].numbers, runs[0].ids)
        return _joined(found, runs, batch.num_rows)

    def save(self, path: Path) -> str:
        """Writes all filters as one run; returns the content id of the file."""
        return write_file(path, *taken_apart(self.compact(), self._schema))

    @classmethod
    def load(cls, path: Path) -> tuple["ColumnarIndex", Schema, type]:
        """The index in a file, its schema and the type of its ids; the file is mapped."""
        figures, arrays, _ = map_file(path)
        run, schema = put_together(figures, arrays)
        return cls(schema, [run] if len(run) else []), schema, _TYPES[figures["ids"]]

    def explain_plan(self) -> str:
        """The groups that the planner chose, in lines of text; builds the trees where needed."""
        return explain_plan(self.runs())

    def stats(self) -> dict[str, Any]:
        """Figures about the runs, and what matching has cost so far."""
        runs = self.runs()
        tables = [run.snapshot.table for run in runs]
        return {
            "runs": [len(run) for run in runs],
            "hidden": sum(run.hidden_count for run in runs),
            "conjunctions": sum(len(table.predicate_offsets) - 1 for table in tables),
            "predicates": sum(len(table.kind) for table in tables),
            "table_bytes": sum(table.nbytes for table in tables),
            "forest_bytes": sum(run.snapshot.forest_bytes for run in runs),
            **{name: self._counters[name] for name in _COUNTERS},
        }


def _hidden_since(before: Run, now: Run) -> list[Id]:
    """The ids of filters that were hidden in a run since."""
    if now.hidden is None or now.hidden is before.hidden:
        return []
    new = now.hidden if before.hidden is None else now.hidden & ~before.hidden
    return [now.ids[number] for number in np.flatnonzero(new).tolist()]


class _Ids(Sequence[Id]):
    """The ids of several runs, one after the other, without copying them."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._parts = [run.ids for run in runs]
        self._ends = np.cumsum([len(ids) for ids in self._parts])

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    def __iter__(self) -> Iterator[Id]:
        for ids in self._parts:
            yield from ids

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return list(self)[number]
        part = int(np.searchsorted(self._ends, number, side="right"))
        return self._parts[part][number - (int(self._ends[part - 1]) if part else 0)]


def _joined(found: list[Found], runs: Sequence[Run], rows: int) -> Matches:
    """The matches of several runs as one, run by run within each publication."""
    counts = np.zeros(rows, np.int64)
    for part in found:
        counts += np.diff(part.offsets)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(int(offsets[-1]), np.int32)
    free, first = offsets[:-1].copy(), 0
    for part, run in zip(found, runs, strict=True):
        sizes = np.diff(part.offsets)
        places = np.repeat(free - part.offsets[:-1], sizes) + np.arange(len(part.numbers))
        indices[places] = part.numbers + first
        free += sizes
        first += len(run.ids)
    return Matches(offsets, indices, _Ids(runs))
