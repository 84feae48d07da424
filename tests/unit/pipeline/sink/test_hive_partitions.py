"""Folders of partitions: every row once, in the folder that Spark would choose."""

import pyarrow as pa
import pytest

from wherecast.pipeline.sink.hive_partitions import PartitionColumns, escaped


def rows_by_folder(batch: pa.RecordBatch, *names: str) -> dict[str, list[dict[str, object]]]:
    places = tuple(batch.schema.names.index(name) for name in names)
    found: dict[str, list[dict[str, object]]] = {}
    for folder, rows in PartitionColumns(names, places).split(batch):
        found.setdefault(folder, []).extend(rows.to_pylist())
    return found


def test_rows_go_to_the_folder_of_their_values() -> None:
    batch = pa.record_batch({"city": ["Split", "Zagreb", "Split", None, ""], "n": [1, 2, 3, 4, 5]})
    assert rows_by_folder(batch, "city") == {
        "city=Split": [{"n": 1}, {"n": 3}],
        "city=Zagreb": [{"n": 2}],
        "city=__HIVE_DEFAULT_PARTITION__": [{"n": 5}, {"n": 4}],
    }


def test_folders_stand_in_the_order_of_the_columns() -> None:
    batch = pa.record_batch({"n": [1, 2], "ok": [True, False], "x": [1.5, 2.5]})
    assert rows_by_folder(batch, "ok", "n") == {
        "ok=false/n=2": [{"x": 2.5}],
        "ok=true/n=1": [{"x": 1.5}],
    }


def test_without_columns_the_batch_stays_whole() -> None:
    batch = pa.record_batch({"n": [1, 2]})
    assert rows_by_folder(batch) == {"": [{"n": 1}, {"n": 2}]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a b", "a b"), ("a/b=c", "a%2Fb%3Dc"), ("50%", "50%25"), ("č:\x01", "č%3A%01")],
)
def test_names_are_escaped_as_spark_escapes_them(text: str, expected: str) -> None:
    assert escaped(text) == expected


def test_many_columns_with_many_values_do_not_overflow() -> None:
    numbers = list(range(2_000))
    batch = pa.record_batch({f"c{n}": numbers for n in range(8)} | {"x": numbers})
    found = rows_by_folder(batch, *(f"c{n}" for n in range(8)))
    assert [rows[0]["x"] for rows in found.values()] == numbers
