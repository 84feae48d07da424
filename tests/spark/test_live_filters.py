"""Filters that change while a streaming query runs: each micro-batch uses one version of them."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.spark.services import LIMIT_S, until
from wherecast import ConfigError, Filter, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from wherecast.spark import FilterSet

pytestmark = pytest.mark.spark
COLUMNS = "name string, air struct<no2: double, o3: double>, city string"
SCHEMA = Schema.from_dict(
    {"name": "string", "air.no2": "float", "air.o3": "float", "city": "string"}
)
GIVEN = "id string, filter string, email string"
Rows = list[tuple[Any, ...]]

# The filters of each step, and the readings that arrive then.
STEPS: list[dict[str, str]] = [
    {"high": "air.no2 > 40", "zagreb": "city = 'Zagreb'"},
    {"high": "air.no2 > 60", "ozone": "air.o3 BETWEEN 10 AND 20"},
    {"s": "city LIKE 'S%'", "ozone": "air.o3 > air.no2"},
    {"low": "air.no2 <= 20", "none": "air.o3 IS NULL"},
    {"all": "TRUE"},
]
TOLD = 4  # steps of the story


def readings(step: int) -> list[dict[str, Any]]:
    cities = ["Zagreb", "Split", "Sisak", None]
    return [
        {
            "name": f"{step}-{number}",
            "air": {"no2": (number * 7 + step) % 100, "o3": number if number % 3 else None},
            "city": cities[number % 4],
        }
        for number in range(40)
    ]


def expected(step: int) -> Rows:
    filters = {id: Filter(text, SCHEMA) for id, text in STEPS[step].items()}
    found: Rows = []
    for row in readings(step):
        flat = {"name": row["name"], "city": row["city"]}
        flat |= {f"air.{key}": value for key, value in row["air"].items()}
        given = {key: value for key, value in flat.items() if value is not None}
        found += [(row["name"], id, f"{id}@{step}") for id in filters if filters[id].matches(given)]
    return found


def table(step: int) -> pa.Table:
    ids = list(STEPS[step])
    columns = {"id": ids, "filter": list(STEPS[step].values())}
    return pa.table({**columns, "email": [f"{id}@{step}" for id in ids]})


@contextmanager
def driver(directory: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A running live query; killed when it is left."""
    program = Path(__file__).with_name("live_driver.py")
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with (directory / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, str(program), str(directory)],
            env=environment, start_new_session=True, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # Python and its JVM
        process.wait()


def ended(process: "subprocess.Popen[bytes]") -> bool:
    return process.poll() is not None


def arrive(directory: Path, step: int) -> None:
    """Puts the readings of a step where the query finds them, whole."""
    (directory / "in").mkdir(exist_ok=True)
    file = directory / f"{step}.json"
    file.write_text("\n".join(map(json.dumps, readings(step))))
    os.utime(file, (1e9 + step, 1e9 + step))  # Spark takes the oldest first
    file.rename(directory / "in" / file.name)


def committed(directory: Path, step: int) -> bool:
    return (directory / "state" / "commits" / str(step)).exists()


def written(directory: Path, step: int) -> Rows:
    """What a micro-batch wrote, without what a killed one left."""
    lines = (directory / "out" / "_spark_metadata" / str(step)).read_text().splitlines()[1:]
    names = [Path(json.loads(line)["path"]).name for line in lines]
    tables = [pq.read_table(directory / "out" / name) for name in names]
    return sorted(tuple(row.values()) for one in tables for row in one.to_pylist())


class Story:
    """The steps, one after the other, by drivers that may be killed."""

    def __init__(self, directory: Path) -> None:
        from wherecast.spark import FilterSet

        directory.mkdir()
        self.directory = directory
        self.filters = FilterSet(directory / "set", SCHEMA, keep=["email"])
        self.filters.add(table(0))

    def begin(self, step: int) -> None:
        """Changes the filters, then lets the readings arrive."""
        self.filters.replace(table(step))
        if step == 1:
            (self.directory / "fail").touch()
        arrive(self.directory, step)

    def end(self, step: int, process: "subprocess.Popen[bytes]") -> None:
        until(f"step {step} is done", lambda: ended(process) or committed(self.directory, step))
        assert not ended(process)

    def kill_in(self, step: int, process: "subprocess.Popen[bytes]") -> None:
        """Leaves a driver in the middle of a step, its version fixed and nothing written."""
        (self.directory / "hold").touch()
        self.begin(step)
        pins = self.directory / "set" / "pins"
        until("a version is fixed", lambda: ended(process) or [*pins.glob(f"*/{step:020}")])
        assert not ended(process)
        os.killpg(process.pid, signal.SIGKILL)
        assert not committed(self.directory, step)
        self.filters.replace(table(step + 1))  # which the repeated batch must not see
        (self.directory / "hold").unlink()

    def written(self) -> list[Rows]:
        return [written(self.directory, step) for step in range(TOLD)]


