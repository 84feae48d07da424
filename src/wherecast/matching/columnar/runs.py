"""Runs: filters with their ids, read once, immutable but for which of them are hidden.

An index is a list of runs, the oldest first. A filter that is removed or replaced is hidden in its
run; what is added goes into a new run. Small neighbours are merged, so that a match visits few.
"""

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language import read_filters
from wherecast.matching.columnar.snapshot import Found, Snapshot
from wherecast.matching.matches import Id
from wherecast.model import Schema

MERGE_AT = 4  # neighbouring runs of about one size that become one
_TIER_BASE = 256


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Filters by id.

    Attributes:
        ids: sorted, distinct.
        texts: the filters, in the order of the ids.
        snapshot: the same, read.
        hidden: bool [filters], those that were removed or replaced since; None where none is.
        hidden_count: how many those are.
    """

    ids: Sequence[Id]
    texts: Sequence[str]
    snapshot: Snapshot
    hidden: npt.NDArray[np.bool_] | None = None
    hidden_count: int = 0

    def __len__(self) -> int:
        """The filters that are not hidden."""
        return len(self.ids) - self.hidden_count

    def find(self, id: Id) -> int | None:
        """The number of a filter that is not hidden, or None."""
        number = bisect_left(self.ids, id)
        if number == len(self.ids) or self.ids[number] != id:
            return None
        return None if self.hidden is not None and self.hidden[number] else number

    def without(self, numbers: Collection[int]) -> "Run":
        """The same run with some more filters hidden."""
        if not numbers:
            return self
        hidden = np.zeros(len(self.ids), bool) if self.hidden is None else self.hidden.copy()
        hidden[list(numbers)] = True
        return replace(self, hidden=hidden, hidden_count=int(hidden.sum()))

    def items(self) -> list[tuple[Id, str]]:
        """The ids and texts of the filters that are not hidden."""
        pairs = zip(self.ids, self.texts, strict=True)
        if self.hidden is None:
            return list(pairs)
        return [
            pair for pair, hidden in zip(pairs, self.hidden.tolist(), strict=True) if not hidden
        ]

    def match(self, batch: pa.RecordBatch) -> Found:
        """The filters that are true on each publication, without the hidden ones."""
        found = self.snapshot.match(batch)
        if self.hidden is None:
            return found
        kept = ~self.hidden[found.numbers]
        ends = np.concatenate([[0], np.cumsum(kept)])[found.offsets]
        return replace(found, offsets=ends, numbers=found.numbers[kept])


def run_of(filters: dict[Id, str], schema: Schema) -> Run:
    """The run of filters that were checked before."""
    ids = sorted(filters)
    texts = [filters[id] for id in ids]
    return Run(ids, texts, Snapshot.of(read_filters(texts, schema)))


def merged(runs: Sequence[Run], schema: Schema) -> Run:
    """One run with the filters of several."""
    return run_of({id: text for run in runs for id, text in run.items()}, schema)


def due(runs: Sequence[Run]) -> slice | None:
    """The newest neighbours that should become one run: `MERGE_AT` of one tier, or None.

    A tier is `MERGE_AT` times as large as the one below, so a filter is read again only as often
    as there are tiers.
    """
    tiers = [_tier(run) for run in runs]
    for end in range(len(runs), MERGE_AT - 1, -1):
        start = end - MERGE_AT
        if max(tiers[start:end]) == tiers[end - 1]:
            return slice(start, end)
    return None


def _tier(run: Run) -> int:
    tier, size = 0, _TIER_BASE
    while len(run.ids) > size:
        tier, size = tier + 1, size * MERGE_AT
    return tier
