"""Array columns of DataFrames: carried by `match`, read and refused by `validate`."""

from typing import TYPE_CHECKING

import pytest

from wherecast import Schema, SchemaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

COLUMNS = (
    "n int, tags array<string>, shorts array<smallint>, longs array<bigint>,"
    " floats array<float>, doubles array<double>"
)
ROWS = [
    (1, ["a", None, "čaj"], [1], [2**53 + 1, None], [0.5], [1.5, None]),
    (2, [], None, [], None, [float("nan")]),
    (3, None, [None], None, [], None),
]
SCHEMA = Schema.from_dict(
    {
        "n": {"type": "int", "max": 2},
        "tags": "array<string>",
        "shorts": "array<int>",
        "longs": "array<int>",
        "floats": "array<float>",
        "doubles": "array<float>",
    }
)


@pytest.fixture(scope="module")
def rows(spark: "SparkSession") -> "DataFrame":
    return spark.createDataFrame(ROWS, COLUMNS).coalesce(1)


def test_columns_are_attributes(rows: "DataFrame") -> None:
    found = Schema.from_spark(rows.schema)
    assert found == SCHEMA.without_domains()


@pytest.mark.parametrize("enforced", [False, True])
@pytest.mark.parametrize("output", ["rows", "arrays"])
def test_match_carries_arrays(
    spark: "SparkSession", rows: "DataFrame", enforced: bool, output: str
) -> None:
    from wherecast.spark import match

    filters = spark.createDataFrame([("f", "n >= 1")], "id string, filter string")
    found = match(rows, filters, schema=SCHEMA if enforced else None, output=output)  # type: ignore[arg-type]
    assert found.schema.fields[:6] == rows.schema.fields
    given = [tuple(row)[:6] for row in found.orderBy("n").collect()]
    assert repr(given) == repr(ROWS[:2] if enforced else ROWS)


def test_validate_reads_arrays(rows: "DataFrame") -> None:
    from wherecast.spark import validate

    errors = [row.error for row in validate(rows, SCHEMA).orderBy("n").collect()]
    assert errors[:2] == [None, None]
    assert "n: 3 is above its maximum 2" in errors[2]


def test_validate_names_the_element(spark: "SparkSession") -> None:
    from wherecast.spark import validate

    rows = spark.sql("SELECT array(1.0D, 2.5D, 0.5D) AS counts UNION ALL SELECT array(3.0D)")
    schema = Schema.from_dict({"counts": "array<int>"})
    errors = {row.error for row in validate(rows, schema).collect()}
    assert errors == {None, "attribute counts[1]: needs an int, not 2.5"}


def test_columns_that_cannot_be_the_attribute(spark: "SparkSession") -> None:
    from wherecast.spark import validate

    for text in (
        "array(true)",
        "array(array('a'))",
        "'a'",
        "array(TIMESTAMP'2026-01-01 00:00:00')",
    ):
        rows = spark.sql(f"SELECT {text} AS tags")
        with pytest.raises(SchemaError, match=r"column tags is .* the array<string> attr"):
            validate(rows, Schema.from_dict({"tags": "array<string>"}))
