"""One publication at a time: what is done without a batch, and what it costs."""

from datetime import UTC, datetime
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

from tests.ways import take
from wherecast import Index, PublicationError, Schema
from wherecast.matching.columnar.search.pattern_memory import Generation
from wherecast.workloads import WORKLOADS

SCHEMA = Schema.from_dict(
    {
        "no2": "float",
        "city": "string",
        "count": "int",
        "at": "timestamp",
        "tags": "array<string>",
        "lat": "float",
        "lon": "float",
    }
)
FILTERS = {
    1: "no2 > 40",
    2: "city = 'Zagreb' AND (no2 > 50 OR count > 3)",
    3: "city LIKE 'Z%' OR no2 < 10",
    4: "array_contains(tags, 'a')",
    5: "geo_distance(lat, lon, 45.8, 15.9) < 5000",
    6: "no2 / count > 5",
    7: "at < now()",
    8: "city = 'Split' OR city RLIKE '^Z.*b$' AND no2 > count",
}
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ROWS: dict[str, tuple[dict[str, Any], list[int]]] = {
    "plain": ({"no2": 45.0, "city": "Zagreb", "count": 4}, [1, 2, 3, 6, 8]),
    "nothing": ({}, []),
    "nulls": ({"no2": None, "city": None}, []),
    "an int for a float": ({"no2": 41}, [1]),
    "an unknown text": ({"city": "Zadar"}, [3]),
    "elements": ({"tags": ["b", "a", "a", None]}, [4]),
    "no elements": ({"tags": []}, []),
    "near": ({"lat": 45.81, "lon": 15.91}, [5]),
    "off the globe": ({"lat": 91.0, "lon": 500.0}, []),
    "a time": ({"at": "2026-05-01T11:59:59Z"}, [7]),
    "division by zero": ({"no2": 1.0, "count": 0}, [3]),
}


@pytest.fixture(params=["columns", "flat", "trees"])
def index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Index:
    take(request.param, monkeypatch)
    made = Index(SCHEMA)
    made.add_all(FILTERS)
    return made


def singles(index: Index) -> int:
    """Number of publications that were matched without a batch."""
    count: int = index.stats()["rows_matched_one_by_one"]
    return count


@pytest.mark.parametrize("name", ROWS)
def test_it_needs_no_batch(index: Index, name: str) -> None:
    row, expected = ROWS[name]
    assert sorted(index.match_one(row, NOON)) == expected
    assert sorted(index.match_one(row, NOON)) == expected
    assert singles(index) == 2


@pytest.mark.parametrize(
    "row", [{"No2": 45.0}, {"no2": 45.0, "CITY": None}, {"at": None, "Tags": []}]
)
def test_a_name_in_another_case_is_left_to_the_batch(index: Index, row: dict[str, Any]) -> None:
    assert sorted(index.match_one(row)) == index.match([row]).to_pylist()[0]
    assert singles(index) == 0


@pytest.mark.parametrize(
    "row", [{"zz": 1}, {"no2": "45"}, {"city": "\ud800"}, {"count": 2**63}, {"tags": "a"}, {5: 1}]
)
def test_a_bad_publication_is_left_to_the_batch(index: Index, row: dict[Any, Any]) -> None:
    with pytest.raises(PublicationError) as single:
        index.match_one(row)
    with pytest.raises(PublicationError) as listed:
        index.match([row])
    assert single.value.problems == listed.value.problems
    assert singles(index) == 0


def test_changes_that_wait_count_at_once(index: Index) -> None:
    row = {"no2": 45.0, "city": "Zagreb", "count": 4}
    assert sorted(index.match_one(row)) == [1, 2, 3, 6, 8]
    index.add(9, "count = 4")
    index.add(1, "no2 > 100")
    index.remove(3)
    assert sorted(index.match_one(row)) == [2, 6, 8, 9]
    index.remove_all([2, 6, 8, 9])
    assert index.match_one(row) == []
    index.remove_all([1, 4, 5, 7])
    assert index.match_one(row) == []
    assert singles(index) == 4


def test_several_runs_and_hidden_filters(index: Index) -> None:
    for first in (100, 200, 300):
        index.add_all({first + number: f"count > {number}" for number in range(10)})
    index.remove_all([100, 205, 3])
    found = sorted(index.match_one({"count": 5, "city": "Zagreb"}))
    assert found == [2, 101, 102, 103, 104, 200, 201, 202, 203, 204, 300, 301, 302, 303, 304]


def test_a_pattern_that_several_attributes_share(index: Index) -> None:
    """Its verdicts are remembered by string; two attributes may have the same one."""
    index.add(9, "city LIKE '%a_b'")
    index.add(10, "lower(city) LIKE '%a_b'")
    index.add(11, "upper(city) LIKE '%a_b' OR lower(city) = 'q'")
    for _ in range(2):
        for text in ("XAYB", "xazb", "xAyB", "xayb", "b", "B"):
            expected = [9] * (text in ("xayb", "xazb")) + [10] * (len(text) > 1)
            assert sorted(index.match_one({"city": text})) == expected


def test_errors_of_a_row_are_counted(index: Index) -> None:
    index.match_one({"no2": 1.0, "count": 0}, NOON)
    assert index.stats()["row_errors"]["division_by_zero"] > 0


def test_text_ids() -> None:
    index = Index(SCHEMA)
    index.add_all({f"s{number}": f"count >= {number}" for number in range(5)})
    assert sorted(index.match_one({"count": 2})) == ["s0", "s1", "s2"]


def test_nothing_of_arrow_is_made_for_a_publication(monkeypatch: pytest.MonkeyPatch) -> None:
    take("trees", monkeypatch)
    drawn = WORKLOADS["alerts_or"](seed=1)
    index = Index(drawn.schema)
    index.add_all(pa.Table.from_batches(drawn.filters(1_000)))
    rows = next(drawn.publications(200)).to_pylist()
    index.match_one(rows[0])
    before = pa.default_memory_pool().num_allocations()
    found = sum(len(index.match_one(row)) for row in rows)
    assert pa.default_memory_pool().num_allocations() == before
    assert found > 0
    assert singles(index) == 201


def test_threads_share_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    take("trees", monkeypatch)
    drawn = WORKLOADS["alerts_or"](seed=1)
    index = Index(drawn.schema)
    index.add_all(pa.Table.from_batches(drawn.filters(1_000)))
    rows = next(drawn.publications(300)).to_pylist()
    expected = index.match(rows).to_pylist()
    wrong: list[Any] = []

    def match() -> None:
        for row, wanted in zip(rows, expected, strict=True):
            if sorted(index.match_one(row)) != wanted:  # type: ignore[type-var]
                wrong.append(row)

    threads = [Thread(target=match) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert singles(index) == 4 * len(rows)


def test_marks_begin_anew_after_many_publications(monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter of several conjunctions is reported once, however many publications came before."""
    take("trees", monkeypatch)
    index = Index(SCHEMA)
    index.add_all({n: f"no2 > {n} OR count > {n} OR no2 < -5" for n in range(100)})
    for number in range(600):
        row = {"no2": float(number % 7), "count": number % 5}
        assert sorted(index.match_one(row)) == list(range(max(number % 7, number % 5)))


def test_each_string_has_a_place_of_its_own_in_the_memory_of_patterns() -> None:
    generation = Generation(1, 64)
    first, second = generation.places(["A", "a", "A"]), generation.places(["b", "A", "c", "b"])
    assert first is not None
    assert second is not None
    assert first[0] == first[2] == second[1]
    assert len({*first.tolist(), *second.tolist()}) == 4
