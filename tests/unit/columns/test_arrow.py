from math import isnan, nan
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from wherecast.columns import Decoded, arrow_schema, decode_rows, read_arrow, rows_of
from wherecast.model import Schema, SchemaError

SCHEMA = Schema.from_dict(
    {"a": "int", "f": "float", "b": "bool", "s": "string", "t": "timestamp", "n.x": "float"}
)
OPEN = Schema.from_dict({"a": "int"}, open=True)


def rows(data: Any, schema: Schema = SCHEMA) -> list[dict[str, Any]]:
    found = read_arrow(data, schema)
    assert found.rejected == ()
    return rows_of(found.batch, schema)


def verdicts(found: Decoded) -> list[tuple[int, str, str | None]]:
    return [(r.row, r.code, r.attribute) for r in found.rejected]


def test_a_table_of_the_schema_s_own_types_is_read_without_a_copy() -> None:
    batch = decode_rows([{"a": 1, "f": 2.5, "s": "x", "t": "1970-01-01"}, {}], SCHEMA).batch
    again = read_arrow(batch, SCHEMA)
    assert again.batch.equals(batch)
    assert again.batch.schema == arrow_schema(SCHEMA)
    assert again.batch["f"].buffers()[1].address == batch["f"].buffers()[1].address


def test_columns_come_in_the_order_of_the_schema_and_others_are_left_alone() -> None:
    table = pa.table({"f": [1.5], "other": [[1]], "a": pa.array([1], pa.int8())})
    found = read_arrow(table, SCHEMA)
    assert found.batch.schema == arrow_schema(SCHEMA)
    assert rows_of(found.batch, SCHEMA) == [{"a": 1, "f": 1.5}]


def test_names_match_by_exact_case_else_by_any_case_where_unique() -> None:
    assert rows(pa.table({"A": [1], "N": [{"X": 2.0}]})) == [{"a": 1, "n.x": 2.0}]
    assert rows(pa.table({"A": [1], "a": [2]})) == [{"a": 2}]
    two = Schema.from_dict({"ab": "int"})
    with pytest.raises(SchemaError, match="more than one column: AB, Ab"):
        read_arrow(pa.table({"AB": [1], "Ab": [2]}), two)


def test_a_struct_field_and_a_flat_column_of_the_same_name_are_a_conflict() -> None:
    with pytest.raises(SchemaError) as caught:
        read_arrow(pa.table({"n.x": [1.0], "n": [{"x": 1.0}]}), SCHEMA)
    assert caught.value.problems[0].code == "conflict"
    with pytest.raises(SchemaError, match="more than one column"):
        read_arrow(pa.Table.from_arrays([pa.array([1])] * 2, ["a", "a"]), SCHEMA)


def test_a_struct_is_no_attribute() -> None:
    with pytest.raises(SchemaError, match="column s is struct"):
        read_arrow(pa.table({"s": [{"x": 1}]}), SCHEMA)


def test_bad_rows_have_verdicts_and_good_rows_are_kept() -> None:
    table = pa.table({"a": [1.0, 2.5, 3.0], "t": ["1970-01-01", "x", "y"]})
    found = read_arrow(table, SCHEMA)
    assert found.rows.tolist() == [0]
    assert verdicts(found) == [(1, "wrong_type", "a"), (1, "bad_time", "t"), (2, "bad_time", "t")]


def test_rows_are_numbered_across_chunks() -> None:
    table = pa.table({"a": pa.chunked_array([[1.5, 2.0], [3.0, 4.5]])})
    found = read_arrow(table.to_reader(max_chunksize=1), SCHEMA)
    assert found.rows.tolist() == [1, 2]
    assert [r.row for r in found.rejected] == [0, 3]


def test_a_table_without_any_attribute_has_rows_without_values() -> None:
    assert rows(pa.table({"z": [1, 2]})) == [{}, {}]
    assert rows(pa.table({"a": pa.array([], pa.int64())})) == []


def test_nan_is_a_value_in_arrow_and_polars_and_missing_in_pandas() -> None:
    for data in (pa.table({"f": [nan, 1.0]}), pl.DataFrame({"f": [nan, 1.0]})):
        first, second = rows(data)
        assert isnan(first["f"])
        assert second == {"f": 1.0}
    assert rows(pd.DataFrame({"f": [nan, 1.0]})) == [{}, {"f": 1.0}]


