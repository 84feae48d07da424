"""The format `wherecast`: publications are matched while Spark writes them, each batch once."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from tests.spark.folders import folders_of, shown_files

pytest.importorskip("pyspark.sql.datasource")

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.classic]

COLUMNS = "name string, no2 double, part int"
FILTERS = {
    "id": ["high", "mid"],
    "filter": ["no2 > 40", "no2 BETWEEN 20 AND 50"],
    "owner": ["a", "b"],
}


@pytest.fixture
def readings(spark: "SparkSession") -> "DataFrame":
    rows = [(f"r{n}", n * 7.0, n % 2) for n in range(10)]
    return spark.createDataFrame(rows, COLUMNS).repartition(2)


@pytest.fixture
def saved(spark: "SparkSession", readings: "DataFrame", tmp_path: Path) -> str:
    from wherecast.spark import compile_filters

    frame = spark.createDataFrame(pa.table(FILTERS))
    compiled = compile_filters(frame, schema=readings.schema, keep=["owner"])
    return compiled.save(tmp_path / "saved").uri


def pairs(frame: "DataFrame") -> list[tuple[str, str]]:
    return sorted((row.name, row.filter_id) for row in frame.collect())


def expected(*numbers: int) -> list[tuple[str, str]]:
    """The pairs by plain comparisons."""
    found = [(f"r{n}", "high") for n in numbers if n * 7.0 > 40]
    return sorted(found + [(f"r{n}", "mid") for n in numbers if 20 <= n * 7.0 <= 50])


def test_a_batch_is_written_without_registration(
    spark: "SparkSession", readings: "DataFrame", saved: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "found")
    writer = readings.write.format("wherecast").option("filters", saved)
    writer.mode("append").save(path)
    found = spark.read.parquet(path)
    assert pairs(found) == expected(*range(10))
    assert found.columns == ["name", "no2", "part", "filter_id", "owner"]
    writer.mode("append").save(path)
    assert spark.read.parquet(path).count() == 2 * len(expected(*range(10)))
    writer.options(partition_by="part, filter_id", how="left", keep="").mode("overwrite").save(path)
    assert "part=0/filter_id=mid" in folders_of(tmp_path / "found")
    assert spark.read.parquet(path).columns == ["name", "no2", "part", "filter_id"]


def test_the_newest_version_of_a_set_is_used(
    spark: "SparkSession", readings: "DataFrame", tmp_path: Path
) -> None:
    from wherecast.spark import FilterSet

    alerts = FilterSet(tmp_path / "set", schema=readings.schema)
    alerts.add(pa.table({"id": ["high"], "filter": ["no2 > 60"]}))
    alerts.add(pa.table({"id": ["high"], "filter": ["no2 > 50"]}))
    writer = readings.write.format("wherecast").option("filters", alerts.uri)
    writer.mode("append").save(str(tmp_path / "found"))
    assert pairs(spark.read.parquet(str(tmp_path / "found"))) == [("r8", "high"), ("r9", "high")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filter": "x"}, "no option filter; did you mean filters"),
        ({"filters": None}, "give the option filters"),
        ({"how": "outer"}, "how is one of inner, left, semi, anti"),
        ({"partition_by": "no2"}, "column no2 is double"),
        ({"compression": "rar"}, "compression is one of"),
    ],
)
def test_wrong_options_are_named(
    readings: "DataFrame", saved: str, tmp_path: Path, options: Any, message: str
) -> None:
    given = {"filters": saved} | options
    given = {name: value for name, value in given.items() if value is not None}
    writer = readings.write.format("wherecast").options(**given).mode("append")
    with pytest.raises(Exception, match=message):
        writer.save(str(tmp_path / "found"))
    assert not (tmp_path / "found").exists()


def test_a_write_that_fails_leaves_nothing_to_see(
    spark: "SparkSession", readings: "DataFrame", saved: str, tmp_path: Path
) -> None:
    spark.udf.register("refuse_r7", _refuse, "string")
    bad = readings.selectExpr("refuse_r7(name) AS name", "no2", "part")
    writer = bad.write.format("wherecast").option("filters", saved).mode("append")
    with pytest.raises(Exception, match="on purpose"):
        writer.save(str(tmp_path / "found"))
    assert not (tmp_path / "found").exists()


def _refuse(name: str) -> str:
    if name == "r7":
        raise ValueError("on purpose")
    return name


class Stream:
    """A stream of files, one per micro-batch, that can be started again."""

    def __init__(self, spark: "SparkSession", home: Path, filters: str) -> None:
        self.spark, self.home, self.filters = spark, home, filters
        (home / "in").mkdir()

    def arrive(self, *numbers: int) -> None:
        rows = [(f"r{n}", n * 7.0, n % 2) for n in numbers]
        frame = self.spark.createDataFrame(rows, COLUMNS).coalesce(1)
        frame.write.mode("append").json(str(self.home / "in"))

    def run(self) -> None:
        source = self.spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
        query = (
            source.json(str(self.home / "in"))
            .writeStream.format("wherecast")
            .option("filters", self.filters)
            .option("checkpointLocation", str(self.home / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(self.home / "found"))
        )
        query.awaitTermination()

    def found(self) -> list[tuple[str, str]]:
        return pairs(self.spark.read.parquet(str(self.home / "found")))

    def forget_last_commit(self) -> None:
        """What Spark knows if it dies after the commit of the sink and before its own."""
        commits = self.home / "checkpoint" / "commits"
        numbers = [int(path.name) for path in commits.iterdir() if path.name.isdecimal()]
        last = commits / str(max(numbers))
        last.unlink()
        (commits / f".{last.name}.crc").unlink(missing_ok=True)


def needs_stream_writer() -> None:
    from pyspark.sql import datasource

    if not hasattr(datasource, "DataSourceStreamArrowWriter"):
        pytest.skip("needs PySpark 4.1")


def test_each_batch_of_a_stream_is_there_once(
    spark: "SparkSession", saved: str, tmp_path: Path
) -> None:
    needs_stream_writer()
    stream = Stream(spark, tmp_path, saved)
    stream.arrive(4, 5)
    stream.arrive(6, 0)
    stream.run()
    assert stream.found() == expected(4, 5, 6, 0)

    stream.forget_last_commit()
    stream.run()  # the last batch is repeated
    assert stream.found() == expected(4, 5, 6, 0)
    assert not list((tmp_path / "found").rglob("staging"))

    stream.arrive(7)
    stream.run()  # goes on from the checkpoint
    assert stream.found() == expected(4, 5, 6, 0, 7)
    assert len(shown_files(tmp_path / "found")) == 3


def test_a_stream_follows_a_set(
    spark: "SparkSession", readings: "DataFrame", tmp_path: Path
) -> None:
    from wherecast.spark import FilterSet

    needs_stream_writer()
    alerts = FilterSet(tmp_path / "set", schema=readings.schema)
    alerts.add(pa.table({"id": ["high"], "filter": ["no2 > 40"]}))
    stream = Stream(spark, tmp_path, alerts.uri)
    stream.arrive(6)
    stream.run()
    alerts.add(pa.table({"id": ["mid"], "filter": ["no2 BETWEEN 20 AND 50"]}))
    stream.arrive(7)
    stream.run()
    assert stream.found() == [("r6", "high"), ("r7", "high"), ("r7", "mid")]
