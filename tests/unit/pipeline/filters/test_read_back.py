"""Filters of a set read back: one, all, as they were, and what changed when."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import DoubleType, StringType, StructField, StructType

from wherecast import ConfigError, SnapshotError
from wherecast.pipeline.filters.filter_set import FilterSet
from wherecast.pipeline.filters.read_back import MissingFilter

COLUMNS = StructType([StructField("x", DoubleType()), StructField("city", StringType())])


def table(ids: list[Any], texts: list[str], **kept: list[Any]) -> pa.Table:
    return pa.table({"id": ids, "filter": texts, **kept})


@pytest.fixture
def filters(tmp_path: Path) -> FilterSet:
    """A set whose third version has replaced `b` and removed `a`."""
    found = FilterSet(tmp_path / "set", COLUMNS, keep=["owner"])
    found.add(table(["b", "a"], ["x > 2", "x > 1"], owner=["ben", "ana"]))
    found.add(table(["b", "c"], ["x > 22", "city = 'Split'"], owner=["bea", None]))
    found.remove(["a"])
    return found


def test_one_filter_is_found_by_its_id(filters: FilterSet) -> None:
    assert filters.get("b") == {"id": "b", "filter": "x > 22", "owner": "bea"}
    assert filters.get("c") == {"id": "c", "filter": "city = 'Split'", "owner": None}
    assert filters.at(2).get("b") == {"id": "b", "filter": "x > 2", "owner": "ben"}


def test_all_filters_are_a_table_sorted_by_id(filters: FilterSet) -> None:
    expected = {"id": ["b", "c"], "filter": ["x > 22", "city = 'Split'"], "owner": ["bea", None]}
    assert filters.to_arrow().to_pydict() == expected
    assert filters.to_arrow().schema.types == [pa.string()] * 3
    assert filters.at(2).to_arrow().column("id").to_pylist() == ["a", "b"]


def test_a_table_that_was_read_back_makes_the_same_set(filters: FilterSet, tmp_path: Path) -> None:
    other = FilterSet(tmp_path / "other", COLUMNS, keep=["owner"])
    other.add(filters.to_arrow())
    assert other.to_arrow() == filters.to_arrow()


def test_the_history_has_every_version(filters: FilterSet) -> None:
    history = filters.history()
    shown = [(v.version, v.filters, v.added, v.replaced, v.removed) for v in history]
    assert shown == [(1, 0, 0, 0, 0), (2, 2, 2, 0, 0), (3, 3, 1, 1, 0), (4, 2, 0, 0, 1)]
    assert all(v.made_at <= datetime.fromtimestamp(time.time(), UTC) for v in history)


def test_integers_are_ids_too(tmp_path: Path) -> None:
    filters = FilterSet(tmp_path / "set", COLUMNS)
    filters.add(pa.table({"id": pa.array([7, 3], pa.int32()), "filter": ["x > 7", "x > 3"]}))
    assert filters.get(3) == {"id": 3, "filter": "x > 3"}
    assert filters.to_arrow().schema.field("id").type == pa.int32()
    for wrong in (4, 2**70, "3"):
        with pytest.raises(MissingFilter, match=r"there are 2 ids: 3, 7|did you mean 3"):
            filters.get(wrong)


@pytest.mark.parametrize(
    ("id_", "message"), [("cc", r"did you mean 'c'\?"), ("zebra", "there are 2 ids: 'b', 'c'")]
)
def test_an_unknown_id_is_answered_with_those_there_are(
    filters: FilterSet, id_: str, message: str
) -> None:
    with pytest.raises(MissingFilter, match=message):
        filters.get(id_)
    with pytest.raises(KeyError):
        filters.get("a")  # removed


@pytest.mark.parametrize("id_", [None, True, 1.5, ["b"]])
def test_what_is_no_id_is_refused(filters: FilterSet, id_: Any) -> None:
    with pytest.raises(ConfigError, match="an id is a string or an integer"):
        filters.get(id_)


def test_an_unknown_version_is_answered_with_those_there_are(filters: FilterSet) -> None:
    for wrong in (0, 9, -1):
        with pytest.raises(SnapshotError, match="versions 1 to 4 are kept"):
            filters.at(wrong)
    with pytest.raises(ConfigError, match="version is a number"):
        filters.at("2")


def test_before_the_first_filter(tmp_path: Path) -> None:
    filters = FilterSet(tmp_path / "set", COLUMNS)
    with pytest.raises(MissingFilter, match="there are no filters"):
        filters.get("a")
    with pytest.raises(ConfigError, match="nothing was added"):
        filters.to_arrow()
    assert [v.filters for v in filters.history()] == [0]
