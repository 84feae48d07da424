"""Filters of unusual form: many attributes, many groups, many predicates, sets, and none."""

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.matching.columnar.agree import assert_same, columnar, rows
from wherecast import Index, Schema

TWO = Schema.from_dict({"a": "int", "b": "int", "s": "string"})
AROUND = [{"a": a, "b": b} for a in range(-1, 7) for b in (0, 3, 5)] + [{}, {"a": 1}, {"b": 3}]


def test_filters_of_everything_and_nothing(way: str) -> None:
    texts = ["TRUE", "FALSE", "NULL", "NOT TRUE", "TRUE OR a = 1", "FALSE AND a = 1",
             "a = 1 OR TRUE", "a > 5 AND a < 3", "a = 1 AND a = 2", "a IS NULL AND a = 1",
             "a <> a", "a = a", "a IN (1) AND a NOT IN (1)",
             "a IS NULL OR a IS NOT NULL"] * 20  # fmt: skip
    assert assert_same(TWO, texts, AROUND)


def test_nothing_but_missing_attributes(way: str) -> None:
    texts = ["a IS NULL", "b IS NULL", "a IS NULL AND b IS NULL",
             "a IS NULL AND b IS NULL AND s IS NULL", "a IS NULL OR b IS NULL",
             "a IS NULL AND b = 3", "a IS NOT NULL", "NOT (a IS NULL)", "a IS NULL AND s LIKE '%'",
             "a IS NULL AND b NOT IN (0, 1, 2, 5, 6, 7)"] * 30  # fmt: skip
    assert assert_same(TWO, texts, [*AROUND, {"s": ""}, {"s": "x", "b": 3}])


@pytest.mark.parametrize("publications", [[], [{}], [{}] * 100, [{"a": 3}]], ids=len)
def test_no_attribute_no_publication_and_one(way: str, publications: list[dict[str, int]]) -> None:
    texts = ["a = 3", "a IS NULL", "a <> 3", "s LIKE 'x%' OR a = 3", "TRUE", "a < b"]
    assert_same(TWO, texts, publications)


def test_an_empty_index(way: str) -> None:
    index = Index(TWO)
    assert index.match(AROUND).counts.tolist() == [0] * len(AROUND)
    assert index.match([]).to_pylist() == []
    index.add("s1", "a = 1")
    index.remove("s1")
    assert index.match([{"a": 1}]).to_pylist() == [[]]


@pytest.mark.parametrize("name", ["a", "s"])
def test_sets_of_one_to_a_thousand_values(way: str, name: str) -> None:
    """The sets share values, so that each value is an end of one and inside of another."""
    sizes = [1, 2, 3, 4, 5, 6, 33, 64, 1_000]
    values = [str(2 * place) if name == "a" else f"'v{2 * place:04}'" for place in range(1_000)]
    lists = [", ".join(values[start : start + size]) for size in sizes for start in (0, 3, 500)]
    texts = [f"{name} {word} ({each})" for each in lists for word in ("IN", "NOT IN")]
    texts += [f"{name} IN ({each}) AND b = 3" for each in lists]
    texts += [f"{name} NOT IN ({each}) AND b IN (3, 5)" for each in lists]
    given = [*range(-1, 16), 62, 64, 65, 66, 999, 1_000, 1_008, 1_998, 1_999, 2_000]
    publications = [{name: v if name == "a" else f"v{v:04}", "b": b} for v in given for b in (0, 3)]
    assert assert_same(TWO, texts, [*publications, {"b": 3}, {}])


def test_unequal_several_times(way: str) -> None:
    texts = []
    for count in range(1, 8):
        texts += [" AND ".join(f"a <> {value}" for value in range(count))]
        texts += [f"{texts[-1]} AND b <> 3", f"{texts[-1]} AND b <> 3 AND b <> 5 AND s <> 'x'"]
        texts += [f"{texts[-1]} AND a > 0", f"a NOT IN (0, 1) AND {texts[-1]}"]
    publications = [*AROUND, *({"a": 6, "b": 0, "s": s} for s in ("x", "y", ""))]
    assert assert_same(TWO, texts, publications)


def test_many_branches_that_match_at_once(way: str) -> None:
    """A filter is found once, however many of its conjunctions hold."""
    texts = [" OR ".join(f"a > {value - other}" for value in range(20)) for other in range(5)]
    texts += [" OR ".join(f"(a >= {v} AND b <> {v})" for v in range(30))] * 3
    texts += ["(a = 1 OR b = 3) AND (a > 0 OR b < 9) AND (a <> 2 OR s IS NULL)"] * 3
    texts += [" OR ".join(f"a IN ({v}, {v + 1}, {v + 2}, {v + 3}, {v + 4})" for v in range(9))]
    texts += ["a = 1 OR s LIKE 'x%' OR s LIKE '%x' OR lower(s) = 'x'"]
    assert assert_same(TWO, texts, [*AROUND, {"s": "x"}, {"s": "x", "a": 1}])


