"""`wherecast.spark`: every option of `match` and `compile_filters`, in batch and streaming."""

import pickle
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wherecast import ConfigError, FilterError, Schema, SchemaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from wherecast.spark import Filters

pytestmark = pytest.mark.spark

READINGS = [
    ("a", 45.0, "Zagreb", (1, "north"), datetime(2026, 5, 1, 12, tzinfo=UTC)),
    ("b", 12.0, "Split", (2, "south"), None),
    ("c", None, "Zagreb", None, datetime(2026, 5, 2, tzinfo=UTC)),
    ("d", 1200.0, None, (3, None), None),
]
COLUMNS = (
    "name string not null, no2 double, city string,"
    " station struct<number: int, side: string>, seen timestamp"
)
FILTERS = [
    ("high", "no2 > 40", "ana@example.org", 1),
    ("north", "station.side = 'north'", "ben@example.org", None),
    ("never", "no2 > 5000", "cyn@example.org", 3),
    ("zagreb", "city = 'Zagreb'", None, 4),
]


@pytest.fixture(scope="module")
def readings(spark: "SparkSession") -> "DataFrame":
    return spark.createDataFrame(READINGS, COLUMNS).coalesce(1)


@pytest.fixture(scope="module")
def filters(spark: "SparkSession") -> "DataFrame":
    return spark.createDataFrame(FILTERS, "id string, filter string, email string, level int")


@pytest.fixture(scope="module")
def few(spark: "SparkSession") -> "DataFrame":
    texts = [("high", "no2 > 40"), ("zagreb", "City = 'Zagreb'")]
    return spark.createDataFrame(texts, "id string, filter string")


@pytest.fixture(scope="module")
def compiled(readings: "DataFrame", filters: "DataFrame") -> "Filters":
    from wherecast.spark import compile_filters

    return compile_filters(filters, schema=readings.schema, keep=["email", "level"])


def pairs(result: "DataFrame", *columns: str) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in result.select(*columns).collect()), key=str)


class TestRows:
    def test_a_row_per_match_with_all_columns_and_the_kept_ones(
        self, readings: "DataFrame", compiled: "Filters"
    ) -> None:
        from wherecast.spark import match

        result = match(readings, compiled)

        assert result.columns == [*readings.columns, "filter_id", "email", "level"]
        assert result.schema.fields[: len(readings.columns)] == readings.schema.fields
        assert [tuple(row) for row in result.orderBy("name", "filter_id").collect()] == [
            (*readings_row("a"), "high", "ana@example.org", 1),
            (*readings_row("a"), "north", "ben@example.org", None),
            (*readings_row("a"), "zagreb", None, 4),
            (*readings_row("c"), "zagreb", None, 4),
            (*readings_row("d"), "high", "ana@example.org", 1),
        ]

    def test_left_has_nulls_where_nothing_matched(
        self, readings: "DataFrame", compiled: "Filters"
    ) -> None:
        from wherecast.spark import match

        result = match(readings, compiled, how="left", keep=["level"])

        assert result.columns[-2:] == ["filter_id", "level"]
        assert pairs(result.where("name IN ('b', 'd')"), "name", "filter_id", "level") == [
            ("b", None, None),
            ("d", "high", 1),
        ]

    @pytest.mark.parametrize(("how", "names"), [("semi", "acd"), ("anti", "b")])
    @pytest.mark.parametrize("output", ["rows", "arrays"])
    def test_semi_and_anti_add_nothing(
        self, readings: "DataFrame", compiled: "Filters", how: Any, output: Any, names: str
    ) -> None:
        from wherecast.spark import match

        result = match(readings, compiled, how=how, output=output)

        assert result.schema == readings.schema
        assert pairs(result, "name") == [(name,) for name in names]


