"""The cases of the benchmark of trees: workloads from few filters to many."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from wherecast.workloads import WORKLOADS, Workload

SIZES = (1_000, 5_000, 10_000, 100_000)
SCANNED_MAX = 1_000  # filters that the scan is given
FORESTED_MAX = 10_000  # filters of workloads without covering: each is compared with all roots


@dataclass(frozen=True, slots=True)
class Case:
    """A workload at one size.

    Attributes:
        what: how rows call it.
        workload: as `WORKLOADS` names it.
        options: of the workload.
        publications: in the batch that is matched.
        covered: whether filters cover each other, so that a forest of many can be made.
        filters: how many there are.
        changes: whether single changes are measured too.
    """

    what: str
    workload: str
    options: tuple[tuple[str, Any], ...] = ()
    publications: int = 20_000
    covered: bool = True
    filters: int = 0
    changes: bool = False

    @property
    def kinds(self) -> list[str]:
        """The kinds of index that it is measured with, the first is compared with."""
        kinds = ["columnar", "betree"]
        if self.covered or self.filters <= FORESTED_MAX:
            kinds.append("forest")
        if self.filters <= SCANNED_MAX:
            kinds.append("scan")
        return kinds

    def make(self, seed: int) -> Workload:
        """The workload itself."""
        return WORKLOADS[self.workload](seed=seed, **dict(self.options))


CASES = (
    Case("sensors", "sensors", publications=50_000),
    Case("sensor files", "sensors", (("files", True),), publications=50_000),
    Case("stocks", "stocks", publications=5_000),
    Case("bluedove", "bluedove", (("length", 40),), covered=False),
    Case("srem", "srem", covered=False, publications=5_000),
    Case("srem, hot", "srem", (("hot_sd", 50),), covered=False, publications=5_000),
)


def cases(size: int | None, only: str | None) -> Iterator[Case]:
    """The cases with at most `size` filters each; changes are measured at the greatest size."""
    most = min(size or max(SIZES), max(SIZES))
    sizes = sorted({min(each, most) for each in SIZES})
    for case in CASES:
        if only in (None, case.what):
            for filters in sizes:
                yield replace(case, filters=filters, changes=filters == sizes[-1])
