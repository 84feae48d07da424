"""The columnar index: filters by id, in runs.

Concurrency: any number of threads may match while others change the index. Changes are made under
one lock. Single filters wait until the next `match`, which puts them into a run; a match works on
the tuple of runs that it found, so it sees one consistent state: all changes that were made before
it began, and perhaps some that were made while it waited for the lock. Runs are merged by a thread
of their own, which holds the lock only to put the result in their place.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import override

from wherecast.language import Filter, PredicateTable, read_filters
from wherecast.language.bulk.deferred_reader import AcceptedFilter, DeferredReader
from wherecast.language.table.table_join import joined
from wherecast.matching.columnar.one_row.row_searches import RowSearches
from wherecast.matching.columnar.packing.plan_description import explain_plan
from wherecast.matching.columnar.packing.samples import Samples
from wherecast.matching.columnar.run_arrays import load_run, save_run
from wherecast.matching.columnar.runs import Run, due, matches_of, merged, ordered
from wherecast.matching.engine import Engine, RowMatching, Savable
from wherecast.matching.ids import Ids
from wherecast.matching.matches import Id, Matches, RowMatches
from wherecast.matching.run_tiers import TIER_FILTERS
from wherecast.model import Schema

Bools = npt.NDArray[np.bool_]
_FILTERS_PER_RENT = 50  # that are merged in about the time that one more run costs a match
_ROWS_PER_RENT = 32  # publications one by one, which one more run costs as much as a match
_RENT_MIN = 100  # matches with one more run that are no reason to merge
_COUNTERS = (
    "changes_published",
    "merges",
    "filters_merged",
    "matches_while_merging",
    "publications_matched",
    "blocks_inner_read",
    "blocks_leaf_read",
    "entries_checked",
)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The sizes that decide when runs grow and merge.

    Attributes:
        tier_filters: largest number of filters of a run of the lowest tier.
        growing_max: largest number of filters of a run that takes up single new filters.
    """

    tier_filters: int = TIER_FILTERS
    growing_max: int = 1024


_SETTINGS = RunSettings()


