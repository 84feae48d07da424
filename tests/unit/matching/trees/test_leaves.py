"""Leaves are decided as the definition decides them."""

from typing import Any

import pytest

from tests.unit.matching.trees.stores import SCHEMA
from wherecast import Filter, Index
from wherecast.matching.trees.leaves import Leaves, TextRange

ROWS: list[dict[str, Any]] = [
    {"s": "abc", "a": 5.0, "b": 5, "lat": 45.0, "lon": 15.0},
    {"s": "b", "a": 7.5, "b": 7, "lat": 45.5, "lon": 15.0},
    {"s": "", "lat": 95.0, "lon": 195.0},
    {"lat": 0.0, "lon": 1.0000000000000002e300},
    {"lat": 0.0, "lon": -450.0},
    {"a": 1.0, "lat": 89.9999, "lon": -179.9},
    {},
]
TEXTS = [
    "s LIKE 'a%'", "s >= 'abc' AND s < 'c'", "s > 'abc'", "lower(s) = 'b'", "s NOT LIKE '%b%'",
    "b < a", "a <> b", "geo_distance(lat, lon, 45.0, 15.0) < 1000",
    "geo_distance(lat, lon, 45.0, 15.0) > 50000", "geo_distance(lat, lon, 90.0, 0.0) < 100",
    "geo_distance(lat, lon, 85.0, 15.0) < 1", "geo_distance(lon, lon, 0, -90.0) < 1e6",
    "s LIKE 'a%' OR b = 7", "s LIKE 'a%' OR s LIKE '%c'",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["betree", "forest"])
def test_they_agree_with_the_definition(kind: str) -> None:
    index = Index(SCHEMA, kind)
    index.add_all(enumerate(TEXTS))
    filters = [Filter(text, SCHEMA) for text in TEXTS]
    found = index.match(ROWS).to_pylist()
    for row, ids in zip(ROWS, found, strict=True):
        assert ids == [n for n, f in enumerate(filters) if f.matches(row)], row


def test_equal_leaves_are_one() -> None:
    attribute = SCHEMA.find("s")
    assert attribute is not None
    leaves = Leaves()
    numbers = [leaves.number(TextRange(attribute, low, None)) for low in ("a", "b", "a")]
    assert numbers == [0, 1, 0]
    assert len(leaves) == 2
    assert TextRange(attribute, "a", "b").holds("az")
    assert not TextRange(attribute, "a", "b").holds("b")
