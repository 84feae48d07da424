"""The Spark benchmark: complete rows, joins that agree, and a failure where one does not."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from wherecast.bench.case import batch_of, filters_of
from wherecast.bench.matching.relations import Boxes
from wherecast.bench.measured import WrongResult
from wherecast.bench.spark import engines as spark_engines
from wherecast.bench.spark import experiment as bench
from wherecast.bench.spark import writes
from wherecast.bench.spark.cases import SparkCase, cases
from wherecast.bench.spark.frames import checked
from wherecast.bench.spark.joins import boxes_from
from wherecast.cli.entry import run as command
from wherecast.matching import Index
from wherecast.model import Schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.classic  # plans and processes are looked at from Java's side

FILTERS, SEED = 100, 3
LONG = ("bluedove", "geofence", "alerts_or")
EVERY_ROW = {
    "what", "workload", "engine", "output", "filters", "publications", "seconds", "best seconds",
    "publications/s", "repeats", "hash", "spark", "java", "master",
}  # fmt: skip
PAIRS = {"matches", "matches/publication", "match rows/s"}
MATCH_ROW = EVERY_ROW | {
    "sent bytes", "received bytes", "worker bytes", "worker private bytes", "transfer seconds",
    "transfer share", "read seconds",
}  # fmt: skip
JOIN_ROW = EVERY_ROW | PAIRS | {"join rows", "load seconds", "start seconds", "agrees with"}


@pytest.fixture(autouse=True)
def _few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_REPEATS", "_PEER_REPEATS"):
        monkeypatch.setattr(spark_engines, name, 1)
    monkeypatch.setattr(spark_engines, "_PROBE_STEP", 1_000)


def case_of(workload: str) -> SparkCase:
    [case] = [case for case in cases(FILTERS, workload) if case.what == workload]
    return case


def expected(case: SparkCase, publications: int) -> int:
    """The matches by the reference index, outside of Spark."""
    drawn = case.make(SEED)
    index = Index(drawn.schema, "scan")
    index.add_all(filters_of(drawn, FILTERS))
    return len(index.match(batch_of(drawn, publications)).indices)


@pytest.mark.parametrize(
    "workload", ["alerts", *(pytest.param(name, marks=pytest.mark.release) for name in LONG)]
)
def test_joins_find_what_match_finds(
    spark: "SparkSession", workload: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = replace(case_of(workload), written=0)
    monkeypatch.setattr(bench, "cases", lambda *_: [case])
    rows = [row for row in bench.rows(FILTERS, SEED) if isinstance(row, dict)]
    first, *own = (row for row in rows if row["engine"] == "match")
    joins = [row for row in rows if row["engine"] != "match"]
    assert [row["output"] for row in own] == list(case.outputs)
    assert [row["engine"] for row in joins] == [join.name for join in case.joins]
    assert first["first result seconds"] >= first["compile seconds"] > 0
    assert first["index bytes/filter"] > 0
    assert first["matches"] == expected(case, first["publications"]) > 0
    count = expected(case, case.publications)
    for row in own:
        assert row.keys() >= MATCH_ROW
        assert row["publications"] == case.publications
        assert row.get("matches", count) == count
        assert row["sent bytes"] > 0
        assert row["received bytes"] > 0
        assert row["worker bytes"] >= row["worker private bytes"] > 0
    for row in joins:
        assert row.keys() >= JOIN_ROW
        assert row["matches"] == expected(case, row["publications"]) > 0
        if row["publications"] == case.publications:
            assert row["hash"] == own[0]["hash"]
        assert all(row[f"times {output}"] > 0 for output in case.outputs)


def written_rows(spark: "SparkSession", home: Path) -> list[dict[str, Any]]:
    case = replace(case_of("bluedove"), written=500)
    made = spark_engines.bench_of(case, spark, home, SEED)
    _, filters = spark_engines.first_result(made)
    return list(writes.measure_writes(made, filters))


def test_both_writers_write_what_the_reference_finds(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "REPEATS", 1)
    by_spark, own = written_rows(spark, tmp_path)
    assert (by_spark["engine"], own["engine"]) == (writes.SPARK, writes.OWN)
    assert own["matches"] == by_spark["matches"] == expected(case_of("bluedove"), 500) > 0
    assert own["hash"] == by_spark["hash"]
    assert own["times write_matches"] == 1
    assert own["file bytes/match"] > 0
    assert not (tmp_path / "written").exists()


def test_a_writer_with_other_rows_is_noticed(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wherecast import spark as public

    whole = public.write_matches

    def some(publications: Any, *given: Any, **options: Any) -> Any:
        return whole(publications.where("publication % 2 = 0"), *given, **options)

    monkeypatch.setattr(writes, "REPEATS", 1)
    monkeypatch.setattr(public, "write_matches", some)
    with pytest.raises(WrongResult, match="write_matches found"):
        written_rows(spark, tmp_path)


def without_one(boxes: Boxes) -> Boxes:
    return replace(boxes, rows=boxes.rows.slice(1))


def with_two_ids_swapped(boxes: Boxes) -> Boxes:
    numbers = boxes.rows.column("number").to_pylist()
    numbers[:2] = numbers[1::-1]
    place = boxes.rows.column_names.index("number")
    swapped = pa.array(numbers, pa.int32())
    return replace(boxes, rows=boxes.rows.set_column(place, "number", swapped))


class TestWrongResults:
    """The filters of the joins are changed: that they find other matches must be noticed."""

    @pytest.fixture(
        autouse=True,
        params=[without_one, pytest.param(with_two_ids_swapped, marks=pytest.mark.release)],
    )
    def _changed_filters(
        self, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
    ) -> None:
        def changed(texts: pa.ChunkedArray, schema: Schema) -> Boxes:
            boxes: Boxes = request.param(boxes_from(texts, schema))
            return boxes

        monkeypatch.setattr(spark_engines, "boxes_from", changed)
        short = replace(case_of("bluedove"), outputs=("arrays",), written=0)
        monkeypatch.setattr(bench, "cases", lambda *_: [short])

    def test_the_run_fails(
        self, spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        where = ["--seed", str(SEED), "--directory", str(tmp_path)]
        assert command(["bench", "spark", *where]) == 1
        assert "range join found" in capsys.readouterr().err
        kept = [json.loads(line) for line in (tmp_path / "spark.jsonl").read_text().splitlines()]
        assert [row["output"] for row in kept] == ["first result", "arrays"]
        assert all(
            {"seed", "commit", "cpu", "cores", "versions", "at"} <= row.keys() for row in kept
        )


def test_the_hash_knows_pairs_but_not_their_order(spark: "SparkSession") -> None:
    def hash_of(*pairs: tuple[int, int]) -> tuple[int, str]:
        found = checked(spark.createDataFrame(list(pairs), "publication long, filter_id long"))
        return found.rows, found.hash

    whole = hash_of((0, 4), (0, 5), (1, 4))
    assert hash_of((1, 4), (0, 5), (0, 4)) == whole
    assert hash_of((0, 4), (0, 5), (1, 5)) != whole
    assert hash_of((0, 4), (0, 5)) != whole
    assert hash_of((0, 4), (0, 4)) != hash_of((0, 5), (0, 5))  # a sum besides the exclusive or
