"""What goes wrong around a match on Spark, and what comes of it."""

import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from wherecast import ConfigError, FilterError, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

MANY = 25_000  # more than the driver reads by itself


def many(spark: "SparkSession", bad: str = "") -> "DataFrame":
    """So many filters that executors read them, one of them perhaps bad."""
    texts = "concat('n = ', id)" if not bad else f"if(id = 777, '{bad}', concat('n = ', id))"
    return spark.range(MANY).selectExpr("id", f"{texts} AS filter")


def test_many_filters_are_read_by_executors(spark: "SparkSession") -> None:
    from wherecast.spark import compile_filters, match

    numbers = spark.range(30).selectExpr("id * 1000 AS n")
    compiled = compile_filters(many(spark), schema=numbers.schema)

    assert compiled.stats["filters"] == MANY
    found = match(numbers, compiled).collect()
    assert sorted((row.n, row.filter_id) for row in found) == [(n, n) for n in range(0, MANY, 1000)]


def test_one_bad_filter_among_many(spark: "SparkSession") -> None:
    from wherecast.spark import compile_filters

    numbers = spark.range(1).toDF("n")

    with pytest.raises(FilterError, match=r"^1 filter cannot be used: 777: unknown attribute m"):
        compile_filters(many(spark, "m = 1"), schema=numbers.schema)
    some = compile_filters(many(spark, "m = 1"), schema=numbers.schema, on_bad_filter="skip")

    assert len(some) == MANY - 1
    assert [row.id for row in some.rejected.collect()] == [777]


def test_an_id_that_occurs_twice_among_many(spark: "SparkSession") -> None:
    from wherecast.spark import compile_filters

    twice = many(spark).union(spark.sql("SELECT 5L, 'n = 5'"))

    with pytest.raises(ConfigError, match=r"^1 id occurs more than once: 5 2 times$"):
        compile_filters(twice, schema=spark.range(1).toDF("n").schema)


def test_no_publications(spark: "SparkSession") -> None:
    from wherecast.spark import match

    none = spark.createDataFrame([], "n long")
    filters = spark.sql("SELECT 1 AS id, 'n = 1' AS filter")

    for how in ("inner", "left", "semi", "anti"):
        assert match(none, filters, how=how).collect() == []  # type: ignore[arg-type]
    assert match(none, filters, output="arrays").collect() == []


def test_no_filters(spark: "SparkSession") -> None:
    from wherecast.spark import compile_filters, match

    numbers = spark.range(3).toDF("n")
    none = spark.createDataFrame([], "id string, filter string, mail string")
    compiled = compile_filters(none, schema=numbers.schema, keep=["mail"])

    assert (len(compiled), compiled.stats["attributes"]) == (0, [])
    assert match(numbers, compiled).columns == ["n", "filter_id", "mail"]
    assert match(numbers, compiled).collect() == []
    rows = match(numbers, compiled, how="left", output="arrays").collect()
    assert [tuple(row) for row in rows] == [(n, [], []) for n in range(3)]
    assert match(numbers, compiled, how="anti").count() == 3


def test_a_filter_on_a_column_that_is_not_there_is_named_before_any_job(
    spark: "SparkSession",
) -> None:
    from wherecast.spark import compile_filters, match

    filters = spark.createDataFrame([("f", "n = 1"), ("g", "m = 1")], "id string, filter string")
    compiled = compile_filters(filters, schema=spark.sql("SELECT 1 AS n, 1 AS m").schema)
    broken = spark.range(1).selectExpr("id AS n", "assert_true(id > 5) AS never")

    with pytest.raises(ConfigError, match=r"name m \(filter 'g' for one\), which is no column"):
        match(broken, compiled)
    with pytest.raises(FilterError, match="'g': unknown attribute m"):
        match(broken, filters)


