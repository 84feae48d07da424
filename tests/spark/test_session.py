"""Sessions: what `session` sets, what `check` says."""

from typing import TYPE_CHECKING

import pytest

from wherecast import ConfigError, Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_check_names_what_could_be_better(spark: "SparkSession") -> None:
    from wherecast.spark import check

    before = {advice.setting for advice in check(spark)}
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        found = {advice.setting: advice for advice in check(spark)}
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10000")
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    assert before <= {"spark.sql.streaming.checkpointFileManagerClass"}
    assert found.keys() - before == {
        "spark.sql.execution.arrow.maxRecordsPerBatch",
        "spark.sql.session.timeZone",
    }
    told = str(found["spark.sql.session.timeZone"])
    assert told.startswith("spark.sql.session.timeZone is Asia/Tokyo, better UTC: times without")


def test_check_of_a_session_without_a_time_zone(spark: "SparkSession") -> None:
    from wherecast.spark import check

    spark.conf.unset("spark.sql.session.timeZone")
    try:
        found = {advice.setting: advice for advice in check(spark)}
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    told = str(found["spark.sql.session.timeZone"])
    assert told.startswith("spark.sql.session.timeZone is not set, better UTC: times without")


def test_validate_adds_the_reason(spark: "SparkSession") -> None:
    from wherecast.spark import validate

    rows = spark.createDataFrame([(1, 5.0, "x"), (2, -1.0, "y")], "n int, no2 double, error string")
    schema = Schema.from_dict({"no2": {"type": "float", "min": 0}})

    with pytest.raises(ConfigError, match="two columns named error"):
        validate(rows, schema)
    result = validate(rows, schema, prefix="why_")

    assert result.columns == ["n", "no2", "error", "why_error"]
    assert [tuple(row) for row in result.orderBy("n").collect()] == [
        (1, 5.0, "x", None),
        (2, -1.0, "y", "attribute no2: -1.0 is below its minimum 0.0"),
    ]
