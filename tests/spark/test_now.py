"""`now()` in filters on Spark: one moment per query or micro-batch, the same when it runs again."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from wherecast.model import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
COLUMNS = "name string, seen timestamp"
FILTERS = [("recent", "seen > now() - INTERVAL 1 HOUR"), ("past", "seen < now()")]


def minutes(*offsets: int, around: datetime = NOON) -> list[tuple[str, datetime]]:
    return [(f"{offset:+d}", around + timedelta(minutes=offset)) for offset in offsets]


def expected(*offsets: int) -> list[tuple[str, str]]:
    """The pairs by plain comparisons of the minutes from now."""
    recent = [(f"{offset:+d}", "recent") for offset in offsets if offset > -60]
    return sorted(recent + [(f"{offset:+d}", "past") for offset in offsets if offset < 0])


def pairs(frame: "DataFrame") -> list[tuple[str, str]]:
    return sorted((row.name, row.filter_id) for row in frame.collect())


@pytest.fixture(scope="module")
def filters(spark: "SparkSession") -> "DataFrame":
    return spark.createDataFrame(FILTERS, "id string, filter string")


@pytest.fixture(scope="module")
def readings(spark: "SparkSession") -> "DataFrame":
    return spark.createDataFrame(minutes(-90, -30, 30), COLUMNS).repartition(2)


def test_now_is_given(readings: "DataFrame", filters: "DataFrame") -> None:
    from wherecast.spark import match

    assert pairs(match(readings, filters, now=NOON)) == expected(-90, -30, 30)
    naive = NOON.replace(tzinfo=None)
    assert pairs(match(readings, filters, now=naive)) == expected(-90, -30, 30)
    later = match(readings, filters, now=NOON + timedelta(hours=1))
    assert pairs(later) == [("+30", "past"), ("+30", "recent"), ("-30", "past"), ("-90", "past")]
    assert match(readings, filters, now=NOON).columns == ["name", "seen", "filter_id"]


def test_the_default_is_the_time_of_the_call(spark: "SparkSession", filters: "DataFrame") -> None:
    from pyspark.sql import functions as fn

    from wherecast.spark import match

    around = minutes(-90, -30, 30, around=datetime.now(UTC))
    result = match(spark.createDataFrame(around, COLUMNS), filters)
    assert pairs(result) == expected(-90, -30, 30)
    moments = spark.range(1).select(fn.current_timestamp().alias("seen"), fn.lit("m").alias("name"))
    late = match(moments, filters.where("id = 'past'"))  # the call was before each query
    assert late.count() == late.count() == 0


@pytest.mark.parametrize("way", ["whole", "columns"])
def test_a_column_has_the_moment_of_each_row(
    spark: "SparkSession", filters: "DataFrame", monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    from pyspark.sql import functions as fn

    from wherecast.pipeline.spark import match_query, spark_runner
    from wherecast.spark import match

    if way == "columns" and not spark_runner.has_columns_way():
        pytest.skip("needs PySpark 4.1")
    monkeypatch.setattr(match_query, "_choose_way", lambda *_: way)
    rows = [
        ("a", NOON, NOON + timedelta(minutes=1)),
        ("b", NOON, NOON - timedelta(minutes=1)),
        ("c", NOON, None),
    ]
    frame = spark.createDataFrame(rows, f"{COLUMNS}, accepted timestamp")
    for now in (fn.col("accepted"), frame["accepted"]):
        found = match(frame, filters, now=now)
        assert found.columns == ["name", "seen", "accepted", "filter_id"]
        assert pairs(found) == [("a", "past"), ("a", "recent"), ("b", "recent")]
    arrays = match(frame, filters, "left", "arrays", now=fn.col("accepted")).collect()
    assert {row.name: sorted(row.filter_ids) for row in arrays} == {
        "a": ["past", "recent"], "b": ["recent"], "c": [],
    }  # fmt: skip


def test_a_refused_row_does_not_shift_the_moments(
    spark: "SparkSession", filters: "DataFrame"
) -> None:
    from pyspark.sql import functions as fn

    from wherecast import Schema
    from wherecast.spark import match

    schema = Schema.from_dict({"n": {"type": "int", "max": 9}, "seen": "timestamp"})
    minute = timedelta(minutes=1)
    rows = [(99, NOON, NOON + minute), (1, NOON, NOON - minute), (2, NOON, NOON + minute)]
    frame = spark.createDataFrame(rows, "n int, seen timestamp, accepted timestamp").coalesce(1)
    result = match(frame, filters, "left", "arrays", schema=schema, now=fn.col("accepted"))
    found = {row.n: sorted(row.filter_ids) for row in result.collect()}
    assert found == {99: [], 1: ["recent"], 2: ["past", "recent"]}


@pytest.mark.parametrize(
    ("now", "message"),
    [("2024-05-01", "now is a datetime or a Column"), (5, "now is a datetime or a Column")],
)
def test_wrong_moments_are_named(
    readings: "DataFrame", filters: "DataFrame", now: Any, message: str
) -> None:
    from pyspark.sql import functions as fn

    from wherecast.spark import match

    with pytest.raises(ConfigError, match=message):
        match(readings, filters, now=now)
    with pytest.raises(ConfigError, match="column name is string"):
        match(readings, filters, now=fn.col("name"))


def test_write_matches(
    spark: "SparkSession", readings: "DataFrame", filters: "DataFrame", tmp_path: Path
) -> None:
    from pyspark.sql import functions as fn

    from wherecast.spark import write_matches

    given = {"datetime": NOON, "column": fn.lit(NOON)}
    for name, now in given.items():
        done = write_matches(readings, filters, tmp_path / name, now=now)
        found = spark.read.parquet(str(tmp_path / name))
        assert pairs(found) == expected(-90, -30, 30)
        assert done.matches == done.rows == 4
        assert found.columns == ["name", "seen", "filter_id"]
    around = spark.createDataFrame(minutes(-90, -30, 30, around=datetime.now(UTC)), COLUMNS)
    write_matches(around, filters, tmp_path / "default")
    assert pairs(spark.read.parquet(str(tmp_path / "default"))) == expected(-90, -30, 30)


def test_a_batch_that_is_written_again_has_its_moment_again(
    spark: "SparkSession", filters: "DataFrame", tmp_path: Path
) -> None:
    from pyspark.sql import functions as fn

    from wherecast.spark import write_matches

    past = filters.where("id = 'past'")
    failing = spark.createDataFrame([("bad", NOON)], COLUMNS).select(
        fn.expr("raise_error('on purpose')").cast("string").alias("name"), "seen"
    )
    path, batch = tmp_path / "found", ("q", 0)
    with pytest.raises(Exception, match="on purpose"):
        write_matches(failing, past, path, batch=batch)
    between = datetime.now(UTC)  # after the first attempt, before the second
    again = spark.createDataFrame([("between", between), ("noon", NOON)], COLUMNS)
    write_matches(again, past, path, mode="append", batch=batch)
    assert pairs(spark.read.parquet(str(path))) == [("noon", "past")]
    write_matches(again, past, path, mode="append", batch=("q", 1))
    assert pairs(spark.read.parquet(str(path))) == [
        ("between", "past"), ("noon", "past"), ("noon", "past"),
    ]  # fmt: skip


class Stream:
    """A stream of files; its last micro-batch can be made to run again."""

    def __init__(self, spark: "SparkSession", home: Path) -> None:
        self.spark, self.home = spark, home
        (home / "in").mkdir()

    def arrive(self, *rows: tuple[str, datetime]) -> None:
        frame = self.spark.createDataFrame(list(rows), COLUMNS).coalesce(1)
        frame.write.mode("append").json(str(self.home / "in"))

    def run(self, filters: Any, format_: str, options: dict[str, str]) -> None:
        from wherecast.spark import match

        source = self.spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", 1)
        stream = source.json(str(self.home / "in"))
        matched = stream if format_ == "wherecast" else match(stream, filters)
        query = (
            matched.writeStream.format(format_)
            .options(checkpointLocation=str(self.home / "checkpoint"), **options)
            .trigger(availableNow=True)
            .start(str(self.home / "found"))
        )
        query.awaitTermination()

    def forget_last_batch(self) -> datetime:
        """Has the last micro-batch run again, with an empty result; returns its moment."""
        last = max((self.home / "checkpoint" / "commits").glob("[0-9]*"), key=lambda p: int(p.name))
        last.unlink()
        last.with_name(f".{last.name}.crc").unlink(missing_ok=True)
        offsets = (self.home / "checkpoint" / "offsets" / last.name).read_text().splitlines()
        return datetime.fromtimestamp(json.loads(offsets[1])["batchTimestampMs"] / 1000, UTC)

    def found(self) -> list[tuple[str, str]]:
        return pairs(self.spark.read.parquet(str(self.home / "found")))


@pytest.mark.parametrize("kind", ["frame", "set"])
def test_a_micro_batch_has_the_moment_that_spark_fixed(
    spark: "SparkSession", filters: "DataFrame", tmp_path: Path, kind: str
) -> None:
    from wherecast.spark import FilterSet

    given: Any = filters
    if kind == "set":
        given = FilterSet(tmp_path / "set", schema=spark.createDataFrame([], COLUMNS).schema)
        ids, texts = zip(*FILTERS, strict=True)
        given.add(pa.table({"id": ids, "filter": texts}))
    stream = Stream(spark, tmp_path)
    stream.arrive(*minutes(-90, -30, 30, around=datetime.now(UTC)))
    stream.run(given, "parquet", {})
    assert stream.found() == expected(-90, -30, 30)

    moment = stream.forget_last_batch()
    # The rows of the batch that runs again lie right before and after its moment, so that any
    # later moment would find another result.
    (file,) = (tmp_path / "in").glob("part-*.json")
    edges = {
        "before": moment - timedelta(milliseconds=1),
        "at": moment,
        "after": moment + timedelta(milliseconds=1),
    }
    lines = [json.dumps({"name": n, "seen": seen.isoformat()}) for n, seen in edges.items()]
    file.write_text("\n".join(lines))
    (tmp_path / "in" / f".{file.name}.crc").unlink(missing_ok=True)
    for part in (tmp_path / "found").rglob("*"):  # Spark's sink would skip a batch that it knows
        if part.is_file():
            part.unlink()
    stream.run(given, "parquet", {})
    recent = [(name, "recent") for name in edges]
    assert stream.found() == sorted([*recent, ("before", "past")])


@pytest.mark.classic
def test_the_format_takes_now_and_fixes_a_moment_per_micro_batch(
    spark: "SparkSession", readings: "DataFrame", filters: "DataFrame", tmp_path: Path
) -> None:
    from wherecast.spark import compile_filters

    datasource = pytest.importorskip("pyspark.sql.datasource")
    saved = compile_filters(filters, schema=readings.schema).save(tmp_path / "saved").uri
    writer = readings.write.format("wherecast").option("filters", saved).mode("append")
    with pytest.raises(Exception, match="now: 'noon' is not an ISO 8601 time"):
        writer.option("now", "noon").save(str(tmp_path / "batch"))
    writer.option("now", "2024-05-01T12:00:00Z").save(str(tmp_path / "batch"))
    assert pairs(spark.read.parquet(str(tmp_path / "batch"))) == expected(-90, -30, 30)
    if not hasattr(datasource, "DataSourceStreamArrowWriter"):
        return
    stream = Stream(spark, tmp_path)
    stream.arrive(*minutes(-90, -30, 30, around=datetime.now(UTC)))
    stream.run(None, "wherecast", {"filters": saved})
    assert stream.found() == expected(-90, -30, 30)
    moments = (tmp_path / "found" / "_wherecast" / "moments").rglob("0*")
    (record,) = filter(Path.is_file, moments)
    assert abs(json.loads(record.read_text())["now_us"] / 1e6 - datetime.now().timestamp()) < 3600
