"""Which filters become one entry of clauses, and that they match as before."""

from random import Random

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.matching.columnar.agree import assert_same, columnar
from wherecast import Schema
from wherecast.matching.columnar.packing import clauses
from wherecast.matching.columnar.packing.clauses import ClauseForm, _factors, _pays

SCHEMA = Schema.from_dict({"city": "int", "no2": "float", "pm10": "float", "o3": "float"})
A, B, C, D, E = ((slot, 0, slot) for slot in range(5))
OTHER_A = (0, 7, 9)


@pytest.mark.parametrize(
    ("conjunctions", "wanted"),
    [
        ([[A], [B]], [[A, B]]),
        ([[A, C], [B, C]], [[C], [A, B]]),
        ([[A, C], [A, D], [B, C], [B, D]], [[A, B], [C, D]]),
        ([[A, C], [A, D], [A, E], [B, C], [B, D], [B, E]], [[A, B], [C, D, E]]),
        ([[A, E], [OTHER_A, E]], [[E], [A, OTHER_A]]),
        ([[A, C], [B, D]], None),  # two conjunctions that share nothing
        ([[A, C], [A, D], [B, C]], None),  # one of the product is missing
        ([[A], [A]], None),
        ([[A, B], [A, C], [B, C]], None),
    ],
)
def test_a_product_of_conjunctions_has_clauses(
    conjunctions: list[list[clauses.Side]], wanted: list[list[clauses.Side]] | None
) -> None:
    assert _factors(conjunctions) == wanted


def test_wide_sides_are_searched_together_and_narrow_ones_apart() -> None:
    form = ClauseForm(((0,), (1, 2)))
    assert _pays(form, np.array([0.02, 0.3, 0.3]), 20_000)
    assert not _pays(ClauseForm(((1, 2),)), np.array([1e-6, 1e-6]), 1_000_000)


def plan_of(texts: list[str]) -> str:
    index = columnar(SCHEMA, texts)
    index.match(publications(50, 1))
    return index.explain_plan()


def publications(count: int, seed: int) -> pa.RecordBatch:
    """Values on bounds and between them; a tenth of them are missing."""
    draw = np.random.default_rng(seed)

    def some(values: list[float] | list[int]) -> list[float | int | None]:
        there = draw.random(count) < 0.9
        return [value if here else None for value, here in zip(values, there, strict=True)]

    columns = {"city": pa.array(some(draw.integers(0, 5, count).tolist()), pa.int64())}
    for name in ("no2", "pm10", "o3"):
        drawn = (draw.integers(0, 40, count) / 2).tolist()
        columns[name] = pa.array(some(drawn), pa.float64())
    return pa.record_batch(columns)


def shapes(rng: Random) -> list[str]:
    """One filter of each shape, with new bounds."""
    city, a, b, c, d = rng.randrange(5), *(rng.randrange(20) for _ in range(4))
    return [
        f"city = {city} AND (no2 > {a} OR pm10 > {b})",
        f"(pm10 > {b} OR no2 > {a}) AND city = {city}",
        f"no2 > {a} OR pm10 > {b} OR o3 < {c}",
        f"(no2 > {a} OR pm10 > {b}) AND (o3 < {c} OR city < {d % 5})",
        f"city >= {d % 5} AND (no2 < {a % 10} OR no2 > {10 + a % 10})",
        f"(no2 > {a} OR pm10 > {b}) AND no2 < {a + c}",  # an attribute in two clauses
        f"(city = {city} AND no2 > {a}) OR (city = {d % 5} AND pm10 > {b})",  # mostly no product
    ]


@pytest.mark.usefixtures("trees")
def test_the_plan_names_the_clauses() -> None:
    rng = Random(1)
    plan = plan_of([shapes(rng)[0] for _ in range(300)] + [shapes(rng)[1] for _ in range(300)])
    assert "on city, no2 or pm10: 600 entries" in plan
    assert plan.count("\n  on ") == 1


def test_clauses_match_as_the_reference_does(way: str) -> None:
    rng = Random(2)
    texts = [text for _ in range(60) for text in shapes(rng)]
    assert assert_same(SCHEMA, texts, publications(300, 3)) > 10_000


@pytest.mark.usefixtures("trees")
def test_clauses_are_exact_with_more_bounds_than_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that several bounds share are decided on exact keys, one of the conjunctions."""
    monkeypatch.setattr("wherecast.matching.columnar.cells._EXACT_MAX", 3)
    monkeypatch.setattr("wherecast.matching.columnar.cells._COARSE", 5)
    rng = Random(4)
    texts = [text for _ in range(60) for text in shapes(rng)[:5]]
    assert "exact keys at the edges" in plan_of(texts)
    assert assert_same(SCHEMA, texts, publications(300, 5)) > 10_000


@pytest.mark.usefixtures("trees")
def test_one_odd_filter_does_not_hide_the_clauses_of_a_shape() -> None:
    rng = Random(6)
    odd = "(city = 1 AND no2 > 3) OR (city = 2 AND pm10 > 4)"
    twice = "city = 1 AND (no2 > 3 OR pm10 > 4)"
    texts = [odd, *(shapes(rng)[0] for _ in range(300)), odd, twice]
    assert "on city, no2 or pm10: 301 entries" in plan_of(texts)
    assert_same(SCHEMA, texts, publications(100, 7))
