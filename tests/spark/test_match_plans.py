"""What Spark does and shows: conditions below the match, readable names, counts, time zones."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic]


@pytest.fixture(scope="module")
def stored(spark: "SparkSession", tmp_path_factory: pytest.TempPathFactory) -> "DataFrame":
    """Publications in partitions by `day`."""
    path = str(tmp_path_factory.mktemp("plans") / "readings")
    frame = spark.range(0, 12, 1, 2).selectExpr("id", "id * 10.0D AS no2", "id % 3 AS day")
    frame.write.partitionBy("day").parquet(path)
    return spark.read.parquet(path)


@pytest.fixture(scope="module")
def filters(spark: "SparkSession") -> "DataFrame":
    rows = [("high", "no2 > 40"), ("all", "no2 >= 0")]
    return spark.createDataFrame(rows, "id string, filter string")


def plan_of(frame: "DataFrame") -> str:
    executed: str = frame._jdf.queryExecution().executedPlan().toString()
    return executed


def partition_filters(frame: "DataFrame") -> str:
    """The conditions by which Spark leaves out partitions."""
    return plan_of(frame).partition("PartitionFilters: [")[2].partition("]")[0]


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_where_is_applied_before_the_match(
    stored: "DataFrame", filters: "DataFrame", how: Any
) -> None:
    import pyspark.sql.functions as fn

    from wherecast.spark import match

    for where in ("day = 1", fn.col("day") == 1):
        frame = match(stored, filters, how, where=where)
        assert "day" in partition_filters(frame)
    above = match(stored, filters, how).where("day = 1")
    assert sorted(frame.collect()) == sorted(above.collect())


def test_a_condition_above_semi_is_pushed_where_only_columns_travel(
    spark: "SparkSession", stored: "DataFrame", filters: "DataFrame"
) -> None:
    import pyspark.sql.functions as fn

    from wherecast.spark import match

    if not hasattr(fn, "arrow_udf"):
        pytest.skip("needs PySpark 4.1")
    wide = stored.selectExpr("*", "'' AS a", "'' AS b", "'' AS c")  # unread columns stay in Spark
    frame = match(wide, filters, "semi").where("day = 1")
    assert "day" in partition_filters(frame)
    assert not partition_filters(match(stored, filters).where("day = 1"))  # hence `where=`


def test_the_operators_have_readable_names(stored: "DataFrame", filters: "DataFrame") -> None:
    from wherecast.spark import match

    assert "MapInArrow wherecast_match(" in plan_of(match(stored, filters))
    wide = stored.selectExpr("*", *(f"'' AS s{n}" for n in range(4)))
    assert "wherecast_match(" in plan_of(match(wide, filters, "semi"))


def descriptions(spark: "SparkSession") -> list[str]:
    """The descriptions of all jobs, as the REST interface of Spark gives them."""
    context = spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty(60_000)
    jobs = context.statusStore().jobsList(None)
    found = [jobs.apply(place).description() for place in range(jobs.size())]
    return [each.get() for each in found if each.isDefined()]


def test_the_jobs_of_write_matches_are_described(
    spark: "SparkSession", stored: "DataFrame", filters: "DataFrame", tmp_path: Path
) -> None:
    from wherecast.spark import write_matches

    write_matches(stored, filters, tmp_path / "found")
    assert f"wherecast: write matches to {tmp_path / 'found'}" in descriptions(spark)
    assert spark.sparkContext.getLocalProperty("spark.job.description") is None

    spark.sparkContext.setJobDescription("my own")
    write_matches(stored, filters, tmp_path / "own")
    assert "my own" in descriptions(spark)
    spark.sparkContext.setLocalProperty("spark.job.description", None)


def test_spark_counts_matches_where_it_makes_rows(
    spark: "SparkSession", stored: "DataFrame", filters: "DataFrame"
) -> None:
    from wherecast.spark import match

    frame = match(stored, filters)
    count = len(frame.collect())
    plan = frame._jdf.queryExecution().executedPlan()
    while plan.nodeName() != "Generate":
        plan = plan.executedPlan() if "Adaptive" in plan.nodeName() else plan.children().apply(0)
    assert plan.metrics().apply("numOutputRows").value() == count > 12


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("how", ["inner", "left"])
@pytest.mark.parametrize("output", ["rows", "arrays"])
def test_an_observation_has_the_counts(
    stored: "DataFrame", filters: "DataFrame", observed: bool, how: Any, output: Any
) -> None:
    from pyspark.sql import Observation

    from wherecast.spark import match

    if not observed:
        assert "CollectMetrics" not in plan_of(match(stored, filters, how, output))
        return
    seen = Observation("seen")
    match(stored, filters, how, output, observation=seen).collect()
    assert seen.get == {"publications": 12, "matches": 19, "refused": 0}


class TestTimeZones:
    """One warning where the same text means another time in a query of the session."""

    @pytest.fixture(autouse=True)
    def _zagreb(self, spark: "SparkSession") -> Any:
        spark.conf.set("spark.sql.session.timeZone", "Europe/Zagreb")
        yield
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    def matched(self, spark: "SparkSession", text: str) -> None:
        from wherecast.spark import match

        rows = spark.sql("SELECT timestamp '2024-01-01 10:00:00' AS seen, date '2024-01-01' AS day")
        filters = spark.createDataFrame([("f1", text)], "id string, filter string")
        match(rows, filters)

    @pytest.mark.parametrize("text", ["seen > '2024-01-01 09:30:00'", "seen >= '2024-01-01'"])
    def test_a_time_without_a_zone_is_named(self, spark: "SparkSession", text: str) -> None:
        with pytest.warns(UserWarning, match=r"filter 'f1' .* Europe/Zagreb") as found:
            self.matched(spark, text)
        assert len(found) == 1
        assert found[0].filename == __file__

    @pytest.mark.parametrize(
        "text", ["seen > '2024-01-01T09:30:00Z'", "seen > '2024-01-01 09:30:00+02:00'",
                 "day > '2023-01-01'"],
    )  # fmt: skip
    def test_other_constants_are_silent(self, spark: "SparkSession", text: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.matched(spark, text)

    def test_a_session_in_utc_is_silent(self, spark: "SparkSession") -> None:
        spark.conf.set("spark.sql.session.timeZone", "Etc/UTC")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.matched(spark, "seen > '2024-01-01 09:30:00'")
