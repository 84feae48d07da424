"""The search for one publication in a snapshot, in the way that pays.

Whole columns serve until the compiled code is loaded; then each conjunction is tried, until the
work done is worth building trees.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.one_row.column_search import ColumnSearch
from wherecast.matching.columnar.one_row.compiled_search import CompiledSearch
from wherecast.matching.columnar.one_row.row_plan import RowPlan
from wherecast.matching.columnar.packing.samples import Samples
from wherecast.matching.columnar.search import flat_scan
from wherecast.matching.columnar.snapshot import Snapshot

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
_CALL_WORK = 500  # predicates that a batch tries while a call does all the rest


class RowSearch:
    """The filters of a snapshot, one publication at a time.

    Args:
        snapshot: the filters.
        plan: how publications become values.
        counts: int64 [4], where publications, blocks and entries are counted.
        samples: of publications, from which trees are planned.
    """

    def __init__(self, snapshot: Snapshot, plan: RowPlan, counts: Ints, samples: Samples) -> None:
        self._snapshot, self._plan, self._counts = snapshot, plan, counts
        self._samples = samples
        self._trees: CompiledSearch | None = None
        self._flat: CompiledSearch | None = None
        self._columns: ColumnSearch | None = None

    def match(self, row: Mapping[str, Any], now: int) -> Numbers | None:
        """The filters that a publication satisfies, in no order; None: the batch must tell.

        Args:
            row: the attributes of the publication.
            now: the value of `now()`.
        """
        return (self._trees or self._way()).match(row, now)

    def _way(self) -> CompiledSearch | ColumnSearch:
        snapshot, plan, counts = self._snapshot, self._plan, self._counts
        if snapshot.takes_trees(len(snapshot.plain.kinds) + _CALL_WORK):
            inputs = snapshot.tree_inputs(self._samples.batches)
            self._trees = CompiledSearch(snapshot, plan, counts, inputs)
            return self._trees
        if flat_scan.is_loaded():
            if self._flat is None:
                self._flat = CompiledSearch(snapshot, plan, counts, None)
            return self._flat
        if self._columns is None:
            self._columns = ColumnSearch(snapshot, plan, counts)
        return self._columns