class TestArrays:
    def test_a_row_per_publication(self, readings: "DataFrame", compiled: "Filters") -> None:
        from wherecast.spark import match

        result = match(readings, compiled, how="left", output="arrays", keep=["level"])

        assert result.schema["filter_ids"].dataType.simpleString() == "array<string>"
        assert pairs(result, "name", "filter_ids", "level") == [
            ("a", ["high", "north", "zagreb"], [1, None, 4]),
            ("b", [], []),
            ("c", ["zagreb"], [4]),
            ("d", ["high"], [1]),
        ]

    def test_inner_leaves_out_what_matched_nothing(
        self, readings: "DataFrame", compiled: "Filters"
    ) -> None:
        from wherecast.spark import match

        result = match(readings, compiled, output="arrays", prefix="m_")

        assert result.columns[-3:] == ["m_filter_ids", "m_email", "m_level"]
        assert pairs(result, "name", "m_filter_ids")[1:] == [("c", ["zagreb"]), ("d", ["high"])]


class TestColumns:
    def test_columns_of_every_type_are_carried_along(self, spark: "SparkSession") -> None:
        from wherecast.spark import match

        carried = spark.sql(
            """SELECT 1 AS n, array(1, 2) AS `a list`, map('k', array(1.5d)) AS m,
               CAST(1.50 AS DECIMAL(10, 2)) AS price, DATE '2026-05-01' AS day,
               named_struct('when', array(TIMESTAMP '2026-05-01 12:00:00')) AS s,
               TIMESTAMP_NTZ '2026-05-01 12:00:00' AS local, CAST('x' AS BINARY) AS raw,
               INTERVAL 1 DAY AS wait, NULL AS nothing, 'dot' AS `x.y`, 'tick' AS `t``k`"""
        )
        filters = spark.createDataFrame([(7, "n = 1 AND `x.y` = 'dot'")], "id int, filter string")

        result = match(carried, filters)

        assert result.schema.fields[:-1] == carried.schema.fields
        assert result.schema["filter_id"].dataType.simpleString() == "int"
        (row,) = result.collect()
        assert tuple(row) == (*carried.collect()[0], 7)
        assert row.price == Decimal("1.50")
        assert row.day == date(2026, 5, 1)

    def test_kept_columns_of_every_type(self, spark: "SparkSession") -> None:
        from wherecast.spark import compile_filters, match

        columns = {
            "a": "array(1, 2)",
            "m": "map('k', array(1.5d))",
            "d": "CAST(1.50 AS DECIMAL(10, 2))",
            "day": "DATE '2026-05-01'",
            "t": "TIMESTAMP '2026-05-01 12:00:00'",
            "s": "named_struct('x', array(TIMESTAMP_NTZ '2026-05-01 12:00:00'), 'y', NULL)",
            "b": "CAST('x' AS BINARY)",
        }
        selected = ", ".join(f"{text} AS {name}" for name, text in columns.items())
        filters = spark.sql(f"SELECT 1L AS id, 'n = 1' AS filter, {selected}")
        compiled = compile_filters(
            filters, spark.range(1).toDF("n").schema, keep=[*columns, "filter"]
        )
        publications = spark.range(1, 3).toDF("n")
        (given,) = filters.select(*columns, "filter").collect()

        spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")  # not that of compiling
        try:
            rows = match(publications, compiled, how="left").orderBy("n").collect()
            arrays = (
                match(publications, compiled, how="left", output="arrays").orderBy("n").collect()
            )
        finally:
            spark.conf.set("spark.sql.session.timeZone", "UTC")

        assert tuple(rows[0])[2:] == tuple(given)
        assert set(tuple(rows[1])[1:]) == {None}
        assert tuple(arrays[0])[2:] == tuple([value] for value in given)
        assert all(value == [] for value in tuple(arrays[1])[1:])

    def test_what_is_no_attribute_is_named_when_a_filter_asks_for_it(
        self, spark: "SparkSession"
    ) -> None:
        from wherecast.spark import match

        carried = spark.sql("SELECT array(1, 2) AS tags, CAST(1 AS DECIMAL(5, 2)) AS price")
        filters = spark.createDataFrame([("f", "tags = 1")], "id string, filter string")

        with pytest.raises(FilterError, match="tags is array<int>, which cannot be compared"):
            match(carried, filters)
        with pytest.raises(SchemaError, match=r"column price is decimal.*float attribute"):
            match(carried, filters.limit(0), schema=Schema.from_dict({"Price": "float"}))
        nested = spark.sql("SELECT named_struct('x', 1) AS s")
        with pytest.raises(SchemaError, match="column s is a struct"):
            match(nested, filters.limit(0), schema=Schema.from_dict({"s": "int"}))
        with pytest.raises(SchemaError, match=r"column tags is array<int>.*float attribute tags"):
            match(carried, filters, schema=Schema((), open=True))

    @pytest.mark.parametrize("type_", ["string", "int", "long"])
    def test_ids_keep_their_type(self, spark: "SparkSession", type_: str) -> None:
        from pyspark.sql import functions as fn

        from wherecast.spark import match

        filters = spark.range(2).select(
            fn.col("id").cast(type_).alias("key"), fn.concat(fn.lit("id >= "), "id").alias("text")
        )
        result = match(spark.range(2), filters, prefix="f_", id="KEY", filter="text")

        assert result.schema["f_filter_id"].dataType == filters.schema["key"].dataType
        found = [(row[0], int(row[1])) for row in result.collect()]
        assert sorted(found) == [(0, 0), (1, 0), (1, 1)]

    def test_a_clash_of_names_is_an_error_that_says_so(
        self, readings: "DataFrame", compiled: "Filters"
    ) -> None:
        from wherecast.spark import match

        clashing = readings.withColumnRenamed("city", "Filter_ID")

        with pytest.raises(ConfigError, match="the filters name city"):
            match(clashing, compiled)
        clashing = readings.withColumnRenamed("seen", "Filter_ID")
        with pytest.raises(ConfigError, match=r"two columns named filter_id; give a prefix"):
            match(clashing, compiled)
        assert match(clashing, compiled, prefix="x_").columns[-3] == "x_filter_id"

    def test_two_matches_one_after_the_other(
        self, readings: "DataFrame", compiled: "Filters"
    ) -> None:
        from wherecast.spark import match

        once = match(readings, compiled, keep=[])
        twice = match(once, compiled, keep=[], prefix="again_")

        assert twice.where("name = 'd'").collect()[0][-2:] == ("high", "high")
        assert twice.count() == 3 * 3 + 1 + 1