@pytest.mark.parametrize("way", ["whole", "columns"])
def test_text_that_is_not_utf8_costs_no_match(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    from wherecast.pipeline.spark import match_query, spark_runner
    from wherecast.spark import match

    if way == "columns" and not spark_runner.has_columns_way():
        pytest.skip("requires arrow_udf: PySpark 4.1")
    monkeypatch.setattr(match_query, "_choose_way", lambda *_: way)
    rows = spark.sql("SELECT 1 AS n, 'good' AS s UNION ALL SELECT 2, CAST(X'67FF' AS STRING)")
    texts = [("n", "n > 0"), ("s", "s LIKE 'g%'"), ("not", "s <> 'good'"), ("null", "s IS NULL")]
    filters = spark.createDataFrame(texts, "id string, filter string")

    found = [
        (row.n, row.filter_id) for row in match(rows, filters).select("n", "filter_id").collect()
    ]

    expected = [
        (n, name) for name, text in texts for (n,) in rows.where(text).select("n").collect()
    ]
    assert sorted(found) == sorted(expected)
    assert (2, "not") in found


def test_a_filter_that_is_not_utf8_is_a_bad_one(spark: "SparkSession") -> None:
    from wherecast.spark import compile_filters

    rows = "SELECT 1 AS id, 'n = 1' AS filter UNION ALL SELECT 2, CAST(X'6EFF' AS STRING)"
    numbers = spark.range(1).toDF("n")

    with pytest.raises(FilterError, match=r"^1 filter cannot be used: 2: is not UTF-8 text$"):
        compile_filters(spark.sql(rows), schema=numbers.schema)
    some = compile_filters(spark.sql(rows), schema=numbers.schema, on_bad_filter="skip")
    assert len(some) == 1
    assert [tuple(row)[:2] for row in some.rejected.collect()] == [(2, "n\ufffd")]


def test_fields_that_differ_in_case_only(
    spark: "SparkSession", monkeypatch: pytest.MonkeyPatch
) -> None:
    from wherecast.pipeline.spark import match_query, spark_runner
    from wherecast.spark import match

    if spark_runner.has_columns_way():
        monkeypatch.setattr(match_query, "_choose_way", lambda *_: "columns")
    rows = spark.sql("SELECT 1 AS n, named_struct('a', 1, 'A', 2) AS s")
    texts = [("low", "s.a = 1"), ("up", "s.A = 2"), ("no", "s.a = 2")]
    filters = spark.createDataFrame(texts, "id string, filter string")

    assert sorted(row.filter_id for row in match(rows, filters).collect()) == ["low", "up"]


def test_a_declared_attribute_that_filters_name_must_be_a_column(spark: "SparkSession") -> None:
    from wherecast.spark import match

    schema = Schema.from_dict({"n": "int", "m": "int"})
    filters = spark.createDataFrame([("f", "n = 1"), ("g", "m = 1")], "id string, filter string")
    numbers = spark.range(1).toDF("n")

    with pytest.raises(ConfigError, match=r"name m \(filter 'g' for one\), which is no column"):
        match(numbers, filters, schema=schema)
    assert match(numbers, filters.where("id = 'f'"), schema=schema).count() == 0


def test_columns_of_filters_that_differ_in_case_only(spark: "SparkSession") -> None:
    from wherecast.spark import match

    numbers = spark.range(2).toDF("n")
    filters = spark.sql("SELECT 1 AS id, 2 AS ID, 'n = 1' AS filter, 'x' AS `a.b`")

    assert [tuple(row) for row in match(numbers, filters, keep=["a.b", "ID"]).collect()] == [
        (1, 1, "x", 2)
    ]


def test_options_of_a_wrong_kind_are_told(spark: "SparkSession") -> None:
    from wherecast.spark import compile_filters, match

    numbers = spark.range(1).toDF("n")
    filters = spark.sql("SELECT 1 AS id, 'n = 1' AS filter, 'x' AS mail, INTERVAL 1 MONTH AS wait")

    with pytest.raises(ConfigError, match="schema is that of a DataFrame, or a wherecast Schema"):
        compile_filters(filters, schema="n long")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"keep is a list of columns: \['mail'\]"):
        compile_filters(filters, schema=numbers.schema, keep="mail")
    with pytest.raises(ConfigError, match="cannot send column wait of the filters"):
        compile_filters(filters, schema=numbers.schema, keep=["wait"])
    with pytest.raises(ConfigError, match="prefix is a string, not NoneType"):
        match(numbers, filters, prefix=None)  # type: ignore[arg-type]


@pytest.mark.classic
def test_a_worker_that_dies_is_replaced_and_the_result_is_whole(spark: "SparkSession") -> None:
    from wherecast.spark import match

    numbers = spark.range(0, 2000, 1, 4).toDF("n")

    def die_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for batch in batches:
            if context.partitionId() == 2 and context.attemptNumber() == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    filters = spark.range(20).selectExpr("id", "concat('n = ', id * 100) AS filter")
    risky = numbers.mapInArrow(die_once, "n long")

    assert match(risky, filters).count() == 20


@pytest.mark.classic
def test_a_worker_that_always_dies_on_a_row_fails_the_query_and_not_the_session(
    spark: "SparkSession",
) -> None:
    from wherecast.spark import match

    def poisonous(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if 7 in batch.column(0).to_pylist():
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch

    numbers = spark.range(0, 20, 1, 2).toDF("n")
    filters = spark.sql("SELECT 1 AS id, 'n >= 0' AS filter")

    with pytest.raises(Exception, match="Python worker exited unexpectedly"):
        match(numbers.mapInArrow(poisonous, "n long"), filters).collect()
    assert match(numbers, filters).count() == 20  # the session goes on
