"""Boxes and values at their edges: equal boxes, one hot cell, bounds, ulps, the ends of types."""

from math import inf, nan, nextafter

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.matching.columnar.agree import assert_same, columnar, rows
from wherecast import Schema
from wherecast.model.values import INT_MAX, INT_MIN

OPERATORS = ("=", "<>", "<", "<=", ">", ">=")
NUMBERS = Schema.from_dict({"a": "int", "x": "float"})
EXACT_MAX = 32_766  # bounds that each have a cell of their own


def between(name: str, lows: list[object], highs: list[object]) -> list[str]:
    return [f"{name} BETWEEN {a!r} AND {b!r}" for a, b in zip(lows, highs, strict=True)]


def test_thousands_of_one_box(way: str) -> None:
    count = 5_000
    index = columnar(NUMBERS, ["a BETWEEN 1 AND 3 AND x < 2.5"] * count)

    found = index.match([{"a": 1, "x": 0}, {"a": 4, "x": 0}, {"a": 3, "x": 2.5}, {"a": 3, "x": 2}])

    assert found.counts.tolist() == [count, 0, 0, count]
    assert rows(found)[0].tolist() == list(range(count))


def test_one_hot_value(way: str) -> None:
    """All filters on one value, all publications on it: every pair matches."""
    count = 3_000
    index = columnar(NUMBERS, ["a = 7"] * count + ["a <> 7"] * count)

    found = index.match(pa.record_batch({"a": np.full(200, 7)}))

    assert found.counts.tolist() == [count] * 200
    assert rows(found)[-1].tolist() == list(range(count))


@pytest.mark.parametrize("value", [0, 5, 2**53 + 1, -(2**53) - 1])
def test_every_bound_is_equal(way: str, value: int) -> None:
    texts = [f"a {operator} {value}" for operator in OPERATORS] * 50
    texts += [f"a BETWEEN {value} AND {value}", f"a NOT BETWEEN {value} AND {value}"]
    assert assert_same(NUMBERS, texts, [{"a": value + step} for step in (-2, -1, 0, 1, 2)])


def test_floats_on_bounds_and_one_ulp_beside(way: str) -> None:
    bounds = [0.0, 0.1, 0.1 + 0.2, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 2.0**53,
              1e300, -1e300, 1.7976931348623157e308, -1.7976931348623157e308]  # fmt: skip
    texts = [f"x {operator} {bound!r}" for operator in OPERATORS for bound in bounds]
    texts += [f"x BETWEEN {a!r} AND {b!r}" for a in bounds for b in bounds if a <= b]
    texts += [f"x NOT IN ({', '.join(map(repr, bounds[:size]))})" for size in range(1, 14)]
    texts += [f"x IN ({', '.join(map(repr, bounds[-size:]))})" for size in range(1, 14)]
    values = {nextafter(bound, way) for bound in bounds for way in (-inf, bound, inf)}
    table = pa.table({"x": [*values, -0.0, nan, inf, -inf, None]})

    assert assert_same(Schema.from_dict({"x": "float"}), texts, table)


def test_nan_infinity_and_minus_zero_when_they_are_all_there_is(way: str) -> None:
    texts = ["x = 0", "x = -0.0", "x <> 0", "x < -0.0", "x > 0", "x >= -0.0", "x > 1e308", "x < 1",
             "x IS NULL", "x IS NOT NULL", "x NOT IN (0, 1)", "x NOT BETWEEN -1 AND 1"]  # fmt: skip
    for value in (nan, inf, -inf, -0.0):
        assert assert_same(NUMBERS, texts, pa.table({"a": [1, 1], "x": [value, value]}))


# what no value exceeds, on both sides of every operator
ENDS = [INT_MIN, INT_MIN + 1, -(2**53) - 1, 2**53, 2**53 + 1, 2**53 + 2, INT_MAX - 1, INT_MAX]


def test_ints_beyond_doubles_and_at_the_ends(way: str) -> None:
    texts = [f"a {operator} {end}" for operator in OPERATORS if operator != "<>" for end in ENDS]
    texts += [f"a BETWEEN {low} AND {high}" for low in ENDS for high in ENDS if low <= high]
    texts += [f"a IN ({', '.join(map(str, ENDS[:size]))})" for size in range(1, 9)]
    values = sorted({end + step for end in ENDS for step in (-1, 0, 1)})
    publications = [{"a": value} for value in values if INT_MIN <= value <= INT_MAX]

    assert assert_same(NUMBERS, texts, publications)


@pytest.mark.parametrize(
    "text",
    [f"a <> {INT_MAX}", f"a <> {INT_MIN}", f"a NOT IN ({INT_MIN}, 0, {INT_MAX})"],
)
def test_the_ends_of_ints_excluded(way: str, text: str) -> None:
    values = [INT_MIN, INT_MIN + 1, -1, 0, 1, INT_MAX - 1, INT_MAX]
    assert_same(NUMBERS, [text], [{"a": value} for value in values])


def test_the_ends_of_ints_excluded_among_many(way: str) -> None:
    ends = f"{INT_MIN}, -1, 0, 1, 2, 3, {INT_MAX}"
    values = [INT_MIN, INT_MIN + 1, -1, 0, 1, 4, INT_MAX - 1, INT_MAX]
    publications = [{"a": value} for value in values]
    assert assert_same(NUMBERS, [f"a NOT IN ({ends})", f"a IN ({ends})"], publications)


