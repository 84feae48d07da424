"""The cases of the matching benchmark: workloads at the sizes of the targets."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from wherecast.bench.case import Case
from wherecast.bench.matching.peers import Form
from wherecast.bench.matching.text_peers import TextForm
from wherecast.workloads import WORKLOADS, bluedove

SCALE = "scale"
SMALL = 1_000  # filters of a second, small case per workload, which the scan can match too
SAMPLE = 256  # publications for the planner, before those that are matched
_MATCHES = 135.0  # per publication, at every size of the scale series
_SAMPLE_MIN, _SAMPLE_MAX = 20, 10_000


@dataclass(frozen=True)
class MatchingCase(Case):
    """A workload at one size, and the measurements to make.

    Attributes:
        form: how peers store the filters; None if they cannot.
        pairs: number of pairs of a publication and a filter that keeps a peer busy for a second or
            two.
        whole: whether updates and the first match from text are measured too.
        whole_batch: whether peers match the batch as a whole, because their time per publication
            depends on the size of the batch.
        scan_max: the largest number of filters that the scan matches too.
    """

    form: Form | TextForm | None = "boxes"
    pairs: float = 2e7
    whole: bool = True
    whole_batch: bool = False
    scan_max: int = SMALL

    @property
    def sample(self) -> int:
        """Number of publications, from the first of the batch, that peers match."""
        if self.whole_batch:
            return self.publications
        wanted = max(_SAMPLE_MIN, int(self.pairs / self.filters))
        return min(self.publications, wanted, _SAMPLE_MAX)


_ALL = (
    MatchingCase("bluedove", 40_000),
    MatchingCase("bluedove", 1_000_000, 20_000, "bluedove, 40", (("length", 40),), pairs=2e8),
    MatchingCase("alerts", 1_000_000, 10_000, pairs=2e9),
    MatchingCase("geofence", 1_000_000, pairs=5e8),
    MatchingCase("sparse", 1_000_000, 10_000, form="lists", pairs=1e8),
    MatchingCase("stocks", 100_000, 5_000, pairs=2e8),
    MatchingCase("sensors", 10_000, 50_000, form="lists", pairs=2e8),
    MatchingCase("mixed", 10_000, 10_000, form=None, whole=False),
    MatchingCase("srem", 40_000, options=(("hot_sd", 50),)),
    MatchingCase("alerts_or", 20_000, 4_000, form="either", pairs=8e7),
    MatchingCase("alerts_or", 1_000_000, 4_000, "alerts_or, 2500", (("cities", 2_500),),
                 form="either", pairs=4e9),
    MatchingCase("alerts_or", 20_000, 400, "alerts_or, wide", (("wide", True),), form="either"),
    MatchingCase("alerts_or", 1_000_000, 100, "alerts_or, wide, 1M", (("wide", True),),
                 form="either", whole=False),
    MatchingCase("tags", 1_000_000, 10_000, form="tags", pairs=2e9),
    MatchingCase("rules", 10_000, 2_000, "rules, 2000 a batch", form="rules", whole_batch=True,
                 scan_max=10_000),
    MatchingCase("rules", 100_000, 2_000, "rules, 2000 a batch", form="rules", whole_batch=True),
    MatchingCase("rules", 100_000, 20_000, "rules, 20000 a batch", form="rules", whole=False,
                 whole_batch=True),
    MatchingCase("rules", 10_000, 2_000, "rules, deep", (("deep", True),), form="rules",
                 whole_batch=True, whole=False),
)  # fmt: skip
_SCALE_SIZES = (1_000, 10_000, 40_000, 100_000, 300_000, 1_000_000)


def cases(size: int | None, only: str | None) -> Iterator[MatchingCase]:
    """The cases with at most `size` filters, and a small case of each workload."""
    for case in _ALL:
        if case.workload not in WORKLOADS or only not in (None, case.workload):
            continue
        most = min(case.filters, size or case.filters)
        if most > SMALL:
            yield replace(case, filters=SMALL, publications=min(case.publications, 5_000),
                          whole=False)  # fmt: skip
        yield replace(case, filters=most)


def scale(size: int | None) -> Iterator[MatchingCase]:
    """BlueDove with few to many filters, at an equal number of matches per publication."""
    most = size or max(_SCALE_SIZES)
    for filters in sorted({min(each, most) for each in _SCALE_SIZES}):
        length = equal_length(filters, min(_MATCHES, filters / 4))
        options = (("length", length),)
        yield MatchingCase("bluedove", filters, 20_000, SCALE, options, whole=False)


def equal_length(filters: int, matches: float) -> float:
    """The length of BlueDove's ranges that gives `matches` matches per publication."""
    low, high = 0.0, 2_000.0
    for _ in range(30):
        middle = (low + high) / 2
        if bluedove(length=middle).matches_per_publication(filters) < matches:
            low = middle
        else:
            high = middle
    return round(high, 3)
