"""Runs: filters with their ids, read once, immutable but for which of them are hidden.

An index is a list of runs, the oldest first. A filter that is removed or replaced is hidden in its
run; what is added goes into a new run. Small neighbours are merged, so that a match visits few.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language.table.predicate_table import PredicateTable
from wherecast.language.table.table_join import joined
from wherecast.matching import run_tiers
from wherecast.matching.columnar.snapshot import Snapshot, SnapshotMatches
from wherecast.matching.ids import Ids, JoinedIds
from wherecast.matching.matches import Id, Matches
from wherecast.model import Schema


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Filters by id.

    Attributes:
        ids: distinct; a filter's number is its place.
        snapshot: the filters.
        hidden: bool [filters], the filters that were removed or replaced since; None for none.
        hidden_count: the number of hidden filters.
    """

    ids: Ids
    snapshot: Snapshot
    hidden: npt.NDArray[np.bool_] | None = None
    hidden_count: int = 0

    @staticmethod
    def of(ids: Ids, table: PredicateTable) -> "Run":
        """The run of a table."""
        return Run(ids, Snapshot.of(table))

    def __len__(self) -> int:
        """The number of filters that are not hidden."""
        return len(self.ids) - self.hidden_count

    def find(self, id: Id) -> int | None:
        """The number of a filter that is not hidden, or None."""
        number = self.ids.find(id)
        if number is None or (self.hidden is not None and self.hidden[number]):
            return None
        return number

    def find_all(self, ids: Ids) -> npt.NDArray[np.int64]:
        """The numbers of the filters of some ids; hidden filters and unknown ids are left out."""
        numbers = self.ids.find_all(ids)
        numbers = numbers[numbers >= 0]
        return numbers if self.hidden is None else numbers[~self.hidden[numbers]]

    def without(self, numbers: Collection[int] | npt.NDArray[np.int64]) -> "Run":
        """The same run with some more filters hidden."""
        if not len(numbers):
            return self
        hidden = np.zeros(len(self.ids), bool) if self.hidden is None else self.hidden.copy()
        hidden[np.fromiter(numbers, np.int64, len(numbers))] = True
        return replace(self, hidden=hidden, hidden_count=int(np.count_nonzero(hidden)))

    def hidden_since(self, before: "Run") -> Ids:
        """The ids of filters that were hidden here since an earlier state of this run."""
        hidden = np.zeros(len(self.ids), bool) if self.hidden is None else self.hidden
        new = hidden if before.hidden is None else hidden & ~before.hidden
        return self.ids.take(np.flatnonzero(new))

    def match(
        self, batch: pa.RecordBatch, samples: Sequence[pa.RecordBatch] = ()
    ) -> SnapshotMatches:
        """The filters that are true on each publication, without the hidden ones."""
        found = self.snapshot.match(batch, samples)
        if self.hidden is None:
            return found
        kept = ~self.hidden[found.numbers]
        ends = np.concatenate([[0], np.cumsum(kept)])[found.offsets]
        return replace(found, offsets=ends, numbers=found.numbers[kept])


def merged(runs: Sequence[Run], schema: Schema) -> Run:
    """One run with the filters of several that are not hidden."""
    kept = [None if run.hidden is None else ~run.hidden for run in runs]
    ids = Ids.joined([(run.ids, keep) for run, keep in zip(runs, kept, strict=True)])
    tables = [(run.snapshot.table, keep) for run, keep in zip(runs, kept, strict=True)]
    return Run.of(ids, joined(tables, schema))


def ordered(run: Run, schema: Schema) -> Run:
    """The same run with its filters in the order of their ids."""
    order = run.ids.order()
    if order is None:
        return run
    return Run.of(run.ids.take(order), joined([(run.snapshot.table, order)], schema))


def matches_of(runs: Sequence[Run], found: Sequence[SnapshotMatches], rows: int) -> Matches:
    """The matches of several runs as one, run by run within each publication."""
    if len(runs) == 1:
        return Matches(found[0].offsets, found[0].numbers, runs[0].ids)
    counts = np.zeros(rows, np.int64)
    for matches in found:
        counts += np.diff(matches.offsets)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(int(offsets[-1]), np.int32)
    free, first = offsets[:-1].copy(), 0
    for matches, run in zip(found, runs, strict=True):
        if len(matches.numbers):
            sizes = np.diff(matches.offsets)
            places = np.repeat(free - matches.offsets[:-1], sizes) + np.arange(len(matches.numbers))
            indices[places] = matches.numbers + first
            free += sizes
        first += len(run.ids)
    return Matches(offsets, indices, JoinedIds([run.ids for run in runs]))


def due(runs: Sequence[Run], tier_filters: int) -> slice | None:
    """The newest neighbours that should become one run, or None."""
    return run_tiers.due([(len(run.ids), run.hidden_count) for run in runs], tier_filters)
