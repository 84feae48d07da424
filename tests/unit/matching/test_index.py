from decimal import Decimal
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from wherecast import ConfigError, Filter, FilterError, Index, PublicationError, Schema
from wherecast.matching.kinds import KINDS

SCHEMA = Schema.from_dict({"no2": "float", "city": "string", "count": "int"})
DUSTY, CLEAN = {"no2": 45.0, "city": "Zagreb"}, {"no2": 5.0}


@pytest.fixture(params=KINDS)
def index(request: pytest.FixtureRequest) -> Index:
    return Index(SCHEMA, kind=request.param)


def test_it_gives_the_sorted_ids_of_each_publication(index: Index) -> None:
    index.add("s2", "no2 > 40")
    index.add("s1", "city = 'Zagreb'")
    index.add("s3", "no2 < 10 OR city LIKE 'Z%'")
    matches = index.match([DUSTY, CLEAN, {}])
    assert matches.to_pylist() == [["s1", "s2", "s3"], ["s3"], []]
    assert matches.counts.tolist() == [3, 1, 0]
    assert len(matches) == 3


def test_ids_may_be_ints_and_sort_as_numbers(index: Index) -> None:
    for id in (10, 9, -1, 2**63 - 1, -(2**63)):
        index.add(id, "no2 > 40")
    assert index.match([DUSTY]).to_pylist() == [[-(2**63), -1, 9, 10, 2**63 - 1]]
    assert 9 in index
    assert 8 not in index


def test_ids_are_of_one_type(index: Index) -> None:
    index.add("1", "no2 > 40")
    for id in (1, 1.0, None, True, b"1", ("1",)):
        with pytest.raises(ConfigError, match="id"):
            index.add(id, "no2 > 40")  # type: ignore[arg-type]
    assert len(index) == 1


@pytest.mark.parametrize("id", [2**63, -(2**63) - 1, 2**70, "\ud800"])
def test_an_id_that_no_table_can_hold_is_refused(index: Index, id: Any) -> None:
    with pytest.raises(ConfigError, match="id"):
        index.add(id, "no2 > 40")
    with pytest.raises(ConfigError, match="id"):
        index.add_all([(id, "no2 > 40")])
    assert len(index) == 0


def test_the_same_id_again_replaces_its_filter(index: Index) -> None:
    index.add("s", "no2 > 40")
    index.add("s", "no2 < 10")
    assert len(index) == 1
    assert index.match([DUSTY, CLEAN]).to_pylist() == [[], ["s"]]


def test_a_bad_filter_changes_nothing(index: Index) -> None:
    index.add("s", "no2 > 40")
    for text in ("no2 >", "nox > 1", "", 5, None):
        with pytest.raises(FilterError):
            index.add("s", text)  # type: ignore[arg-type]
    with pytest.raises(FilterError):
        index.add("t", "no2 >")
    assert len(index) == 1
    assert index.match([DUSTY]).to_pylist() == [["s"]]


def test_add_all_takes_all_or_nothing(index: Index) -> None:
    with pytest.raises(FilterError) as caught:
        index.add_all([("a", "no2 > 1"), *((f"b{n}", "no2 >") for n in range(5))])
    assert str(caught.value).startswith(
        "5 bad filters: 'b0': not a WHERE clause: > needs something"
    )
    assert "and 2 more" in str(caught.value)
    assert len(index) == 0
    index.add(1, "no2 > 1")  # nothing was fixed by what was refused, not even the type of ids


def test_add_all_can_skip_bad_filters_and_returns_them(index: Index) -> None:
    bad = index.add_all([("a", "no2 > 1"), ("b", "no2 >"), ("c", None)], on_bad="skip")
    assert [(id, type(error)) for id, error in bad] == [("b", FilterError), ("c", FilterError)]
    assert len(index) == 1
    with pytest.raises(ConfigError, match="on_bad"):
        index.add_all([], on_bad="ignore")  # type: ignore[arg-type]


def test_of_one_id_given_twice_the_last_counts(index: Index) -> None:
    index.add_all([("a", "no2 > 40"), ("a", "no2 < 10")])
    assert len(index) == 1
    assert index.match([DUSTY, CLEAN]).to_pylist() == [[], ["a"]]


TABLE = {"id": ["a", "b"], "filter": ["no2 > 40", "no2 < 10"]}


@pytest.mark.parametrize(
    "filters",
    [
        {"a": "no2 > 40", "b": "no2 < 10"},
        [("a", "no2 > 40"), ["b", Filter("no2 < 10", SCHEMA)]],
        {"a": "no2 > 40", "b": "no2 < 10"}.items(),
        pa.table(TABLE),
        pa.record_batch(TABLE),
        pa.table(TABLE | {"other": [1, 2]}),
        pd.DataFrame(TABLE),
        pl.DataFrame(TABLE),
    ],
    ids=["mapping", "pairs", "items", "table", "batch", "more columns", "pandas", "polars"],
)
def test_add_all_takes_filters_in_many_forms(index: Index, filters: Any) -> None:
    assert index.add_all(filters) == []
    assert index.match([DUSTY, CLEAN]).to_pylist() == [["a"], ["b"]]


@pytest.mark.parametrize(
    "filters", [["ab"], [("a",)], [("a", "TRUE", 1)], [5], pa.table({"id": ["a"]})], ids=str
)
def test_what_is_no_pair_is_refused(index: Index, filters: Any) -> None:
    with pytest.raises(ConfigError):
        index.add_all(filters)


def test_a_filter_of_another_schema_is_refused(index: Index) -> None:
    other = Filter("no2 > 40", Schema.from_dict({"no2": "int"}))
    with pytest.raises(ConfigError, match="another schema"):
        index.add("a", other)
    index.add("a", Filter("no2 > 40", Schema.from_dict(SCHEMA.to_dict())))


