"""`write_matches`: the rows of `match` as Parquet, all or nothing.

The oracle is `match(…).write.parquet`, which is Spark's own writer.
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark.folders import folders_of, shown_files
from wherecast.model import ConfigError, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from wherecast.spark import Filters

pytestmark = pytest.mark.spark

COLUMNS = """
    name string, no2 double, city string, level int, seen timestamp, day date, price decimal(9, 2),
    station struct<number: int, `side.x`: string>, tags array<string>, sizes map<string, int>,
    raw binary, small byte, wide decimal(30, 4), code string, local timestamp_ntz, flag boolean
"""
FILTERS = [
    ("high", "no2 > 40", "ana", 1.5),
    ("split", "city = 'Split'", "ben", None),
    ("level", "level BETWEEN 2 AND 3", None, 2.5),
    ("never", "no2 < -1", "cyn", 3.5),
]


@pytest.fixture(scope="module")
def readings(spark: "SparkSession") -> "DataFrame":
    rows = []
    for n in range(24):
        city = ("Zagreb", "Split", None, "a/b=c: 100%")[n % 4]
        rows.append(
            f"('r{n}', {n * 3.5}D, {'null' if city is None else repr(city)}, {n % 5},"
            f" timestamp '2024-01-0{n % 9 + 1} 10:00:00', date '1500-02-0{n % 3 + 1}', {n}.25,"
            f" named_struct('number', {n}, 'side.x', 'north'), array('a', null), map('k', {n}),"
            f" X'00FF', {n}Y, {n}.1234, 'abc', timestamp_ntz '2024-01-01 00:00:00.123456',"
            f" {'true' if n % 2 else 'false'})"
        )
    frame = spark.sql(f"SELECT * FROM VALUES {', '.join(rows)}")
    plain = spark.createDataFrame([], COLUMNS).schema
    pairs = zip(frame.columns, plain, strict=True)
    cast = [frame[old].cast(field.dataType).alias(field.name) for old, field in pairs]
    return frame.select(*cast).repartition(3, "name")


@pytest.fixture(scope="module")
def filters(spark: "SparkSession", readings: "DataFrame") -> "Filters":
    from wherecast.spark import compile_filters

    frame = spark.createDataFrame(FILTERS, "id string, filter string, owner string, weight double")
    return compile_filters(frame, schema=readings.schema, keep=["owner", "weight"])


def rows_of(frame: "DataFrame") -> Counter[str]:
    return Counter(str(sorted(row.asDict(recursive=True).items())) for row in frame.collect())


def written(spark: "SparkSession", path: Path) -> "DataFrame":
    return spark.read.parquet(str(path))


@pytest.mark.parametrize("output", ["rows", "arrays"])
@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_files_have_the_rows_and_types_of_match(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path,
    how: Any, output: Any,
) -> None:  # fmt: skip
    from wherecast.spark import match, write_matches

    match(readings, filters, how, output).write.parquet(str(tmp_path / "expected"))
    done = write_matches(readings, filters, tmp_path / "found", how=how, output=output)

    expected, found = (written(spark, tmp_path / name) for name in ("expected", "found"))
    assert found.schema == expected.schema
    assert rows_of(found) == rows_of(expected)
    assert done.rows == expected.count() > 0
    assert done.files == len(shown_files(tmp_path / "found"))
    pairs = match(readings, filters).count()
    assert done.matches == (pairs if how in ("inner", "left") else 0)


def test_options_of_match_are_those_of_write_matches(
    spark: "SparkSession", readings: "DataFrame", tmp_path: Path
) -> None:
    from wherecast.spark import match, write_matches

    frame = spark.createDataFrame([("1", "no2 > 40"), ("2", "no2 >")], "key string, text string")
    given: Any = {"id": "key", "filter": "text", "on_bad_filter": "skip", "prefix": "m_"}
    given |= {"schema": Schema.from_dict({"no2": {"type": "float", "max": 70}}), "how": "left"}
    given |= {"where": "level > 1"}

    done = write_matches(readings, frame, tmp_path / "found", **given)

    expected = match(readings, frame, **given)
    assert rows_of(written(spark, tmp_path / "found")) == rows_of(expected)
    assert done.refused == expected.where("m_error IS NOT NULL").count() > 0


def test_refused_publications_are_counted_and_left_out(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path
) -> None:
    from wherecast.spark import match, write_matches

    frame = spark.createDataFrame([(7, "no2 > 40")], "id int, filter string")
    schema = Schema.from_dict({"no2": {"type": "float", "max": 70}})
    done = write_matches(readings, frame, tmp_path / "found", schema=schema)
    expected = match(readings, frame, schema=schema)
    assert rows_of(written(spark, tmp_path / "found")) == rows_of(expected)
    assert done.refused == readings.where("no2 > 70").count() > 0
    assert "error" not in written(spark, tmp_path / "found").columns


@pytest.mark.parametrize("by", [["city"], ["flag", "level"], ["filter_id"], ["owner", "day"]])
def test_partitions_are_those_of_spark(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path, by: list[str]
) -> None:
    from wherecast.spark import match, write_matches

    matched = match(readings, filters)
    matched.write.partitionBy(*by).parquet(str(tmp_path / "expected"))
    write_matches(readings, filters, tmp_path / "found", partition_by=by)

    assert folders_of(tmp_path / "found") == folders_of(tmp_path / "expected")
    expected, found = (written(spark, tmp_path / name) for name in ("expected", "found"))
    assert found.schema == expected.schema
    assert rows_of(found) == rows_of(expected)


def test_modes_are_those_of_spark(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path
) -> None:
    from wherecast.spark import match, write_matches

    path, count = tmp_path / "found", match(readings, filters).count()
    assert write_matches(readings, filters, path).rows == count
    with pytest.raises(ConfigError, match="exists already"):
        write_matches(readings, filters, path)
    assert not write_matches(readings, filters, path, mode="ignore").written
    assert written(spark, path).count() == count

    write_matches(readings, filters, path, mode="append", how="left")
    more = written(spark, path).count()
    assert more == count + match(readings, filters, "left").count()

    done = write_matches(readings, filters, path, mode="overwrite", how="semi")
    assert written(spark, path).count() == done.rows < count
    assert sorted(name for name in os.listdir(path) if name.startswith("_")) == ["_SUCCESS"]


def test_a_result_without_rows_can_be_read(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path
) -> None:
    from wherecast.spark import match, write_matches

    none = readings.where("no2 < 0")
    assert write_matches(none, filters, tmp_path / "found").rows == 0
    match(none, filters).write.parquet(str(tmp_path / "expected"))
    assert written(spark, tmp_path / "found").count() == 0
    assert written(spark, tmp_path / "found").schema == written(spark, tmp_path / "expected").schema
    write_matches(none, filters, tmp_path / "found", mode="append")
    assert len(shown_files(tmp_path / "found")) == 1


def failing_in_one_partition(frame: "DataFrame", name: str, once: Path | None) -> "DataFrame":
    """The same rows, but the task that meets one of them fails; with a path, only once."""
    where = None if once is None else str(once)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        from pathlib import Path

        for batch in batches:
            yield batch
            if name in batch.column("name").to_pylist() and not (where and Path(where).exists()):
                if where:
                    Path(where).touch()
                raise ValueError("on purpose")

    return frame.select("name", "no2", "city", "level").mapInArrow(
        run, "name string, no2 double, city string, level int"
    )


@pytest.mark.parametrize("mode", ["error", "append", "overwrite"])
def test_a_job_that_fails_leaves_nothing_to_see(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path, mode: Any
) -> None:
    from wherecast.spark import write_matches

    path, before = tmp_path / "found", 0
    if mode != "error":
        before = write_matches(readings, filters, path).rows
    seen = sorted(map(str, path.rglob("*")))
    bad = failing_in_one_partition(readings.coalesce(1), "r7", None)

    with pytest.raises(Exception, match="on purpose"):
        write_matches(bad, filters, path, mode=mode)

    assert sorted(map(str, path.rglob("*"))) == seen
    assert path.exists() == (mode != "error")
    if before:
        assert written(spark, path).count() == before


def test_what_other_tasks_stage_while_a_job_fails_is_never_seen(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path
) -> None:
    """A task that still runs when the job fails may stage its file after the clean-up."""
    from wherecast.spark import match, write_matches

    path = tmp_path / "found"
    with pytest.raises(Exception, match="on purpose"):
        write_matches(failing_in_one_partition(readings, "r7", None), filters, path)
    assert not path.exists() or os.listdir(path) == ["_wherecast"]
    write_matches(readings, filters, path)  # the mode is still that of a new directory
    assert rows_of(written(spark, path)) == rows_of(match(readings, filters))


def test_rows_of_a_repeated_task_are_there_once(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path
) -> None:
    from wherecast.spark import match, write_matches

    slow = failing_in_one_partition(readings, "r7", tmp_path / "failed")
    write_matches(slow, filters, tmp_path / "found", partition_by=["level"])
    assert (tmp_path / "failed").exists()
    expected = match(readings.select("name", "no2", "city", "level"), filters)
    columns = expected.columns
    assert rows_of(written(spark, tmp_path / "found").select(columns)) == rows_of(expected)


def test_what_a_dead_job_left_is_never_read(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path
) -> None:
    from wherecast.spark import match, write_matches

    path = tmp_path / "found"
    write_matches(readings, filters, path)
    dead = path / "_wherecast" / "staging" / "dead" / "attempt"
    dead.mkdir(parents=True)
    shutil.copy(shown_files(path)[0], dead / "part-00000-dead.parquet")
    assert rows_of(written(spark, path)) == rows_of(match(readings, filters))


def test_a_batch_is_written_once(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path
) -> None:
    from wherecast.spark import write_matches

    path = tmp_path / "found"
    first = write_matches(readings, filters, path, mode="append", batch=("q", 0))
    again = write_matches(readings, filters, path, mode="append", batch=("q", 0))
    other = write_matches(readings, filters, path, mode="append", batch=("q", 1))
    assert (first.written, again.written, other.written) == (True, False, True)
    assert written(spark, path).count() == 2 * first.rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "replace"}, "mode is one of"),
        ({"partition_by": "city"}, "partition_by is a list"),
        ({"partition_by": ["ciy"]}, "did you mean city"),
        ({"partition_by": ["no2"]}, "column no2 is double"),
        ({"partition_by": ["city", "City"]}, "names city twice"),
        ({"how": "outer"}, "how is one of"),
        ({"batch": ("a/b", 1)}, "batch is the name"),
        ({"batch": 7}, "batch is the name"),
        ({"where": 5}, "where is a Column"),
        ({"keep": ["nothing"]}, "was not compiled"),
    ],
)
def test_wrong_options_are_named(
    readings: "DataFrame", filters: "Filters", tmp_path: Path, options: Any, message: str
) -> None:
    from wherecast.spark import write_matches

    with pytest.raises(ConfigError, match=message):
        write_matches(readings, filters, tmp_path / "found", **options)
    assert not (tmp_path / "found").exists()


def test_a_stream_is_refused(
    spark: "SparkSession", readings: "DataFrame", filters: "Filters", tmp_path: Path
) -> None:
    from wherecast.spark import write_matches

    stream = spark.readStream.schema(readings.schema).parquet(str(tmp_path))
    with pytest.raises(ConfigError, match="publications is a stream"):
        write_matches(stream, filters, tmp_path / "found")


def test_columns_that_no_file_can_hold_are_named(
    spark: "SparkSession", filters: "Filters", tmp_path: Path
) -> None:
    from wherecast.spark import write_matches

    frame = spark.sql("SELECT 50D AS no2, 'x' AS city, 1 AS level, null AS nothing")
    with pytest.raises(ConfigError, match="nothing, which is void"):
        write_matches(frame, filters, tmp_path / "found")
