"""Both runners give the same: on a workload of every kind of filter, and from files."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wherecast.cli.entry import run
from wherecast.pipeline.filters.loaded_filters import compile_filters
from wherecast.pipeline.spark.spark_runner import to_arrow
from wherecast.pipeline.stages import inline_runner
from wherecast.pipeline.stages.batch_task import JoinTask
from wherecast.pipeline.stages.result_columns import JoinPlan
from wherecast.workloads import mixed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_the_same_matches_of_a_mixed_workload(spark: "SparkSession", tmp_path: Path) -> None:
    from wherecast.spark import match

    workload = mixed(seed=3)
    filters = pa.Table.from_batches(workload.filters(200))
    publications = pa.Table.from_batches(workload.publications(400))
    numbered = publications.append_column("number", pa.array(range(publications.num_rows)))
    pq.write_table(filters, tmp_path / "filters.parquet")
    pq.write_table(numbered, tmp_path / "publications.parquet")

    frame = match(
        spark.read.parquet(str(tmp_path / "publications.parquet")).repartition(3),
        spark.read.parquet(str(tmp_path / "filters.parquet")),
    )
    found = to_arrow(frame.select("number", "filter_id"))

    compiled, _ = compile_filters(filters, workload.schema)
    task = JoinTask(compiled, JoinPlan(), (*numbered.column_names, "filter_id"))
    inside = inline_runner.run(task, numbered.to_batches(max_chunksize=100))
    expected = pa.Table.from_batches(inside).select(["number", "filter_id"])
    order = [("number", "ascending"), ("filter_id", "ascending")]
    assert expected.num_rows > 100
    assert found.sort_by(order).to_pylist() == expected.sort_by(order).to_pylist()


@pytest.mark.parametrize("open_", [True, False])
def test_the_same_file_of_matches(
    spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str], open_: bool
) -> None:
    rows: list[dict[str, Any]] = [
        {"row": 1, "no2": 45.0, "sensor": {"id": "a"}, "seen": "2026-05-01T12:00:00Z"},
        {"row": 2, "no2": 12.0, "sensor": {"id": "b"}},
        {"row": 3, "no2": -1.0},
        {"row": 4, "sensor.id": "a", "seen": "2026-05-01T14:00:00+02:00"},
    ]
    if open_:
        rows += [{"row": 5, "x": 5}, {"row": 6, "x": "five"}]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "air.toml").write_text(
        f'open = {str(open_).lower()}\n[attributes]\nrow = "int"\nseen = "timestamp"\n'
        'no2 = { type = "float", min = 0 }\n"sensor.id" = "string"\n'
    )
    texts = ["no2 > 10", "sensor.id = 'a'", "seen = '2026-05-01T12:00:00Z'", "TRUE"]
    texts += ["x = 5", "x = 'five'"] if open_ else []
    filters = [{"id": number, "filter": text} for number, text in enumerate(texts)]
    (tmp_path / "f.jsonl").write_text("\n".join(map(json.dumps, filters)))

    for runner in ("spark", "inline"):
        files = ["--filters", "f.jsonl", "--publications", "in.jsonl", "--schema", "air.toml"]
        named = [part if part.startswith("--") else str(tmp_path / part) for part in files]
        out = ["--output", str(tmp_path / f"{runner}.jsonl"), "--runner", runner]
        assert run(["match", *named, *out]) == 0
        line, err = capsys.readouterr()
        assert "1 publication refused" in err
        assert (f"/s) on Spark {spark.version} local[2,2], which took " in line) == (
            runner == "spark"
        )

    spark_rows = (tmp_path / "spark.jsonl").read_text()
    assert spark_rows == (tmp_path / "inline.jsonl").read_text()
    found = [(row["row"], row["filter_id"]) for row in map(json.loads, spark_rows.splitlines())]
    expected = [(1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 3), (4, 1), (4, 2), (4, 3)]
    assert found == expected + ([(5, 3), (5, 4), (6, 3), (6, 5)] if open_ else [])


def test_figures_as_json_say_where_it_ran(
    spark: "SparkSession", tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "f.csv").write_text("id,filter\n1,n > 1\n")
    (tmp_path / "p.csv").write_text("n\n1\n2\n")
    files = {"--filters": "f.csv", "--publications": "p.csv", "--output": "o.csv"}
    named = [part for option, name in files.items() for part in (option, str(tmp_path / name))]

    assert run(["match", *named, "--json"]) == 0

    report = json.loads(capsys.readouterr().out)
    assert report["spark_start_seconds"] > 0
    expected = {"runner": "spark", "spark_version": spark.version, "spark_master": "local[2,2]"}
    assert report.items() >= (expected | {"publications": 2, "filters": 1, "matches": 1}).items()


def test_a_warm_up_runs_a_job_in_the_workers(spark: "SparkSession", tmp_path: Path) -> None:
    from wherecast.pipeline.spark.warm_up import warm_up

    found = warm_up(spark, tmp_path)
    assert found >= 2
    assert found % 2 == 0, "both filters match each row"
