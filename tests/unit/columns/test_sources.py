from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from wherecast.columns.sources import source_of
from wherecast.model import ConfigError, Schema, SchemaError

SCHEMA = Schema.from_dict({"a": "int", "n.x": "float", "deep.er.still": "bool"})


def leaves(data: Any, schema: Schema = SCHEMA) -> dict[str, list[Any]]:
    source = source_of(data, schema)
    return {
        leaf.path: leaf.values if isinstance(leaf.values, list) else leaf.values.to_pylist()
        for leaf in source.leaves
    }


def test_structs_are_dotted_paths_and_a_missing_struct_has_missing_fields() -> None:
    table = pa.table({"n": [{"x": 1.0, "y": 2}, None], "other": [1, 2]})
    assert leaves(table) == {"n.x": [1.0, None], "n.y": [2, None]}
    assert source_of(table, SCHEMA).length == 2
    assert list(source_of(table, SCHEMA).structs) == ["n"]


def test_a_flat_column_may_have_a_dotted_name_and_be_a_struct() -> None:
    table = pa.table({"n.x": [1.0], "DEEP.er": [{"still": True}]})
    assert leaves(table) == {"n.x": [1.0], "DEEP.er.still": [True]}


@pytest.mark.parametrize(
    "data",
    [
        pa.table({"a": [1, 2]}),
        pa.record_batch({"a": [1, 2]}),
        pa.table({"a": [1, 2]}).to_reader(),
        pa.StructArray.from_arrays([pa.array([1, 2])], ["a"]),
        pl.DataFrame({"a": [1, 2]}),
        pd.DataFrame({"a": [1, 2]}),
        pa.Table.from_batches([], schema=pa.schema([("a", pa.int64())])),
    ],
    ids=lambda data: type(data).__name__,
)
def test_anything_with_the_arrow_interface_is_a_table(data: Any) -> None:
    assert leaves(data) in ({"a": [1, 2]}, {"a": []})


def test_other_data_is_an_error_that_says_what_to_give() -> None:
    for data in ([{"a": 1}], 5, None, {"a": [1]}):
        with pytest.raises(ConfigError, match="Arrow interface"):
            source_of(data, SCHEMA)
    with pytest.raises(ConfigError, match="collect"):
        source_of(pl.LazyFrame({"a": [1]}), SCHEMA)
    with pytest.raises(SchemaError, match="cannot be read"):
        source_of(pl.Series([1]), SCHEMA)


def test_pandas_means_missing_by_nan_none_nat_and_na() -> None:
    frame = pd.DataFrame({"a": [1.0, float("nan")], "n.x": [pd.NA, None]}, dtype=object)
    assert leaves(frame) == {"a": [1.0, None], "n.x": [None, None]}
    assert leaves(pd.DataFrame({"a": [1.0, float("nan")]})) == {"a": [1.0, None]}
    assert leaves(pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})) == {"a": [1, None]}


def test_pandas_objects_that_are_mappings_are_structs() -> None:
    frame = pd.DataFrame({"n": [{"x": 1.0}, None]})
    assert leaves(frame) == {"n.x": [1.0, None]}


def test_pandas_columns_without_use_are_not_read() -> None:
    frame = pd.DataFrame({"a": [1], "z": [1j], 5: [1]})
    assert leaves(frame) == {"a": [1]}
    assert leaves(frame, Schema.from_dict({"a": "int"}, open=True)) == {"a": [1]}
    with pytest.raises(SchemaError, match="column a cannot be read"):
        source_of(pd.DataFrame({"a": [1j]}), SCHEMA)


def test_columns_keep_their_names_when_pandas_repeats_one() -> None:
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    assert [leaf.path for leaf in source_of(frame, SCHEMA).leaves] == ["a", "a"]