class TestFilters:
    def test_are_picklable_and_tell_figures(
        self, readings: "DataFrame", compiled: "Filters"
    ) -> None:
        from wherecast.spark import match

        again = pickle.loads(pickle.dumps(compiled))

        assert len(again) == 4
        assert again.keep == ("email", "level")
        figures = again.stats
        assert figures["filters"] == 4
        assert (figures["rejected"], figures["never_match"]) == (0, 0)
        assert figures["attributes"] == ["city", "no2", "station.side"]
        assert figures["parts"] == 1
        assert len(pickle.dumps(compiled)) < 5000
        assert match(readings, again).count() == 5

    def test_bad_filters_raise_or_are_skipped(
        self, spark: "SparkSession", readings: "DataFrame"
    ) -> None:
        from wherecast.spark import compile_filters, match

        rows = [
            (1, "no2 >"),
            (2, "no22 > 1"),
            (None, "no2 > 1"),
            (4, None),
            (5, "no2 > 1 AND no2 < 0"),
            (6, "no2 > 40"),
        ]
        bad = spark.createDataFrame(rows, "id long, filter string").coalesce(1)

        with pytest.raises(FilterError, match=r"^4 filters cannot be used: 1: .*; 2: .*and 1 more"):
            compile_filters(bad, schema=readings.schema)
        good = compile_filters(bad, schema=readings.schema, on_bad_filter="skip")

        assert (len(good), good.stats["never_match"]) == (2, 1)
        assert good.rejected.columns == ["id", "filter", "error", "position"]
        assert good.rejected.schema["id"].dataType == bad.schema["id"].dataType
        found = {row.id: (row.filter, row.error, row.position) for row in good.rejected.collect()}
        assert found.keys() == {1, 2, None, 4}
        assert found[2] == ("no22 > 1", "unknown attribute no22; did you mean no2?", 0)
        assert found[None] == ("no2 > 1", "the id is null", None)
        assert found[4] == (None, "the filter is null", None)
        assert pairs(match(readings, bad, on_bad_filter="skip"), "name", "filter_id") == [
            ("a", 6),
            ("d", 6),
        ]

    def test_duplicate_ids_are_refused_with_their_count(
        self, filters: "DataFrame", readings: "DataFrame"
    ) -> None:
        from wherecast.spark import match

        with pytest.raises(ConfigError, match=r"^4 ids occur more than once: 'high' 2 times"):
            match(readings, filters.union(filters), on_bad_filter="skip")

    def test_no_filters_match_nothing(self, filters: "DataFrame", readings: "DataFrame") -> None:
        from wherecast.spark import match

        assert match(readings, filters.limit(0)).count() == 0
        assert match(readings, filters.limit(0), how="left").count() == len(READINGS)

    def test_wrong_options_name_what_is_right(
        self, filters: "DataFrame", readings: "DataFrame", compiled: "Filters"
    ) -> None:
        from wherecast.spark import compile_filters, match

        wrong: list[tuple[Any, dict[str, Any], str]] = [
            (compiled, {"how": "outer"}, "how is one of inner, left, semi, anti"),
            (compiled, {"output": "row"}, "output is one of rows, arrays"),
            (compiled, {"keep": ["phone"]}, "phone was not compiled to be kept; email, level"),
            (compiled, {"how": "semi", "keep": ["email"]}, "adds no columns"),
            (compiled, {"schema": readings.schema}, "schema is a wherecast Schema"),
            (filters, {"id": "key"}, "no column key; their columns are id, filter"),
            (
                filters,
                {"id": "level", "filter": "level"},
                "filters are strings, column level is int",
            ),
            (filters, {"on_bad_filter": "drop"}, "'raise' or 'skip'"),
            ([("a", "b")], {}, "filters are a DataFrame with .* or a FilterSet, not list"),
            (["no2 > 0"], {}, r"compile_filters or load_filters returned, or a FilterSet"),
            (filters, {"keep": True}, "keep is a list of columns, not True"),
            (compiled, {"keep": True}, "keep is a list of columns, not True"),
            (filters, {"keep": "email"}, r"keep is a list of columns: \['email'\]"),
            (compiled, {"keep": "email"}, r"keep is a list of columns: \['email'\]"),
            (filters, {"keep": [1]}, "keep is a list of columns, and 1 names none"),
        ]
        for given, options, message in wrong:
            with pytest.raises(ConfigError, match=message):
                match(readings, given, **options)
        with pytest.raises(ConfigError, match="ids are strings or integers, column no2 is double"):
            compile_filters(readings, schema=readings.schema, id="no2", filter="city")
        other = readings.withColumn("no2", readings.no2.cast("string"))
        with pytest.raises(ConfigError, match="no2 as float, the column is string"):
            match(other, compiled)

    def test_columns_of_another_kind_than_compiled_are_refused_before_a_query(
        self, spark: "SparkSession"
    ) -> None:
        from wherecast.spark import compile_filters, match

        wanted = spark.sql("SELECT CAST(1 AS DECIMAL(10, 2)) AS price, TIMESTAMP '2026-05-01' AS t")
        texts = [(1, "price > 1 AND t > TIMESTAMP '2026-01-01'")]
        filters = spark.createDataFrame(texts, "id int, filter string")
        compiled = compile_filters(filters, wanted.schema)

        finer = wanted.selectExpr("CAST(price AS DECIMAL(10, 4)) AS price", "t")
        with pytest.raises(ConfigError, match=r"price as decimal with 2 .* is decimal with 4"):
            match(finer, compiled)
        dates = wanted.selectExpr("price", "CAST(t AS DATE) AS t")
        with pytest.raises(ConfigError, match="t as timestamp, the column is date"):
            match(dates, compiled)


