"""The cases of the Spark benchmark: workloads at the sizes of the targets."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from wherecast.bench.case import Case
from wherecast.bench.spark.joins import Join

MeasuredOutput = Literal["arrays", "rows", "semi"]
SCALE = "scale"
_SCALE_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_SCALE_PUBLICATIONS = 200_000
_PER_FILTER = 50  # largest number of publications per filter if a size is given

_RANGES = Join("range join")
_SYMBOLS = Join("symbol join", keys=("symbol",))
_CITIES = Join("city join", keys=("city",), either=True)
_KINDS = Join("kind join", keys=("kind",))
_AREA = Join("cells lat, lon", cells=("lat", "lon"), width=3.0)


@dataclass(frozen=True)
class SparkCase(Case):
    """A workload at one size, and the queries to measure.

    Attributes:
        outputs: the outputs of `match`, and `semi` for `how="semi"`.
        joins: the joins that users write instead of `match`.
        written: number of publications whose matches are written to files; 0 for none.
    """

    outputs: tuple[MeasuredOutput, ...] = ("arrays",)
    joins: tuple[Join, ...] = ()
    written: int = 0


_ALL = (
    SparkCase(
        "bluedove", 40_000, 2_000_000, outputs=("arrays", "semi", "rows"),
        joins=(_RANGES, Join("cells a", cells=("a",), width=62.5),
               Join("cells a, b", cells=("a", "b"), width=125.0)),
        written=200_000,
    ),
    SparkCase(
        "bluedove", 1_000_000, 2_000_000, "bluedove, 40", (("length", 40),), outputs=("rows",),
        joins=(_RANGES, Join("cells a", cells=("a",), width=20.0),
               Join("cells a, b", cells=("a", "b"), width=40.0)),
    ),
    SparkCase("alerts", 1_000_000, 400_000, joins=(_SYMBOLS,)),
    SparkCase("geofence", 1_000_000, 1_000_000, joins=(_RANGES, _AREA, _KINDS)),
    SparkCase("alerts_or", 1_000_000, 400_000, options=(("cities", 2_500),), joins=(_CITIES,)),
)  # fmt: skip
NAMES = (*dict.fromkeys(case.workload for case in _ALL), *(c.label for c in _ALL if c.label), SCALE)


def cases(size: int | None, only: str | None) -> Iterator[SparkCase]:
    """The cases with at most `size` filters each; `scale` has each workload at several sizes."""
    for case in _ALL:
        if only == SCALE:
            yield from _scaled(case, size)
        elif only in (None, case.workload, case.what):
            yield _cut(case, size)


def _scaled(case: SparkCase, size: int | None) -> Iterator[SparkCase]:
    """A workload with few to many filters."""
    most = min(size or case.filters, max(_SCALE_SIZES))
    label = f"{SCALE}, {case.what}"
    for filters in sorted({min(each, most) for each in _SCALE_SIZES}):
        few = min(case.publications, _SCALE_PUBLICATIONS)
        yield _cut(replace(case, filters=filters, publications=few, outputs=("arrays",),
                           label=label, written=0), size)  # fmt: skip


def _cut(case: SparkCase, size: int | None) -> SparkCase:
    if size is None:
        return case
    return replace(
        case,
        filters=min(case.filters, size),
        publications=min(case.publications, size * _PER_FILTER),
        written=min(case.written, size * _PER_FILTER),
    )
