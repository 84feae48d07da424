"""`Filters` on Spark: compiled, saved, loaded, pickled, and what a query says of damaged ones."""

import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.pipeline.filters.test_stored_filters import flip
from wherecast import SnapshotError
from wherecast.pipeline.filters.stored_filters import counters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def readings(spark: "SparkSession") -> "DataFrame":
    return spark.createDataFrame([("a", 1.0), ("b", 7.0)], "name string, x double").coalesce(1)


def filters_of(spark: "SparkSession", word: str) -> "DataFrame":
    """Filters that no other test has, so that no worker has mapped them."""
    rows = [
        (1, "x > 5", word),
        (2, "x >", None),
        (3, f"name <> '{word}'", None),
        (None, "x > 1", ""),
    ]
    return spark.createDataFrame(rows, "id int, filter string, email string")


def rows(frame: "DataFrame") -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.select("name", "filter_id").collect())


def test_what_was_saved_matches_the_same(
    spark: "SparkSession", readings: "DataFrame", tmp_path: Path
) -> None:
    from wherecast.spark import compile_filters, load_filters, match

    given = filters_of(spark, "saved")
    compiled = compile_filters(given, readings.schema, ["email"], on_bad_filter="skip")
    compiled.save(tmp_path / "saved")
    stored = counters["parts stored"]
    loaded = load_filters(tmp_path / "saved")
    again = pickle.loads(pickle.dumps(loaded))

    expected = [("a", 3), ("b", 1), ("b", 3)]
    for filters in (compiled, loaded, again):
        assert rows(match(readings, filters)) == expected
    assert counters["parts stored"] == stored  # nothing is built again
    rejected = loaded.rejected
    assert rejected.columns == ["id", "filter", "error", "position"]
    assert rejected.schema["id"].dataType.simpleString() == "int"
    found = [(row["id"], row["filter"], row["position"]) for row in rejected.collect()]
    assert found == [(2, "x >", 2), (None, "x > 1", None)]
    assert rejected.collect() == compiled.rejected.collect()


@pytest.mark.parametrize("what", ["saved", "own"])
def test_a_damaged_file_is_named_by_the_query(
    spark: "SparkSession", readings: "DataFrame", tmp_path: Path, what: str
) -> None:
    from wherecast.spark import compile_filters, match

    given = filters_of(spark, f"damaged {what}")
    filters = compile_filters(given, readings.schema, on_bad_filter="skip")
    if what == "saved":
        filters = filters.save(tmp_path / "saved")
    index = filters.stored.parts[0].index
    flip(Path(filters.uri.removeprefix("file://")) / index)

    with pytest.raises(Exception, match=rf"damaged: .*{index} gave other bytes"):
        match(readings, filters).collect()


def test_a_missing_file_is_named_by_the_query(
    spark: "SparkSession", readings: "DataFrame", tmp_path: Path
) -> None:
    from wherecast.spark import compile_filters, match

    given = filters_of(spark, "missing")
    filters = compile_filters(given, readings.schema, on_bad_filter="skip").save(tmp_path / "saved")
    (tmp_path / "saved" / filters.stored.parts[0].index).unlink()
    with pytest.raises(Exception, match=r"\.index is missing in file:.*/saved"):
        match(readings, filters).collect()


def test_a_damaged_set_is_named(
    spark: "SparkSession", readings: "DataFrame", tmp_path: Path
) -> None:
    from wherecast.spark import FilterSet, match

    filters = FilterSet(tmp_path / "set", readings.schema)
    filters.add(filters_of(spark, "set"), on_bad_filter="skip")
    flip(tmp_path / "set" / filters.filters().stored.parts[0].index)
    with pytest.raises(Exception, match=r"damaged: .*/set/blobs/.* gave other bytes"):
        match(readings, filters).collect()
    flip(tmp_path / "set" / "versions" / f"{filters.version:020}")
    with pytest.raises(SnapshotError, match=r"/set/versions/0+2 is damaged$"):
        match(readings, filters)