class ColumnarIndex(Engine, RowMatching, Savable):
    """The engine of kind `columnar`: runs of filters, and single changes that wait for a run."""

    def __init__(
        self, schema: Schema, runs: Sequence[Run] = (), settings: RunSettings = _SETTINGS
    ) -> None:
        self._schema = schema
        self._settings = settings
        self._reader = DeferredReader(schema)
        self._samples = Samples()
        self._lock = Lock()
        self._merge_lock = Lock()  # taken before the other
        self._runs: tuple[Run, ...] = tuple(runs)
        self._added: dict[Id, AcceptedFilter] = {}
        self._hidden: dict[int, set[int]] = {}  # by run, numbers that changes hide
        self._count = sum(len(run) for run in runs)
        self._merging: Thread | None = None
        self._span: slice | None = None  # the runs that are being merged
        self._rent = 0.0  # what several runs have cost since the last change
        self._counters: Counter[str] = Counter()
        self._row_searches = RowSearches(schema, self._samples)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, id: Id) -> bool:
        with self._lock:
            return self._has(id)

    @override
    def add(self, id: Id, filter: Filter | str) -> None:
        with self._lock:
            accepted = self._reader.accept(filter.text if isinstance(filter, Filter) else filter)
            if id not in self._added and not self._hide(id):
                self._count += 1
            self._added[id] = accepted

    @override
    def read(self, filters: pa.Array | Sequence[Filter | str]) -> PredicateTable:
        if not isinstance(filters, pa.Array | pa.ChunkedArray):
            filters = [f.text if isinstance(f, Filter) else f for f in filters]
        return read_filters(filters, self._schema)  # which may take long: not under the lock

    @override
    def add_all(self, ids: Ids, read: PredicateTable, kept: Bools | None) -> None:
        if kept is not None:
            ids, read = Ids.joined([(ids, kept)]), joined([(read, kept)], self._schema)
        if not len(ids):
            return
        one = Run.of(ids, read)
        with self._lock:
            self._publish()
            runs = [run.without(run.find_all(ids)) for run in self._runs]
            self._runs = (*runs, one)
            self._count = sum(len(run) for run in self._runs)
            self._rent = 0.0
            self._counters["changes_published"] += 1

    @override
    def remove_all(self, ids: Sequence[Id]) -> None:
        with self._lock:
            for id in ids:
                if not self._has(id):
                    raise KeyError(id)
            for id in ids:
                if self._added.pop(id, None) is None:
                    self._hide(id)
                self._count -= 1

    def _has(self, id: Id) -> bool:
        return id in self._added or self._place(id) is not None

    def _place(self, id: Id) -> tuple[int, int] | None:
        """The run and the number of a filter that no change hides."""
        for place in range(len(self._runs) - 1, -1, -1):
            number = self._runs[place].find(id)
            if number is not None and number not in self._hidden.get(place, ()):
                return place, number
        return None

    def _hide(self, id: Id) -> bool:
        """Hides a filter in its run; returns whether there was one."""
        found = self._place(id)
        if found is not None:
            self._hidden.setdefault(found[0], set()).add(found[1])
        return found is not None

    def runs(self) -> tuple[Run, ...]:
        """The runs with all changes made so far; starts a merge where one is due."""
        with self._lock:
            self._publish()
            if self._merging is None and self._due() is not None:
                self._merging = Thread(target=self._merge_beside, daemon=True)
                self._merging.start()
            return self._runs

    def _due(self) -> slice | None:
        """The runs that should become one, or None. Under the lock.

        Each run costs a match about as much as merging some filters. Once that is as much as
        merging all of them, and nothing has changed meanwhile, all become one.
        """
        filters = sum(len(run.ids) for run in self._runs)
        if len(self._runs) > 1 and self._rent >= _RENT_MIN + filters // _FILTERS_PER_RENT:
            return slice(0, len(self._runs))
        return due(self._runs, self._settings.tier_filters)

    def _publish(self) -> None:
        """Makes the waiting changes part of the runs. Under the lock."""
        if not self._added and not self._hidden:
            return
        runs = [run.without(self._hidden.get(place, ())) for place, run in enumerate(self._runs)]
        if self._added:
            table = self._reader.read_accepted(list(self._added.values()))
            one = Run.of(Ids.of(list(self._added)), table)
            grows = bool(runs) and len(runs[-1].ids) <= self._settings.growing_max
            if grows and not self._merges(len(runs) - 1):
                one = merged([runs.pop(), one], self._schema)
            runs.append(one)
        self._runs = tuple(runs)
        self._added, self._hidden = {}, {}
        self._rent = 0.0
        self._counters["changes_published"] += 1

    def _merges(self, place: int) -> bool:
        """Whether a run may be part of the merge that is under way."""
        return self._span is not None and place in range(self._span.start, self._span.stop)

    def _merge_beside(self) -> None:
        """Merges runs until none is due, while others match and change the index."""
        while True:
            with self._merge_lock:
                with self._lock:
                    runs, span = self._runs, self._due()
                    if span is None:
                        self._merging = None
                        return
                    self._span = span
                try:
                    one = self._with_trees(merged(runs[span], self._schema))
                except BaseException:
                    with self._lock:
                        self._merging = self._span = None  # the next match tries again
                    raise
                with self._lock:
                    self._replace(runs[span], span, one)

    def _with_trees(self, run: Run) -> Run:
        """A merged run, with its trees built where the runs that it replaces may have had some."""
        if len(run) > self._settings.growing_max and run.snapshot.has_trees:
            run.snapshot.packed_trees(self._samples.batches)
        return run

    def _replace(self, old: Sequence[Run], span: slice, one: Run) -> None:
        """Puts a merged run in the place of the runs that it was made from. Under the lock.

        What was hidden in them since is hidden in it. Other runs were only added behind them.
        """
        self._publish()
        pairs = zip(old, self._runs[span], strict=True)
        gone = [now.hidden_since(before) for before, now in pairs]
        numbers = np.concatenate([np.zeros(0, np.int64), *(one.find_all(ids) for ids in gone)])
        self._runs = (*self._runs[: span.start], one.without(numbers), *self._runs[span.stop :])
        self._span = None
        self._rent = 0.0
        self._counters["merges"] += 1
        self._counters["filters_merged"] += len(one.ids)

    def compact(self) -> Run:
        """One run with all filters as of now; others may match and change the index meanwhile."""
        with self._merge_lock:
            with self._lock:
                self._publish()
                runs = self._runs
                self._span = slice(0, len(runs))
            whole = len(runs) == 1 and runs[0].hidden is None
            one = ordered(runs[0] if whole else merged(runs, self._schema), self._schema)
            with self._lock:
                if not whole or one is not runs[0]:
                    self._replace(runs, slice(0, len(runs)), one)
                self._span = None
            return one

    def wait(self) -> None:
        """Returns when no merge is running."""
        while (thread := self._merging) is not None:
            thread.join()

    @override
    def match(self, batch: pa.RecordBatch) -> Matches:
        runs = self.runs()
        merging = self._merging is not None
        samples = self._samples.note(batch)
        found = [run.match(batch, samples) for run in runs]
        with self._lock:
            self._rent += len(runs) - 1
            self._counters["matches_while_merging"] += merging
            self._counters["publications_matched"] += batch.num_rows
            self._counters["blocks_inner_read"] += sum(matches.inner for matches in found)
            self._counters["blocks_leaf_read"] += sum(matches.leaf for matches in found)
            self._counters["entries_checked"] += sum(matches.checked for matches in found)
        return matches_of(runs, found, batch.num_rows)

    @override
    def match_one(self, row: Mapping[str, Any], now: int) -> RowMatches | None:
        if self._added or self._hidden or len(self._runs) != 1:  # else no lock is needed
            runs = self.runs()
            self._rent += (len(runs) - 1) / _ROWS_PER_RENT
        else:
            runs = self._runs
        return self._row_searches.match(runs, row, now)

    @override
    def save(self, path: Path) -> str:
        return save_run(self.compact(), self._schema, path, self._samples.batches)

    @classmethod
    def load(cls, path: Path) -> tuple["ColumnarIndex", Schema, type]:
        """The index in a file, its schema and the type of its ids; the file is mapped."""
        run, schema = load_run(path)
        return cls(schema, [run] if len(run) else []), schema, str if run.ids.is_text else int

    @override
    def explain_plan(self) -> str:
        runs = self.runs()
        if not all(run.snapshot.has_trees for run in runs):
            return f"filters: {len(self):,}, each tried on whole columns; trees need numba"
        for run in runs:
            run.snapshot.packed_trees(self._samples.batches)
        lines, done = explain_plan(runs), self._counts()["publications_matched"]
        if done:
            costs = ", ".join(f"{value:,.1f} {name}" for name, value in self._costs().items())
            lines += f"\nper publication, of {done:,} so far: {costs}"
        return lines

    def _counts(self) -> dict[str, int]:
        """Counters so far, publications of batches and single ones together."""
        counts = {name: self._counters[name] for name in _COUNTERS}
        singles = dict(zip(_COUNTERS[-4:], self._row_searches.counts.tolist(), strict=True))
        return {
            **counts,
            **{name: counts[name] + count for name, count in singles.items()},
            "rows_matched_one_by_one": singles["publications_matched"],
        }

    def _costs(self) -> dict[str, float]:
        """The average cost of a publication so far."""
        counters = self._counts()
        done = max(1, counters["publications_matched"])
        return {
            "inner blocks": counters["blocks_inner_read"] / done,
            "leaf blocks": counters["blocks_leaf_read"] / done,
            "candidates": counters["entries_checked"] / done,
        }

    @property
    def candidates(self) -> int:
        """The number of entries decided one by one so far."""
        return self._counts()["entries_checked"]

    @property
    def nbytes(self) -> int:
        """The bytes of the filters and of the trees over them."""
        snapshots = [run.snapshot for run in self.runs()]
        return sum(one.table.nbytes + one.tree_bytes for one in snapshots)

    @override
    def stats(self) -> dict[str, Any]:
        runs = self.runs()
        tables = [run.snapshot.table for run in runs]
        return {
            "runs": [len(run) for run in runs],
            "hidden": sum(run.hidden_count for run in runs),
            "conjunctions": sum(len(table.predicate_offsets) - 1 for table in tables),
            "predicates": sum(len(table.kind) for table in tables),
            "table_bytes": sum(table.nbytes for table in tables),
            "tree_bytes": sum(run.snapshot.tree_bytes for run in runs),
            "groups": sum(run.snapshot.groups for run in runs),
            "per_publication": self._costs(),
            **self._counts(),
        }
