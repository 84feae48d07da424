"""Parts: columns of filters side by side, some of them hidden."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from wherecast import Schema
from wherecast.language import read_filters
from wherecast.matching import IndexPart, IndexParts, join_parts

SCHEMA = Schema.from_dict(
    {"x": "float", "y": "float", "lat": "float", "lon": "float", "city": "string"}
)
BATCH = pa.RecordBatch.from_pylist(
    [{"x": 1.0, "y": 2.0, "city": "Zagreb"}, {"x": 5.0, "y": 4.0, "city": "Split"}],
    schema=pa.schema([("x", pa.float64()), ("y", pa.float64()), ("city", pa.string())]),
)


def part(filters: dict[str, str] | dict[int, str]) -> IndexPart:
    type_ = pa.int64() if isinstance(next(iter(filters)), int) else pa.large_string()
    table = read_filters(pa.array(filters.values(), pa.large_string()), SCHEMA)
    return IndexPart.of(pa.array(filters, type_), table, SCHEMA)


def test_places_count_through_all_parts() -> None:
    parts = IndexParts([part({"a": "x > 0", "b": "x > 3"}), part({"c": "city LIKE 'S%'"})])

    assert len(parts) == 3
    matches = parts.match(BATCH)
    assert [row.tolist() for row in np.split(matches.indices, matches.offsets[1:-1])] == [
        [0],
        [0, 1, 2],
    ]


def test_hidden_filters_match_nothing_and_keep_their_places() -> None:
    before = part({"a": "x > 0", "b": "x > 3", "c": "y > 0"})
    after = before.without(np.array([0])).without(np.array([2]))

    assert (len(before), before.hidden.tolist()) == (3, [])
    assert (len(after), after.hidden.tolist()) == (3, [0, 2])
    parts = IndexParts([after, part({"d": "TRUE"})])
    assert len(parts) == 2
    assert parts.match(BATCH).indices.tolist() == [3, 1, 3]


def test_no_parts_match_nothing() -> None:
    matches = IndexParts([]).match(BATCH)
    assert (len(IndexParts([])), matches.offsets.tolist()) == (0, [0, 0, 0])


class TestFind:
    def test_by_id_without_the_hidden_ones(self) -> None:
        given = part({"a": "x > 0", "b": "x > 3", "c": "y > 0"}).without(np.array([1]))
        wanted = pa.array(["c", "b", "z", "a"], pa.large_string())
        assert given.find(wanted).tolist() == [0, 2]

    def test_ids_of_another_type_are_not_there(self) -> None:
        assert part({1: "x > 0"}).find(pa.array(["1"], pa.large_string())).tolist() == []


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("x", ["range", "two", "or"]),
        ("y", ["two"]),
        ("lat", ["away"]),
        ("lon", ["away"]),
        ("city", ["set", "pattern", "null", "or"]),
        ("no such", []),
    ],
)
def test_who_names_an_attribute(attribute: str, expected: list[str]) -> None:
    given = {
        "range": "x > 0",
        "two": "x < y",
        "away": "geo_distance(lat, lon, 45.8, 16.0) < 500",
        "set": "city IN ('Zagreb', 'Split')",
        "pattern": "city LIKE '%a_b%'",
        "null": "city IS NULL",
        "or": "x > 1 OR city = 'Pula'",
        "gone": "x > 7 AND city = 'Osijek' AND lat > 0 AND y > 0 AND lon > 0",
    }
    found = part(given).without(np.array([len(given) - 1]))
    assert [list(given)[place] for place in found.naming(attribute)] == expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["x > 0", "city IN ('Zagreb', 'Split')"], ["x", "city"]),
        (["x < y"], ["x", "y"]),
        (["geo_distance(lat, lon, 45.8, 16.0) < 500"], ["lat", "lon"]),
        (["city LIKE '%a_b%' OR y IS NULL"], ["y", "city"]),
        (["TRUE", "x > 5 AND x < 3"], []),
    ],
)
def test_hidden_ones_name_nothing(filters: list[str], expected: list[str]) -> None:
    gone = "x > 7 AND city = 'Osijek' AND lat > 0 AND y > 0 AND lon > 0 AND lon < lat AND y < lat"
    given = part(dict(enumerate([*filters, gone, "x > 3 AND x < 1"])))
    found = given.without(np.array([len(filters), len(filters) + 1]))
    assert sorted(a.name for a in found.attributes) == sorted(expected)
    assert found.attributes == join_parts([found])[0].attributes
    assert found.never == sum("AND x <" in text for text in filters)


class TestJoin:
    def test_one_part_in_the_order_of_the_ids(self) -> None:
        first = part({"d": "x > 0", "a": "x > 3", "c": "y > 3"}).without(np.array([0]))
        second = part({"b": "city = 'Split'"})

        one, places = join_parts([first, second])

        assert one.ids.to_pylist() == ["a", "b", "c"]
        assert places.tolist() == [1, 3, 2]
        assert IndexParts([one]).match(BATCH).indices.tolist() == [0, 1, 2]

    def test_integers(self) -> None:
        one, places = join_parts([part({5: "x > 0", -3: "x > 3"}), part({0: "TRUE"})])
        assert (one.ids.to_pylist(), places.tolist()) == ([-3, 0, 5], [1, 2, 0])


def test_a_file_has_the_same_filters(tmp_path: Path) -> None:
    given = part({"a": "x > 0", "b": "city LIKE 'S%'", "never": "x > 5 AND x < 3"})
    content = given.save(tmp_path / "part")
    found = IndexPart.load(tmp_path / "part")

    assert found.ids.equals(given.ids)
    assert found.never == given.never == 1
    assert [a.name for a in found.attributes] == ["x", "city"]
    assert found.schema == SCHEMA
    assert IndexParts([found]).match(BATCH).indices.tolist() == [0, 0, 1]
    assert found.save(tmp_path / "again") == content
