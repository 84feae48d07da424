"""The reference index: every filter is evaluated on every publication.

It is the obvious implementation over the evaluation that `Filter.explain` uses, and what every
faster index is compared with. Not safe to change from one thread while another matches.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from wherecast.columns import rows_of
from wherecast.language import Filter
from wherecast.matching.matches import Id, Matches
from wherecast.model import FilterError, Schema


class ScanIndex:
    """Filters by id, and nothing else."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._filters: dict[Id, Filter] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def __contains__(self, id: Id) -> bool:
        return id in self._filters

    def add_all(self, filters: Iterable[tuple[Id, Filter]]) -> None:
        """Adds filters, or replaces those of the same ids."""
        self._filters.update(filters)

    def read(self, filters: list[Filter | str]) -> list[Filter | FilterError]:
        """The filters as `add_all` takes them, or what is wrong with each."""
        return [_read(filter, self._schema) for filter in filters]

    def remove_all(self, ids: Iterable[Id]) -> None:
        """Removes filters that are there."""
        for id in ids:
            del self._filters[id]

    def stats(self) -> dict[str, Any]:
        """Nothing but what every index tells."""
        return {}

    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each publication.

        Cost: publications times filters.
        """
        rows = rows_of(batch, self._schema)
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


def _read(filter: Filter | str, schema: Schema) -> Filter | FilterError:
    if isinstance(filter, Filter):
        return filter
    try:
        return Filter(filter, schema)
    except FilterError as error:
        return error