class TestSchema:
    SCHEMA = Schema.from_dict(
        {"no2": {"type": "float", "min": 0, "max": 1000}, "City": "string", "seen": "timestamp"}
    )

    def test_a_row_outside_matches_nothing(self, readings: "DataFrame", few: "DataFrame") -> None:
        from wherecast.spark import match

        expected = [("a", "high"), ("a", "zagreb"), ("c", "zagreb")]
        assert pairs(match(readings, few), "name", "filter_id") == [*expected, ("d", "high")]

        result = match(readings, few, schema=self.SCHEMA)

        assert result.columns == [*readings.columns, "filter_id"]
        assert pairs(result, "name", "filter_id") == expected

    @pytest.mark.parametrize("how", ["left", "anti"])
    def test_left_and_anti_keep_it_with_its_error(
        self, readings: "DataFrame", few: "DataFrame", how: Any
    ) -> None:
        from wherecast.spark import match

        result = match(readings, few, how=how, schema=self.SCHEMA, prefix="m_")

        assert result.columns[-1] == "m_error"
        told = "attribute no2: 1200.0 is above its maximum 1000"
        assert pairs(result.where("name IN ('b', 'd')"), "name", "m_error") == [
            ("b", None),
            ("d", told + ".0"),
        ]

    def test_overrides_the_types_of_columns(self, spark: "SparkSession") -> None:
        from wherecast.spark import compile_filters, match

        texts = [(1, "2026-05-01T12:00:00Z"), (2, "2026-05-01T14:30:00+02:00"), (3, "soon")]
        frame = spark.createDataFrame(texts, "n int, seen string")
        filter = [("noon", "seen BETWEEN '2026-05-01T12:00' AND '2026-05-01T12:30'")]
        filters = compile_filters(
            spark.createDataFrame(filter, "id string, filter string"), schema=frame.schema
        )

        assert pairs(match(frame, filters), "n") == [(1,)]  # texts, compared as texts
        result = match(frame, filters, how="left", schema=self.SCHEMA)

        assert pairs(result, "n", "filter_id") == [(1, "noon"), (2, "noon"), (3, None)]
        assert "'soon' is not an ISO 8601 time" in result.where("n = 3").collect()[0].error

    def test_compiled_with_a_schema_needs_none_later(
        self, readings: "DataFrame", few: "DataFrame"
    ) -> None:
        from wherecast.spark import compile_filters, match

        compiled = compile_filters(few, schema=self.SCHEMA)

        assert pairs(match(readings, compiled, how="anti"), "name") == [("b",), ("d",)]


