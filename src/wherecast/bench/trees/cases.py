"""The cases of the benchmark of trees: workloads with few to many filters."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from wherecast.bench.case import Case

SIZES = (1_000, 5_000, 10_000, 100_000)
SCANNED_MAX = 1_000  # largest number of filters for the scan
FORESTED_MAX = 10_000  # for the forest without covering, which compares a filter with all roots


@dataclass(frozen=True)
class TreesCase(Case):
    """A workload at one size, and the measurements to make.

    Attributes:
        covered: whether filters cover each other, so that the forest can hold many filters.
        changes: whether single changes are measured too.
    """

    covered: bool = True
    changes: bool = False

    @property
    def kinds(self) -> list[str]:
        """The kinds of index to measure; the others are compared with the first."""
        kinds = ["columnar", "betree"]
        if self.covered or self.filters <= FORESTED_MAX:
            kinds.append("forest")
        if self.filters <= SCANNED_MAX:
            kinds.append("scan")
        return kinds


CASES = (
    TreesCase("sensors", publications=50_000),
    TreesCase("sensors", 0, 50_000, "sensor files", (("files", True),)),
    TreesCase("stocks", publications=5_000),
    TreesCase("bluedove", options=(("length", 40),), covered=False),
    TreesCase("srem", publications=5_000, covered=False),
    TreesCase("srem", 0, 5_000, "srem, hot", (("hot_sd", 50),), covered=False),
)


def cases(size: int | None, only: str | None) -> Iterator[TreesCase]:
    """The cases with at most `size` filters; changes are measured at the largest size."""
    most = min(size or max(SIZES), max(SIZES))
    sizes = sorted({min(each, most) for each in SIZES})
    for case in CASES:
        if only in (None, case.what):
            for filters in sizes:
                yield replace(case, filters=filters, changes=filters == sizes[-1])
