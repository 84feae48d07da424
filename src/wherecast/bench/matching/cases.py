"""The cases of the matching benchmark: workloads at the sizes that targets are stated for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from wherecast.bench.matching.peers import Form
from wherecast.workloads import WORKLOADS, Workload, bluedove

SCALE = "scale"
SMALL = 1_000  # filters that every workload is also measured with, and that the scan can do
SAMPLE = 256  # publications that the planner sees, before those that are matched
_MATCHES = 135.0  # per publication, at every size of the scale series
_SAMPLE_MIN, _SAMPLE_MAX = 20, 10_000


@dataclass(frozen=True, slots=True)
class Case:
    """A workload at one size.

    Attributes:
        workload: as `WORKLOADS` names it.
        filters: how many there are.
        publications: in the batch that is matched.
        form: how peers store the filters; None where they cannot.
        pairs: publications times filters that a peer is given, so that it takes a second or two.
        label: how rows call it; the workload where it is empty.
        options: of the workload.
        whole: whether it is measured in full: updates, and the first match from text.
    """

    workload: str
    filters: int
    publications: int
    form: Form | None = "boxes"
    pairs: float = 2e7
    label: str = ""
    options: tuple[tuple[str, Any], ...] = ()
    whole: bool = True

    @property
    def what(self) -> str:
        """How rows call it."""
        return self.label or self.workload

    @property
    def sample(self) -> int:
        """The publications that peers get, the first ones of the batch."""
        wanted = max(_SAMPLE_MIN, int(self.pairs / self.filters))
        return min(self.publications, wanted, _SAMPLE_MAX)

    def make(self, seed: int) -> Workload:
        """The workload itself."""
        return WORKLOADS[self.workload](seed=seed, **dict(self.options))


_ALL = (
    Case("bluedove", 40_000, 20_000),
    Case("bluedove", 1_000_000, 20_000, pairs=2e8, label="bluedove, 40", options=(("length", 40),)),
    Case("alerts", 1_000_000, 10_000, pairs=2e9),
    Case("geofence", 1_000_000, 20_000, pairs=5e8),
    Case("sparse", 1_000_000, 10_000, "lists", pairs=1e8),
    Case("stocks", 100_000, 5_000, pairs=2e8),
    Case("sensors", 10_000, 50_000, "lists", pairs=2e8),
    Case("mixed", 10_000, 10_000, None, whole=False),
    Case("srem", 40_000, 20_000, options=(("hot_sd", 50),)),
)
_SCALE_SIZES = (1_000, 10_000, 40_000, 100_000, 300_000, 1_000_000)


def cases(size: int | None, only: str | None) -> Iterator[Case]:
    """The cases with at most `size` filters each, each also with few filters."""
    for case in _ALL:
        if case.workload not in WORKLOADS or only not in (None, case.workload):
            continue
        most = min(case.filters, size or case.filters)
        if most > SMALL:
            yield replace(case, filters=SMALL, publications=min(case.publications, 5_000),
                          whole=False)  # fmt: skip
        yield replace(case, filters=most)


def scale(size: int | None) -> Iterator[Case]:
    """BlueDove from few filters to many, at an equal number of matches per publication."""
    most = size or max(_SCALE_SIZES)
    for filters in sorted({min(each, most) for each in _SCALE_SIZES}):
        length = equal_length(filters, min(_MATCHES, filters / 4))
        yield Case("bluedove", filters, 20_000, label=SCALE, whole=False,
                   options=(("length", length),))  # fmt: skip


def equal_length(filters: int, matches: float) -> float:
    """The length of BlueDove's ranges at which a publication matches so many filters."""
    low, high = 0.0, 2_000.0
    for _ in range(30):
        middle = (low + high) / 2
        if bluedove(length=middle).matches_per_publication(filters) < matches:
            low = middle
        else:
            high = middle
    return round(high, 3)


def filters_of(workload: Workload, count: int) -> pa.Table:
    """The first filters: `id` and `filter`."""
    return pa.Table.from_batches(workload.filters(count)).combine_chunks()


def batch_of(workload: Workload, count: int) -> pa.RecordBatch:
    """The first publications in one valid record batch."""
    table = pa.Table.from_batches(workload.publications(count)).combine_chunks()
    [batch] = table.to_batches()
    return batch