@pytest.mark.parametrize("size", [15, 16, 17, 40])
@pytest.mark.parametrize("spread", [1, 2], ids=["one set", "many sets"])
def test_many_predicates_in_a_filter(way: str, size: int, spread: int) -> None:
    """More than a tree has dimensions; with `spread` each filter is on attributes of its own."""
    width = spread * size
    schema = Schema.from_dict({f"x{place}": "int" for place in range(width)})
    draw = np.random.default_rng(size)
    texts = []
    for number in range(100):
        chosen = sorted(draw.permutation(width)[:size].tolist())
        words = [f"x{place} BETWEEN {low} AND {low + 8}" for place, low in
                 zip(chosen, draw.integers(0, 2, size).tolist(), strict=True)]  # fmt: skip
        words[0] = f"x{chosen[0]} <> 4" if number % 3 else f"x{chosen[0]} IN (1, 2, 3, 5, 7, 8)"
        words[-1] = f"x{chosen[-1]} IS NULL" if number % 5 == 0 else words[-1]
        texts.append(" AND ".join(words))
    filled = draw.integers(1, 9, (40, width)).tolist()
    publications = [{f"x{p}": v for p, v in enumerate(row)} for row in filled]
    publications += [{n: v for n, v in row.items() if n != "x3"} for row in publications[:10]]
    for row in publications[:10]:
        del row[f"x{width - 1}"]
    assert assert_same(schema, texts, publications)


@pytest.mark.usefixtures("trees")
def test_hundreds_of_groups_some_large_and_some_small() -> None:
    """20 sets of attributes with more than 1,024 filters each and 500 with few."""
    width = 40
    schema = Schema.from_dict({f"x{place}": "int" for place in range(width)})
    draw = np.random.default_rng(9)
    sets = [draw.permutation(width)[: draw.integers(1, 6)].tolist() for _ in range(520)]
    owners = np.concatenate([np.repeat(np.arange(20), 1_100), np.repeat(np.arange(20, 520), 8)])
    lows = draw.integers(0, 90, (len(owners), 5))
    highs = lows + draw.integers(0, 60, lows.shape)
    texts = [
        " AND ".join(f"x{p} BETWEEN {low} AND {high}" for p, low, high in zip(sets[o], a, b))  # noqa: B905
        for o, a, b in zip(owners.tolist(), lows.tolist(), highs.tolist(), strict=True)
    ]
    values = draw.integers(0, 100, (60, width))
    there = draw.random((60, width)) < 0.6
    batch = pa.record_batch({
        f"x{place}": pa.array(values[:, place], mask=~there[:, place]) for place in range(width)
    })  # fmt: skip

    index = columnar(schema, texts)
    found = rows(index.match(batch))

    assert len(index.explain_plan().splitlines()) > 20
    for row in range(60):
        holds = np.ones(len(texts), bool)
        for place in range(5):
            slots = np.array([chosen[place] if place < len(chosen) else -1 for chosen in sets])
            slot = slots[owners]
            inside = (lows[:, place] <= values[row, slot]) & (values[row, slot] <= highs[:, place])
            holds &= (slot < 0) | (inside & there[row, slot])
        assert found[row].tolist() == np.flatnonzero(holds).tolist()


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.release)])
@pytest.mark.usefixtures("trees")
def test_thousands_of_attributes(count: int) -> None:
    """Each filter on attributes of its own; publications carry a few."""
    schema = Schema.from_dict({f"x{place}": "int" for place in range(count)})
    texts = [f"x{place} > {place % 7}" for place in range(count)]
    texts += [f"x{place} = 3 AND x{(place * 7 + 1) % count} < 5" for place in range(count)]
    draw = np.random.default_rng(1)
    given = [dict.fromkeys(draw.permutation(count)[:5].tolist(), 3) for _ in range(20)]
    given += [{0: 3, 1: 3, 8: 3}, {count - 1: 9}, {}]

    index = columnar(schema, texts)
    found = rows(index.match([{f"x{p}": v for p, v in row.items()} for row in given]))

    for row, numbers in zip(given, found, strict=True):
        single = {p for p, v in row.items() if v > p % 7}
        double = {
            count + p for p, v in row.items() if v == 3 and row.get((p * 7 + 1) % count, 9) < 5
        }
        assert set(numbers.tolist()) == single | double
        assert len(numbers) == len(single | double)