def told_plainly(directory: Path) -> list[Rows]:
    story = Story(directory)
    with driver(directory) as process:
        for step in range(TOLD):
            story.begin(step)
            story.end(step, process)
    return story.written()


def told_with_a_kill(directory: Path, killed_at: int) -> list[Rows]:
    story = Story(directory)
    with driver(directory) as process:
        for step in range(killed_at):
            story.begin(step)
            story.end(step, process)
        story.kill_in(killed_at, process)
    with driver(directory) as process:
        story.end(killed_at, process)
        for step in range(killed_at + 1, TOLD):
            story.begin(step)
            story.end(step, process)
    return story.written()


@pytest.mark.release
@pytest.mark.classic
def test_a_driver_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    wanted = [sorted(expected(step)) for step in range(TOLD)]
    assert all(wanted)

    assert told_plainly(tmp_path / "plain") == wanted
    assert (tmp_path / "plain" / "failed").exists()  # and a task was tried again
    assert told_with_a_kill(tmp_path / "killed", 2) == wanted


@pytest.fixture
def filters(tmp_path: Path) -> "FilterSet":
    from wherecast.spark import FilterSet

    return FilterSet(tmp_path / "set", SCHEMA, keep=["email"])


def stream(spark: "SparkSession", directory: Path, steps: int, files: int) -> "DataFrame":
    for step in range(steps):
        arrive(directory, step)
    reader = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", files)
    return reader.json(str(directory / "in"))


def run(frame: "DataFrame", directory: Path, each: Callable[["DataFrame", int], None]) -> None:
    writer = frame.writeStream.foreachBatch(each).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(directory / "state")).start()
    assert query.awaitTermination(LIMIT_S)


@pytest.mark.classic  # the function of foreachBatch shares variables
def test_a_micro_batch_never_mixes_versions(
    spark: "SparkSession", filters: "FilterSet", tmp_path: Path
) -> None:
    from wherecast.spark import match

    def version(number: int) -> pa.Table:
        return pa.table({"id": [f"v{number}"], "filter": ["TRUE"], "email": [None]}).cast(
            pa.schema([("id", pa.string()), ("filter", pa.string()), ("email", pa.string())])
        )

    filters.add(version(0))
    ended = threading.Event()

    def change() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            filters.replace(version(number))

    found: dict[int, Rows] = {}

    def note(batch: "DataFrame", number: int) -> None:
        found[number] = [tuple(row) for row in batch.select("name", "filter_id").collect()]

    source = stream(spark, tmp_path, 4, 1).repartition(6)
    changes = threading.Thread(target=change)
    changes.start()
    try:
        run(match(source, filters), tmp_path, note)
    finally:
        ended.set()
        changes.join()

    assert sorted(found) == [0, 1, 2, 3]
    for rows in found.values():
        assert len(rows) == 40
        assert len({id for _, id in rows}) == 1
    assert len({rows[0][1] for rows in found.values()}) > 1


def test_filters_of_a_parquet_table_that_come_and_go(
    spark: "SparkSession", filters: "FilterSet", tmp_path: Path
) -> None:
    from wherecast.spark import match

    pq.write_table(table(0), tmp_path / "filters.parquet")
    filters.add(spark.read.parquet(str(tmp_path / "filters.parquet")))
    (tmp_path / "in").mkdir()
    source = spark.readStream.schema(COLUMNS).json(str(tmp_path / "in"))
    found = match(source, filters, how="left", output="arrays").writeStream.format("memory")
    query = found.option("checkpointLocation", str(tmp_path / "state")).queryName("found").start()
    try:
        arrive(tmp_path, 0)
        query.processAllAvailable()
        filters.remove(spark.createDataFrame([("high",), ("zagreb",)], "id string"))
        arrive(tmp_path, 1)  # none are left, the columns are
        query.processAllAvailable()
        filters.add(table(2))
        arrive(tmp_path, 2)
        query.processAllAvailable()
        rows = spark.table("found").select("name", "filter_ids", "email").collect()
    finally:
        query.stop()

    assert len(rows) == 3 * 40
    matches = [(name, *one) for name, *lists in rows for one in zip(*lists, strict=True)]
    assert sorted(matches) == sorted(expected(0) + expected(2))