class TestStreaming:
    @pytest.fixture
    def stream(self, spark: "SparkSession", tmp_path: Path) -> "DataFrame":
        frame = spark.createDataFrame(READINGS, COLUMNS)
        frame.repartition(2).write.parquet(str(tmp_path / "in"))
        source = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
        return source.parquet(str(tmp_path / "in"))

    def test_as_in_batch_and_refused_rows_are_counted(
        self, spark: "SparkSession", stream: "DataFrame", filters: "DataFrame", tmp_path: Path
    ) -> None:
        from wherecast.spark import match

        schema = Schema.from_dict({"no2": {"type": "float", "max": 1000}, "city": "string"})
        few = filters.where("id IN ('high', 'zagreb')")
        result = match(stream, few, schema=schema, keep=["level"])
        assert result.isStreaming
        query = (
            result.writeStream.format("memory")
            .queryName("matched")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

        found = spark.table("matched")
        assert pairs(found, "name", "filter_id", "level") == [
            ("a", "high", 1),
            ("a", "zagreb", 4),
            ("c", "zagreb", 4),
        ]
        assert refused(query) == 1
        spark.catalog.dropTempView("matched")

    def test_a_watermark_survives(self, stream: "DataFrame", compiled: "Filters") -> None:
        from wherecast.spark import match

        late = stream.withWatermark("seen", "1 hour")
        field = match(late, compiled).schema["seen"]

        assert field.metadata == late.schema["seen"].metadata

    def test_filters_cannot_be_a_stream(self, stream: "DataFrame", readings: "DataFrame") -> None:
        from wherecast.spark import match

        with pytest.raises(ConfigError, match="filters are a batch DataFrame"):
            match(readings, stream)


def refused(query: "StreamingQuery") -> int:
    """The refused publications of all micro-batches; each kind of Spark has its own form of it."""
    count = 0
    for progress in query.recentProgress:
        for metric in progress["observedMetrics"].values():
            told = metric if isinstance(metric, dict) else metric.asDict()
            count += told["values"][0] if "values" in told else told["refused"]
    return count


def readings_row(name: str) -> tuple[Any, ...]:
    """The row of a reading as Spark gives it back, in the zone of this process."""
    (row,) = (row for row in READINGS if row[0] == name)
    seen = row[4]
    local = None if seen is None else seen.astimezone().replace(tzinfo=None)
    return (*row[:4], local)
