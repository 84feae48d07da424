"""What matching costs, in figures that are the same on every machine."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.matching.columnar.agree import columnar, publications_of, workload_index
from wherecast import Schema
from wherecast.workloads import WORKLOADS

pytestmark = pytest.mark.usefixtures("trees")


@dataclass(frozen=True)
class Bounds:
    """The most that a workload may cost: about 15 % more than was measured.

    Attributes:
        filters: how many there are.
        inner, leaf: blocks read per publication.
        checked: entries decided one by one, per publication.
        bytes: of the trees per filter.
    """

    filters: int
    inner: float
    leaf: float
    checked: float
    bytes: float


# beside each what was measured, with seed 1: inner, leaf, checked, bytes
BOUNDS = {
    "bluedove": Bounds(20_000, 3.0, 10.0, 0.08, 28.0),  # 2.63, 8.69, 0.064, 24.4
    "alerts": Bounds(20_000, 4.6, 5.4, 0.0, 21.1),  # 4.00, 4.70, 0, 18.4
    "geofence": Bounds(20_000, 2.8, 3.1, 0.015, 58.0),  # 2.41, 2.68, 0.012, 50.5
    "sparse": Bounds(5_000, 4.0, 18.5, 39.3, 70.0),  # 3.48, 16.1, 34.1, 61.2
    "stocks": Bounds(20_000, 8.1, 19.8, 0.0, 21.6),  # 7.01, 17.2, 0, 18.8
    "sensors": Bounds(5_000, 1.15, 2.42, 0.0, 22.4),  # 1.00, 2.10, 0, 19.5
}
PUBLICATIONS = 1_000
WIDE = 5_000  # filters of many predicates
BAD_KEY_MAX = 10  # times what one group for all would read
LONE_CHECKS_MAX = 1_000  # entries that one publication is compared with
OR_MAX = 1.2  # times what the conjunctions cost as filters of their own


@pytest.mark.parametrize("name", BOUNDS)
def test_blocks_checks_and_bytes(name: str) -> None:
    bounds, workload = BOUNDS[name], WORKLOADS[name](seed=1)
    index = workload_index(workload, bounds.filters)
    index.match(publications_of(workload, PUBLICATIONS))

    stats = index.stats()

    assert stats["publications_matched"] == PUBLICATIONS
    assert stats["blocks_inner_read"] / PUBLICATIONS <= bounds.inner
    assert stats["blocks_leaf_read"] / PUBLICATIONS <= bounds.leaf
    assert stats["entries_checked"] / PUBLICATIONS <= bounds.checked
    assert stats["tree_bytes"] / bounds.filters <= bounds.bytes


@cache
def wide(width: int, size: int) -> tuple[int, int]:
    """Blocks read and entries checked for filters on `size` of `width` attributes.

    Every range is half of the domain, so that no two or three of them are a good key.
    """
    draw = np.random.default_rng(5)
    schema = Schema.from_dict({f"x{place}": "float" for place in range(width)})
    lows = (draw.random((WIDE, size)) * 0.5).tolist()
    texts = [
        " AND ".join(
            f"x{place} BETWEEN {low!r} AND {low + 0.5!r}"
            for place, low in zip(sorted(draw.permutation(width)[:size].tolist()), row, strict=True)
        )
        for row in lows
    ]
    index = columnar(schema, texts)
    index.match(pa.record_batch({f"x{place}": draw.random(200) for place in range(width)}))
    stats = index.stats()
    return stats["blocks_inner_read"] + stats["blocks_leaf_read"], stats["entries_checked"]


@pytest.mark.parametrize(
    ("width", "size"),
    [
        (17, 16),
        (18, 16),
        (17, 17),
    ],
)
def test_bad_keys_read_few_blocks(width: int, size: int) -> None:
    """One set of sixteen attributes makes one group; more sets or more attributes may not."""
    single, _ = wide(16, 16)
    blocks, _ = wide(width, size)
    assert blocks <= BAD_KEY_MAX * single


@pytest.mark.parametrize(
    ("width", "size"),
    [
        (17, 16),
        (18, 16),
        (17, 17),
    ],
)
def test_bad_keys_leave_few_entries_to_check(width: int, size: int) -> None:
    single, _ = wide(16, 16)
    _, checked = wide(width, size)
    assert checked <= BAD_KEY_MAX * single


@pytest.mark.parametrize("warm", [False, True], ids=["after some others", "with trees"])
def test_a_publication_alone_meets_few_of_many_filters(
    warm: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()  # as much work as it is
    index = columnar(Schema.from_dict({"a": "int"}), [f"a = {value}" for value in range(50_000)])
    if warm:
        index.match(pa.record_batch({"a": np.arange(100)}))
        assert index.stats()["tree_bytes"] > 0
    for value in range(30):
        index.match([{"a": value}])
    before = index.stats()["entries_checked"]

    assert index.match([{"a": 5}]).to_pylist() == [[5]]

    assert index.stats()["entries_checked"] - before <= LONE_CHECKS_MAX


def _blocks_and_checks(schema: Schema, texts: list[str], batch: pa.RecordBatch) -> tuple[int, int]:
    index = columnar(schema, texts)
    index.match(batch)
    stats = index.stats()
    return stats["blocks_inner_read"] + stats["blocks_leaf_read"], stats["entries_checked"]


@pytest.mark.parametrize(
    ("common", "first", "second"),
    [
        ("city = {c} AND ", "no2 > {x}", "pm10 > {y}"),
        ("", "no2 > {x}", "pm10 > {y}"),
        ("", "no2 BETWEEN {x} AND {x} + 0.001", "pm10 BETWEEN {y} AND {y} + 0.001"),
        ("", "no2 > 99 + {x} / 100", "pm10 > {y}"),
        ("city = {c} AND ", "no2 > {x}", "hour IN (1, 2, 3, 4, 5, 6)"),
    ],
)
def test_or_costs_what_its_conjunctions_cost_as_filters(
    common: str, first: str, second: str
) -> None:
    draw = np.random.default_rng(8)
    schema = Schema.from_dict({"city": "int", "no2": "float", "pm10": "float", "hour": "int"})
    cities, ends = draw.integers(0, 50, 10_000).tolist(), (draw.random((10_000, 2)) * 100).tolist()
    given = [{"c": city, "x": round(x, 3), "y": round(y, 3)}
             for city, (x, y) in zip(cities, ends, strict=True)]  # fmt: skip
    batch = pa.record_batch(
        {
            "city": draw.integers(0, 50, 500),
            "no2": draw.random(500) * 100,
            "pm10": draw.random(500) * 100,
            "hour": draw.integers(0, 24, 500),
        }
    )
    either = [_filled(f"{common}({first} OR {second})", row) for row in given]
    alone = [_filled(f"{common}{part}", row) for part in (first, second) for row in given]

    blocks, checks = _blocks_and_checks(schema, either, batch)
    own_blocks, own_checks = _blocks_and_checks(schema, alone, batch)

    assert blocks <= OR_MAX * own_blocks
    assert checks <= OR_MAX * own_checks


def _filled(text: str, row: dict[str, float]) -> str:
    """A text with its numbers, of which sums are computed."""
    filled = text.replace("99 + {x} / 100", str(99 + row["x"] / 100))
    for name in ("x", "y"):
        filled = filled.replace(f"{{{name}}} + 0.001", str(row[name] + 0.001))
    return filled.format(**row)