def test_filters_are_removed(index: Index) -> None:
    index.add_all({"a": "no2 > 40", "b": "no2 > 40", "c": "no2 > 40"})
    index.remove("b")
    assert "b" not in index
    assert index.match([DUSTY]).to_pylist() == [["a", "c"]]
    with pytest.raises(KeyError):
        index.remove("b")


def test_remove_all_takes_all_or_nothing(index: Index) -> None:
    index.add_all({"a": "no2 > 40", "b": "no2 > 40", "c": "no2 > 40"})
    with pytest.raises(KeyError):
        index.remove_all(["a", "nope"])
    assert len(index) == 3
    index.remove_all(iter(["a", "a", "b"]))
    assert len(index) == 1


def test_a_publication_that_the_schema_refuses_is_an_error_that_lists_all(index: Index) -> None:
    index.add("a", "no2 > 40")
    with pytest.raises(PublicationError) as caught:
        index.match([DUSTY, {"no2": "x"}, {"nox": 1, "count": 5.5}])
    assert [problem.attribute for problem in caught.value.problems] == ["no2", "nox", "count"]
    assert "publication 1: attribute no2" in str(caught.value)
    assert "publication 2: unknown attribute nox" in str(caught.value)


@pytest.mark.parametrize(
    "publications",
    [
        [DUSTY, CLEAN],
        (DUSTY, CLEAN),
        pa.Table.from_pylist([DUSTY, CLEAN]),
        pa.RecordBatch.from_pylist([DUSTY, CLEAN]),
        pd.DataFrame([DUSTY, CLEAN]),
        pl.DataFrame([DUSTY, CLEAN]),
    ],
    ids=["list", "tuple", "table", "batch", "pandas", "polars"],
)
def test_publications_come_in_many_forms(index: Index, publications: Any) -> None:
    index.add_all({"a": "no2 > 40", "b": "city IS NULL"})
    assert index.match(publications).to_pylist() == [["a"], ["b"]]


def test_one_publication_is_no_list(index: Index) -> None:
    with pytest.raises(ConfigError, match="a list of publications"):
        index.match(DUSTY)


def test_nothing_matches_nothing(index: Index) -> None:
    assert index.match([]).to_pylist() == []
    assert index.match([DUSTY]).to_pylist() == [[]]
    index.add("a", "no2 > 40")
    assert index.match([]).to_pylist() == []
    assert index.match([]).offsets.tolist() == [0]


def test_a_publication_is_matched_once_however_many_alternatives_hold(index: Index) -> None:
    index.add("a", "no2 > 40 OR no2 > 30 OR city = 'Zagreb'")
    assert index.match([DUSTY]).to_pylist() == [["a"]]


def test_a_filter_that_never_matches_is_accepted_and_never_reported(index: Index) -> None:
    index.add_all({"never": "no2 > 5 AND no2 < 3", "always": "TRUE", "null": "no2 = NULL"})
    assert len(index) == 3
    assert index.match([DUSTY, {}]).to_pylist() == [["always"], ["always"]]


@pytest.mark.parametrize("kind", KINDS)
def test_domains_and_steps_hold_for_publications(kind: str) -> None:
    index = Index(Schema.from_dict({"x": {"type": "float", "min": 0, "step": 0.5}}), kind=kind)
    index.add_all({"half": "x = 0.6", "one": "x > 0.74"})
    assert index.match([{"x": 0.7}, {"x": Decimal("0.75")}]).to_pylist() == [["half"], ["one"]]
    with pytest.raises(PublicationError, match="below its minimum"):
        index.match([{"x": -1}])


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="did you mean scan"):
        Index(SCHEMA, kind="scna")
    with pytest.raises(ConfigError, match="there are columnar, betree, forest, scan"):
        Index(SCHEMA, kind="hash")


def test_figures(index: Index) -> None:
    index.add("a", "no2 > 40")
    assert index.stats()["filters"] == 1
    assert index.stats()["kind"] == index.kind


def test_one_publication(index: Index) -> None:
    index.add_all({"s1": "no2 > 40", "s2": "city = 'Zagreb'", "s3": "no2 < 10"})
    assert sorted(index.match_one(DUSTY)) == ["s1", "s2"]
    assert index.match_one(CLEAN) == ["s3"]
    assert index.match_one({}) == []


def test_one_publication_as_a_table(index: Index) -> None:
    index.add_all({"s1": "no2 > 40", "s2": "city = 'Zagreb'", "s3": "no2 < 10"})
    exact = pa.table({"no2": [45.0], "city": ["Zagreb"], "count": pa.array([None], pa.int64())})
    tables = [exact, exact.to_batches()[0], exact.drop_columns(["count"]), exact.to_pandas()]
    for table in tables:
        assert sorted(index.match_one(table)) == ["s1", "s2"]


def test_one_publication_is_one(index: Index) -> None:
    two = pa.table({"no2": [1.0, 2.0]})
    for given in (two, two.slice(0, 0), two.to_pandas(), [DUSTY], [], [DUSTY, CLEAN]):
        with pytest.raises(ConfigError, match="one publication"):
            index.match_one(given)


def test_one_bad_publication_is_refused_as_in_a_list(index: Index) -> None:
    index.add("s", "no2 > 40")
    for row in ({"no2": "x"}, {"no3": 1.0}, {"count": 1.5, "city": 5}):
        with pytest.raises(PublicationError) as single:
            index.match_one(row)
        with pytest.raises(PublicationError) as listed:
            index.match([row])
        assert single.value.problems == listed.value.problems
