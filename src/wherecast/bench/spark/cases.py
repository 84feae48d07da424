"""The cases of the Spark benchmark: workloads at the sizes that targets are stated for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from wherecast.bench.spark.joins import Join
from wherecast.workloads import WORKLOADS, Workload

Measured = Literal["arrays", "rows", "semi"]
SCALE = "scale"
_SCALE_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_SCALE_PUBLICATIONS = 200_000
_PER_FILTER = 50  # publications, at most, where a size is given

_RANGES = Join("range join")
_SYMBOLS = Join("symbol join", keys=("symbol",))
_KINDS = Join("kind join", keys=("kind",))
_AREA = Join("cells lat, lon", cells=("lat", "lon"), width=3.0)


@dataclass(frozen=True, slots=True)
class Case:
    """A workload at one size.

    Attributes:
        workload: as `WORKLOADS` names it.
        filters: how many there are.
        publications: how many are matched.
        outputs: what is asked of `match`: an `output`, or `semi` for `how`.
        joins: what users write in its place.
        label: how rows call it; the workload where it is empty.
        options: of the workload.
    """

    workload: str
    filters: int
    publications: int
    outputs: tuple[Measured, ...]
    joins: tuple[Join, ...]
    label: str = ""
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def what(self) -> str:
        """How rows call it."""
        return self.label or self.workload

    def make(self, seed: int) -> Workload:
        """The workload itself."""
        return WORKLOADS[self.workload](seed=seed, **dict(self.options))


_ALL = (
    Case("bluedove", 40_000, 2_000_000, ("arrays", "semi", "rows"),
         (_RANGES, Join("cells a", cells=("a",), width=62.5),
          Join("cells a, b", cells=("a", "b"), width=125.0))),
    Case("bluedove", 1_000_000, 2_000_000, ("rows",),
         (_RANGES, Join("cells a", cells=("a",), width=20.0),
          Join("cells a, b", cells=("a", "b"), width=40.0)),
         label="bluedove, 40", options=(("length", 40),)),
    Case("alerts", 1_000_000, 400_000, ("arrays",), (_SYMBOLS,)),
    Case("geofence", 1_000_000, 1_000_000, ("arrays",), (_RANGES, _AREA, _KINDS)),
)  # fmt: skip
NAMES = (*dict.fromkeys(case.workload for case in _ALL), *(c.label for c in _ALL if c.label), SCALE)


def cases(size: int | None, only: str | None) -> Iterator[Case]:
    """The cases with at most `size` filters each; `scale` has each workload at several sizes."""
    for case in _ALL:
        if only == SCALE:
            yield from _scaled(case, size)
        elif only in (None, case.workload, case.what):
            yield _cut(case, size)


def _scaled(case: Case, size: int | None) -> Iterator[Case]:
    """A workload from few filters to many; rows of it are compared with each other."""
    most = min(size or case.filters, max(_SCALE_SIZES))
    label = f"{SCALE}, {case.what}"
    for filters in sorted({min(each, most) for each in _SCALE_SIZES}):
        few = min(case.publications, _SCALE_PUBLICATIONS)
        yield _cut(replace(case, filters=filters, publications=few, outputs=("arrays",),
                           label=label), size)  # fmt: skip


def _cut(case: Case, size: int | None) -> Case:
    if size is None:
        return case
    return replace(
        case,
        filters=min(case.filters, size),
        publications=min(case.publications, size * _PER_FILTER),
    )
