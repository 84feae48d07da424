"""Boxes and flags of filters, and what is left when some are dropped."""

import numpy as np
import pyarrow as pa
import pytest

from tests.unit.matching.trees.stores import SCHEMA, box, flags, store_of
from wherecast.language import read_filters
from wherecast.language.bulk.plain_reader import PlainFilter, PlainReader
from wherecast.language.meaning.keys import float_key
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.row_layout import FLAG

FULL = (-(2**63), 2**63 - 1)
HASHES = (-1, 2**62 - 1)
INSIDE = (float_key(10.0) + 1, float_key(20.0) - 1)
DOMAIN = (float_key(0.0), float_key(100.0))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > 10 AND a < 20 AND b = 5", {"a": INSIDE, "b": (5, 5)}),
        ("a >= 0", {"a": DOMAIN}),
        ("a <> 5 AND b IS NOT NULL", {"a": DOMAIN, "b": FULL}),
        ("b IN (7, 3, 5)", {"b": (3, 7)}),
        ("b = 1 OR b = 9", {"b": (1, 9)}),
        ("(b = 1 AND a > 5) OR b = 9", {"b": (1, 9)}),
        ("a = 1 OR b = 2", {}),
        ("b IS NULL AND a = 1", {"a": (float_key(1.0),) * 2}),
        ("b IS NULL OR b > 3", {}),
        ("TRUE", {}),
        ("a = 1 OR TRUE", {}),
        ("(a > 200 AND b = 1) OR b = 7", {"b": (7, 7)}),
        ("d > 5 AND d < 7", {"d": (float_key(5.5), float_key(6.5))}),
        ("s LIKE 'x%' AND s > 'b'", {"s": HASHES}),
        ("t LIKE '%i%'", {"t": (1, 2)}),
        ("t > 'low' AND t < 'n'", {"t": (1, 1)}),
        ("t <> 'nothing'", {"t": (0, 3)}),
        ("b < a", {"b": FULL}),
    ],
    ids=str,
)  # fmt: skip
def test_boxes(text: str, expected: dict[str, tuple[int, int]]) -> None:
    assert box(store_of(text)) == expected


def test_a_string_has_the_key_of_its_hash() -> None:
    one, other = store_of("s = 'x'"), store_of("s = 'y' AND s <> 'z'")
    assert box(one)["s"][0] == box(one)["s"][1] != box(other)["s"][0]
    low, high = box(store_of("s IN ('x', 'y')"))["s"]
    assert {low, high} == {box(one)["s"][0], box(other)["s"][0]}


def test_circles_have_boxes_where_they_may() -> None:
    text = "geo_distance(lat, lon, 45.0, 15.0) < 1000"
    south, north = box(store_of(text))["lat"]
    assert float_key(44.9) < south < float_key(45.0) < north < float_key(45.1)
    assert box(store_of(text, circles=False))["lat"] == (-float_key(np.inf), 0x7FF8_0000_0000_0000)
    assert "lat" in box(store_of("geo_distance(lat, lon, 45.0, 15.0) > 1000"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a > 10", FLAG.BOX | FLAG.PLAIN),
        ("s = 'x'", FLAG.BOX | FLAG.PLAIN),
        ("a > 10 AND b = 5", FLAG.BOX),
        ("a <> 10", 0),
        ("a > 1 OR b > 1", 0),
        ("s LIKE 'x%'", 0),
        ("TRUE", FLAG.ALWAYS | FLAG.BOX),
        ("FALSE", FLAG.NEVER),
        ("b > 5 AND b < 3", FLAG.NEVER),
        ("a > 200", FLAG.NEVER),
        ("t = 'nothing'", FLAG.NEVER),
        ("a = 1 OR TRUE", FLAG.ALWAYS | FLAG.BOX),
    ],
)
def test_flags(text: str, expected: int) -> None:
    assert flags(store_of(text)) == expected


def test_compacting_keeps_what_the_kept_ones_say() -> None:
    texts = [
        "s IN ('x', 'y')", "s LIKE 'a%'", "b NOT IN (1, 2) AND s <> 'gone'", "b < a",
        "geo_distance(lat, lon, 45.0, 15.0) < 1000", "t IN ('low', 'top') OR b = 3", "s LIKE 'b%'",
    ]  # fmt: skip
    store = store_of(*texts)
    kept = [6, 0, 5, 3, 4]
    fresh = FilterStore()
    fresh.add(read_filters([texts[number] for number in kept], SCHEMA))
    before = store.leaf_rows, len(store.leaves)
    store.compact(np.array(kept))
    assert before == (4, 4)
    assert (store.count, store.leaf_rows, len(store.leaves)) == (5, 3, 3)
    assert [box(store, n) for n in range(5)] == [box(fresh, n) for n in range(5)]
    assert store.nbytes == fresh.nbytes
    assert store.slots.value_keys(0, ["gone"]).tolist() == [-1]
    assert store.slots.value_keys(0, ["x"])[0] >= 0


def test_it_grows_by_rows_and_keeps_numbers() -> None:
    store = FilterStore()
    for number in range(100):
        assert store.add(read_filters([f"b > {number}"], SCHEMA)) == range(number, number + 1)
    assert [box(store, n)["b"][0] for n in range(100)] == list(range(1, 101))
    assert pa.types.is_integer(pa.from_numpy_dtype(store.rows.e.dtype))


PLAIN_TEXTS = [
    "a > 10 AND b = 5", "a > 10", "b < 7", "a > 200 AND b = 3", "s = 'x' AND a < 5", "s <> 'x'",
    "t = 'mid' AND s = 'y'", "t = 'nothing'", "t <> 'nothing'", "a <> 5 AND b > 3", "b <> 4",
    "b BETWEEN 3 AND 5 AND a BETWEEN 1 AND 2", "lat > 5 AND lon < 7 AND s = 'y' AND b = 1",
]  # fmt: skip


def plain_filters(texts: list[str]) -> list[PlainFilter]:
    reader = PlainReader(SCHEMA)
    found = [reader.read(text) or reader.read(text) for text in texts]
    return [plain for plain in found if plain is not None]


def test_plain_filters_are_stored_as_others() -> None:
    filters = plain_filters(PLAIN_TEXTS)
    assert [plain.text for plain in filters] == PLAIN_TEXTS
    one, together = store_of("b = 1 OR s IN ('y', 'z')"), store_of("b = 1 OR s IN ('y', 'z')")
    many = store_of("b = 1 OR s IN ('y', 'z')")
    for plain in filters:
        one.add(read_filters([plain.text], SCHEMA))
        assert together.add_plain([plain]) == range(together.count - 1, together.count)
    many.add_plain(filters)
    for store in (together, many):
        assert [a.name for a in store.slots.attributes] == [a.name for a in one.slots.attributes]
        assert store._used[:3] == one._used[:3]
        for got, wanted, used in zip(store.rows[:3], one.rows[:3], one._used[:3], strict=True):
            assert got[:used].tolist() == wanted[:used].tolist()
    strings = ["x", "y", "z", "w"]
    assert one.slots.value_keys(1, strings).tolist() == many.slots.value_keys(1, strings).tolist()
