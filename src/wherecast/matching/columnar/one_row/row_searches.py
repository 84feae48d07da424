"""The searches for one publication in all runs of an index.

Concurrency: any number of threads may match; searches that are made on first use may be made twice.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.matching.columnar.one_row.row_plan import NOT_PLAIN, RowPlan
from wherecast.matching.columnar.one_row.row_search import RowSearch
from wherecast.matching.columnar.one_row.slot_values import SlotValues
from wherecast.matching.columnar.packing.samples import Samples
from wherecast.matching.columnar.runs import Run
from wherecast.matching.columnar.snapshot import Snapshot
from wherecast.matching.matches import RowMatches
from wherecast.model import Schema

Ints = npt.NDArray[np.int64]


class RowSearches:
    """A search for each run.

    Attributes:
        counts: int64 [4], the publications, inner and leaf blocks, and entries of all searches.
    """

    def __init__(self, schema: Schema, samples: Samples) -> None:
        self.counts = np.zeros(4, np.int64)
        self._schema, self._samples = schema, samples
        self._known: tuple[Sequence[Run], list[RowSearch]] = ((), [])

    def match(self, runs: Sequence[Run], row: Mapping[str, Any], now: int) -> RowMatches | None:
        """The filters of runs that a publication satisfies; None: the batch must tell."""
        known, searches = self._known
        if known is not runs:
            searches = self._made(runs)
        if len(searches) == 1 and runs[0].hidden is None:
            found = searches[0].match(row, now)
            return None if found is None else RowMatches(((runs[0].ids, found),))
        if not runs:
            return self._no_filters(row, now)
        parts = []
        for run, search in zip(runs, searches, strict=True):
            numbers = search.match(row, now)
            if numbers is None:
                return None
            if run.hidden is not None:
                numbers = numbers[~run.hidden[numbers]]
            parts.append((run.ids, numbers))
        return RowMatches(parts)

    def _no_filters(self, row: Mapping[str, Any], now: int) -> RowMatches | None:
        plan = RowPlan(self._schema, (), pa.array([], pa.large_string()))
        try:
            plan.fill(row, SlotValues(1), now)
        except NOT_PLAIN:
            return None
        return RowMatches(())

    def _made(self, runs: Sequence[Run]) -> list[RowSearch]:
        """The searches of runs; those of snapshots that were there before are used again."""
        before = {id(run.snapshot): search for run, search in zip(*self._known, strict=True)}
        made = [before.get(id(run.snapshot)) or self._search(run.snapshot) for run in runs]
        self._known = runs, made
        return made

    def _search(self, snapshot: Snapshot) -> RowSearch:
        table = snapshot.table
        plan = RowPlan(self._schema, table.attributes[: table.eager], table.strings)
        return RowSearch(snapshot, plan, self.counts, self._samples)