@pytest.mark.classic  # the function of foreachBatch shares variables
def test_in_foreach_batch_a_version_is_pinned_by_name(
    spark: "SparkSession", filters: "FilterSet", tmp_path: Path
) -> None:
    from wherecast.spark import match

    filters.add(table(0))
    found: list[Rows] = []

    def each(batch: "DataFrame", number: int) -> None:
        for _ in range(2):  # as if the batch were repeated
            rows = match(batch, filters.pinned("readings", number)).collect()
            found.append(sorted((row["name"], row["filter_id"], row["email"]) for row in rows))
            filters.replace(table(1))

    run(stream(spark, tmp_path, 2, 1), tmp_path, each)

    assert found == [sorted(expected(0))] * 2 + [sorted(expected(1))] * 2


def test_columns_may_be_spelled_in_any_case(spark: "SparkSession", filters: "FilterSet") -> None:
    from wherecast.spark import match

    for id, names in (("a", "ID string, Filter string, Email string"), ("b", GIVEN)):
        filters.add(spark.createDataFrame([(id, "city = 'S1'", f"{id}@example.org")], names))
    filters.add(pa.table({"id": ["c"], "filter": ["TRUE"], "email": ["c@example.org"]}))
    assert filters.filters().keep == ("email",)
    found = match(spark.createDataFrame([("r", (1.0, 2.0), "S1")], COLUMNS), filters).collect()
    assert {row.filter_id: row.email for row in found} == {id: f"{id}@example.org" for id in "abc"}


def test_ids_to_be_removed_are_a_column_of_a_batch_frame(
    spark: "SparkSession", filters: "FilterSet"
) -> None:
    rows = [(id, "TRUE", "e") for id in "abc"]
    filters.add(spark.createDataFrame(rows, GIVEN))
    with pytest.raises(
        ConfigError, match=r"^the ids have no column id; their columns are k\.1, l$"
    ):
        filters.remove(spark.createDataFrame([("a", "b")], "`k.1` string, l string"))
    with pytest.raises(ConfigError, match=r"^ids are a batch DataFrame, not a streaming one$"):
        filters.remove(spark.readStream.format("rate").load())
    filters.remove(spark.createDataFrame([("a",)], "`k.1` string"))
    assert filters.remove(spark.createDataFrame([("b", 1)], "ID string, `k.1` int")).removed == 1
    assert len(filters) == 1


def test_a_batch_frame_uses_the_newest_version_or_the_one_it_is_given(
    spark: "SparkSession", filters: "FilterSet", tmp_path: Path
) -> None:
    from wherecast.spark import match

    arrive(tmp_path, 0)
    batch = spark.read.schema(COLUMNS).json(str(tmp_path / "in"))
    with pytest.raises(ConfigError, match="nothing was added"):
        match(batch, filters)
    first = filters.add(table(0)).version
    filters.replace(table(4))
    assert {row["filter_id"] for row in match(batch, filters).collect()} == {"all"}
    old = match(batch, filters.filters(first)).collect()
    assert sorted((r["name"], r["filter_id"], r["email"]) for r in old) == sorted(expected(0))


def test_what_a_set_and_a_stream_do_not_agree_on(
    spark: "SparkSession", filters: "FilterSet", tmp_path: Path
) -> None:
    from wherecast.spark import FilterSet, compile_filters, match

    filters.add(table(0))
    source = stream(spark, tmp_path, 1, 1)
    with pytest.raises(ConfigError, match="a FilterSet has a schema of its own"):
        match(source, filters, schema=SCHEMA)
    other = FilterSet(tmp_path / "other", source.schema)
    other.add(table(0).drop_columns("email"))
    with pytest.raises(
        ConfigError, match=r"the filters name city \(filter 'zagreb' for one\), whi"
    ):
        match(source.drop("city"), other)
    frame = spark.createDataFrame([("f7", "city = 'Split'")], "id string, filter string")
    compiled = compile_filters(frame, source.schema)
    with pytest.raises(ConfigError, match=r"the filters name city \(filter 'f7' for one\), which"):
        match(source.drop("city"), compiled)


@pytest.mark.classic  # the function of foreachBatch shares variables
def test_filters_may_come_to_name_any_column_where_the_schema_is_open(
    spark: "SparkSession", tmp_path: Path
) -> None:
    from wherecast.spark import FilterSet, match

    filters = FilterSet(tmp_path / "set", Schema.from_dict({"name": "string"}, open=True))
    filters.add(table(4).drop_columns("email"))
    names: dict[int, list[str]] = {}

    def note(batch: "DataFrame", number: int) -> None:
        names[number] = [row["name"] for row in batch.collect()]
        filters.replace(pa.table({"id": ["s"], "filter": ["city = 'Split'"]}))

    run(match(stream(spark, tmp_path, 2, 1), filters, how="semi"), tmp_path, note)

    assert len(names[0]) == 40
    assert sorted(names[1]) == sorted(row["name"] for row in readings(1) if row["city"] == "Split")