@pytest.mark.usefixtures("trees")
@pytest.mark.parametrize(
    "bounds", [EXACT_MAX - 2, EXACT_MAX, EXACT_MAX + 2, 65_000, 70_000, 150_000]
)
def test_more_bounds_than_cells_on_ints(bounds: int) -> None:
    """Filter k holds 4k + 1 to 4k + 2, so that each value has one filter or none."""
    count = bounds // 2
    texts = between("a", [4 * k + 1 for k in range(count)], [4 * k + 2 for k in range(count)])
    draw = np.random.default_rng(bounds)
    values = np.concatenate([draw.integers(-4, 4 * count + 4, 20_000), [INT_MIN, INT_MAX, 0]])
    expected = np.where((values % 4 == 1) | (values % 4 == 2), values // 4, -1)
    expected[(values < 0) | (values >= 4 * count)] = -1

    found = columnar(NUMBERS, texts).match(pa.record_batch({"a": values}))

    assert found.counts.tolist() == (expected >= 0).tolist()
    assert np.concatenate(rows(found)).tolist() == expected[expected >= 0].tolist()


@pytest.mark.usefixtures("trees")
@pytest.mark.parametrize(
    "start", [1.0, -1.0, 1e300, pytest.param(0.0, marks=pytest.mark.release)], ids=str
)
def test_more_bounds_than_cells_on_neighbouring_doubles(start: float) -> None:
    """70,000 doubles in a row, each a bound: nothing lies between two of them."""
    count = 35_000
    first = np.array(start).view(np.int64)
    doubles = np.sort((first + np.arange(2 * count)).view(np.float64))
    lows, highs = doubles[::2], doubles[1::2]
    texts = between("x", lows.tolist(), highs.tolist())
    values = np.concatenate([doubles[::7], np.nextafter(doubles[[0, -1]], [-inf, inf]),
                             [inf, -inf, nan]])  # fmt: skip
    expected = np.searchsorted(lows, values, side="right") - 1
    inside = (expected >= 0) & (values <= highs[expected])

    found = columnar(NUMBERS, texts).match(pa.record_batch({"x": values}))

    assert found.counts.tolist() == inside.tolist()
    assert np.concatenate(rows(found)).tolist() == expected[inside].tolist()


@pytest.mark.usefixtures("trees")
def test_more_bounds_than_cells_beyond_doubles() -> None:
    """Ints that one double stands for are told apart."""
    base, count = 2**56, 40_000
    texts = [f"a = {base + 3 * k}" for k in range(count)]
    steps = np.concatenate([np.arange(-3, 3_000), np.arange(3 * count - 3_000, 3 * count + 3)])
    expected = np.where((steps % 3 == 0) & (steps >= 0) & (steps < 3 * count), steps // 3, -1)

    found = columnar(NUMBERS, texts).match(pa.record_batch({"a": base + steps}))

    assert found.counts.tolist() == (expected >= 0).tolist()
    assert np.concatenate(rows(found)).tolist() == expected[expected >= 0].tolist()


@pytest.mark.usefixtures("trees")
def test_coarse_cells_beside_exact_ones_and_other_predicates() -> None:
    """A group with a coarse dimension, an exact one, and entries that want more than a box."""
    schema = Schema.from_dict({"a": "int", "b": "int", "s": "string"})
    count, draw = 40_000, np.random.default_rng(4)
    lows = draw.integers(0, 10**6, count)
    highs = lows + draw.integers(0, 2_000, count)
    cuts = draw.integers(0, 10, count)
    lists = zip(lows.tolist(), highs.tolist(), cuts.tolist(), strict=True)
    texts = [
        f"a BETWEEN {low} AND {high} AND b < {cut}" + (" AND s LIKE 'x%'" if k % 7 == 0 else "")
        for k, (low, high, cut) in enumerate(lists)
    ]
    wants_x = np.arange(count) % 7 == 0
    values = np.concatenate([lows[:100], highs[:100], highs[:100] + 1, lows[:100] - 1])
    others, starts = draw.integers(0, 10, len(values)), draw.random(len(values)) < 0.5
    batch = pa.record_batch(
        {"a": values, "b": others, "s": ["xa" if start else "ax" for start in starts]}
    )

    found = rows(columnar(schema, texts).match(batch))

    for row, (a, b, start) in enumerate(zip(values, others, starts, strict=True)):
        holds = (lows <= a) & (a <= highs) & (b < cuts) & (start | ~wants_x)
        assert found[row].tolist() == np.flatnonzero(holds).tolist()


@pytest.mark.usefixtures("trees")
@pytest.mark.parametrize("form", ["a IN ({0}, {1})", "a <> {0}"])
def test_split_predicates_on_coarse_cells_are_found_once(form: str) -> None:
    """Disjoint entries of one filter lie in one cell, and the filter holds whichever is asked."""
    count, every = 100_000, 500
    texts = [f"a = {4 * k}" for k in range(count)]
    for k in range(0, count, every):
        texts[k] = form.format(4 * k, 4 * k + 4)
    values = [4 * k + step for k in range(0, count, every) for step in (-4, -1, 0, 1, 4)]

    found = rows(columnar(NUMBERS, texts).match(pa.record_batch({"a": values})))

    assert [len(row) - len(set(row.tolist())) for row in found] == [0] * len(values)
