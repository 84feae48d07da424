"""The reference index: every filter is evaluated on every publication.

It is the obvious implementation over the evaluation that `Filter.explain` uses, and what every
faster index is compared with. Not safe to change from one thread while another matches.
"""

from collections.abc import Sequence

import numpy as np

from wherecast.language import Filter
from wherecast.language.evaluate import Row
from wherecast.matching.matches import Id, Matches


class ScanIndex:
    """Filters by id, and nothing else."""

    def __init__(self) -> None:
        self._filters: dict[Id, Filter] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def __contains__(self, id: Id) -> bool:
        return id in self._filters

    def add(self, id: Id, filter: Filter) -> None:
        """Adds a filter, or replaces the one of the same id."""
        self._filters[id] = filter

    def remove(self, id: Id) -> None:
        """Removes a filter that is there."""
        del self._filters[id]

    def match(self, rows: Sequence[Row]) -> Matches:
        """The filters that are true on each canonical row.

        Cost: publications times filters.
        """
        ids = sorted(self._filters)
        filters = [self._filters[id] for id in ids]
        found = [
            [number for number, filter in enumerate(filters) if filter.evaluate(row) is True]
            for row in rows
        ]
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in found], out=offsets[1:])
        indices = np.fromiter((number for row in found for number in row), np.int32)
        return Matches(offsets, indices, ids)