def test_polars() -> None:
    frame = pl.DataFrame(
        {
            "a": pl.Series([1, None], dtype=pl.UInt8),
            "f": pl.Series([0.5, None], dtype=pl.Float32),
            "b": [True, None],
            "s": pl.Series(["x", None], dtype=pl.Categorical),
            "t": pl.Series([1_000, None], dtype=pl.Int64).cast(pl.Datetime("ms")),
            "n": [{"x": 1.0}, None],
        }
    )
    whole = {"a": 1, "f": 0.5, "b": True, "s": "x", "t": 1_000_000, "n.x": 1.0}
    assert rows(frame) == [whole, {}]


def test_pandas() -> None:
    frame = pd.DataFrame(
        {
            "a": [1.0, np.nan],  # pandas makes integers with a gap floats
            "f": pd.array([1.5, None], dtype="Float64"),
            "b": [True, None],
            "s": pd.Categorical(["x", None]),
            "t": pd.to_datetime(["1970-01-01T00:00:01", None]),
            "n": [{"x": 1.0}, None],
        }
    )
    whole = {"a": 1, "f": 1.5, "b": True, "s": "x", "t": 1_000_000, "n.x": 1.0}
    assert rows(frame) == [whole, {}]
    zoned = pd.DataFrame({"t": pd.to_datetime(["1970-01-01T01:00"]).tz_localize("Europe/Zagreb")})
    assert rows(zoned) == [{"t": 0}]


def test_a_pandas_column_of_mixed_objects_loses_only_its_bad_rows() -> None:
    frame = pd.DataFrame({"a": [1, "x", None, 2**63, 2**53 + 1], "s": ["p", "q", "r", "s", 5]})
    found = read_arrow(frame, SCHEMA)
    assert verdicts(found) == [
        (1, "wrong_type", "a"),
        (3, "out_of_range", "a"),
        (4, "wrong_type", "s"),
    ]
    assert rows_of(found.batch, SCHEMA) == [{"a": 1, "s": "p"}, {"s": "r"}]


def test_duckdb() -> None:
    relation = duckdb.sql(
        "SELECT 1 AS a, 'x' AS s, {'x': 2.5::DOUBLE} AS n, TIMESTAMP '1970-01-02' AS t"
    )
    assert rows(relation) == [{"a": 1, "s": "x", "n.x": 2.5, "t": 86_400_000_000}]
    with pytest.raises(SchemaError, match="column f is decimal"):
        read_arrow(duckdb.sql("SELECT 1.5 AS f"), SCHEMA)


def test_an_open_schema_takes_undeclared_columns_of_numbers_texts_and_bools() -> None:
    table = pa.table(
        {
            "z": ["t", None],
            "a": [1, 2],
            "n": [{"m": 1, "day": None}, {"m": None, "day": None}],
            "y": [True, False],
            "when": pa.array([0, 0], pa.timestamp("s")),
            "list": [[1], [2]],
        }
    )
    found = read_arrow(table, OPEN)
    assert found.batch.schema.names == ["a", "n.m", "y", "z"]
    assert rows_of(found.batch, OPEN) == [
        {"a": 1, "n.m": 1.0, "y": True, "z": "t"},
        {"a": 2, "y": False},
    ]


def test_a_batch_of_an_open_schema_is_read_again_as_it_was() -> None:
    first = decode_rows([{"a": 1, "z": 2.5}, {"z": "t"}, {"z": True}, {}], OPEN)
    again = read_arrow(first.batch, OPEN)
    assert again.batch.equals(first.batch, check_metadata=True)


def test_undeclared_objects_of_pandas() -> None:
    frame = pd.DataFrame({"mixed": [1, "t", None, [1]], "lists": [[1], [2], [3], [4]]})
    found = read_arrow(frame, OPEN)
    assert rows_of(found.batch, OPEN) == [{"mixed": 1.0}, {"mixed": "t"}, {}]
    assert verdicts(found) == [(3, "wrong_type", "mixed")]


def test_domains_and_steps_are_applied_where_declared() -> None:
    schema = Schema.from_dict({"no2": {"type": "float", "min": 0, "max": 10, "step": 0.5}})
    table = pa.table({"no2": [0.25, 11.0, nan, None]})
    found = read_arrow(table, schema)
    assert rows_of(found.batch, schema) == [{"no2": 0.5}, {}]
    assert verdicts(found) == [(1, "out_of_range", "no2"), (2, "out_of_range", "no2")]
    assert len(rows(table, schema.without_domains())) == 4
