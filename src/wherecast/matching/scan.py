"""The reference index: every filter is evaluated on every publication.

It is the obvious implementation over the evaluation that `Filter.explain` uses, and what every
faster index is compared with. Not safe to change from one thread while another matches.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import override

from wherecast.columns import rows_of
from wherecast.language import Filter
from wherecast.matching.engine import Engine
from wherecast.matching.ids import Ids
from wherecast.matching.matches import Id, Matches
from wherecast.model import FilterError, Schema


@dataclass(frozen=True, slots=True)
class FilterResults:
    """For each text the filter, or the error that says why it is none."""

    results: list[Filter | FilterError]

    @property
    def rejected(self) -> list[tuple[int, FilterError]]:
        """The row and the error of each text that is no filter."""
        return [(row, r) for row, r in enumerate(self.results) if isinstance(r, FilterError)]


class ScanIndex(Engine):
    """The engine of kind `scan`: a dictionary of filters."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._filters: dict[Id, Filter] = {}
        self._tried = 0

    def __len__(self) -> int:
        return len(self._filters)

    def __contains__(self, id: Id) -> bool:
        return id in self._filters

    @override
    def add(self, id: Id, filter: Filter | str) -> None:
        self._filters[id] = filter if isinstance(filter, Filter) else Filter(filter, self._schema)

    @override
    def read(self, filters: pa.Array | Sequence[Filter | str]) -> "FilterResults":
        texts = filters.to_pylist() if isinstance(filters, pa.Array) else filters
        return FilterResults([_read(filter, self._schema) for filter in texts])

    @override
    def add_all(self, ids: Ids, read: "FilterResults", kept: npt.NDArray[np.bool_] | None) -> None:
        flags = [True] * len(ids) if kept is None else kept.tolist()
        for id, result, keep in zip(ids, read.results, flags, strict=True):
            if keep:
                assert isinstance(result, Filter)
                self._filters[id] = result

    @override
    def remove_all(self, ids: Sequence[Id]) -> None:
        for id in ids:
            if id not in self._filters:
                raise KeyError(id)
        for id in ids:
            del self._filters[id]

    @override
    def stats(self) -> dict[str, Any]:
        return {}

    @property
    @override
    def candidates(self) -> int:
        return self._tried

    @property
    @override
    def nbytes(self) -> int:
        # of the texts
        return sum(len(filter.text.encode()) for filter in self._filters.values())

    @override
    def explain_plan(self) -> str:
        return f"{len(self):,} filters, each evaluated on every publication"

    @override
    def match(self, batch: pa.RecordBatch) -> Matches:
        """The filters that are true on each publication.

        Cost: publications times filters.
        """
        rows = rows_of(batch, self._schema)
        self._tried += len(rows) * len(self._filters)
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
