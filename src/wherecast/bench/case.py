"""The base of the cases of all experiments on workloads."""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from wherecast.bench.progress import Row
from wherecast.workloads import WORKLOADS, Workload


@dataclass(frozen=True)
class Case:
    """A workload at one size.

    Attributes:
        workload: name of the workload in `WORKLOADS`.
        filters: number of filters.
        publications: number of publications that are matched.
        label: name of the case; by default the name of the workload.
        options: options of the workload.
    """

    workload: str
    filters: int = 0
    publications: int = 20_000
    label: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def what(self) -> str:
        """Name of the case in rows."""
        return self.label or self.workload

    @property
    def about(self) -> str:
        """Name and size of the case, for the progress line."""
        return f"{self.what}, {self.filters:,} filters"

    def make(self, seed: int) -> Workload:
        """The workload of the case."""
        return WORKLOADS[self.workload](seed=seed, **dict(self.options))

    def columns(self, engine: str) -> Row:
        """The columns of a row that identify the case and the engine."""
        return {
            "what": self.what,
            "workload": self.workload,
            "options": dict(self.options),
            "engine": engine,
            "filters": self.filters,
        }


def filters_of(workload: Workload, count: int) -> pa.Table:
    """The first `count` filters: the columns `id` and `filter`."""
    return pa.Table.from_batches(workload.filters(count)).combine_chunks()


def batch_of(workload: Workload, count: int) -> pa.RecordBatch:
    """The first `count` publications as one record batch."""
    table = pa.Table.from_batches(workload.publications(count)).combine_chunks()
    [batch] = table.to_batches()
    return batch
