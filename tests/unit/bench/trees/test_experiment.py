"""The benchmark of trees: kinds that agree, complete rows, published beside measured figures."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from wherecast.bench.matching import updates as matching_updates
from wherecast.bench.measured import WrongResult
from wherecast.bench.trees import cases as trees_cases
from wherecast.bench.trees import changes as trees_changes
from wherecast.bench.trees import experiment as trees
from wherecast.bench.trees.cases import CASES, cases
from wherecast.bench.trees.published_figures import published_rows
from wherecast.cli.entry import run as command
from wherecast.matching import Index
from wherecast.model import ConfigError

EVERY_ROW = {
    "what", "engine", "filters", "publications", "matches", "matches/publication",
    "publications/s", "matches/s", "µs/publication", "build/s", "hash", "expected",
}  # fmt: skip
TREE_ROW = EVERY_ROW | {
    "checked/publication", "bytes/filter", "depth", "bulk adds/s", "bulk removes/s",
    "single adds/s", "single removes/s", "inserts/s", "removes/s", "add, CPU µs", "remove, CPU µs",
    "match after add, CPU µs", "match after remove, CPU µs", "adds/CPU s", "best removes/CPU s",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _little(monkeypatch: pytest.MonkeyPatch) -> None:
    few = tuple(trees_cases.replace(case, publications=200) for case in CASES)
    monkeypatch.setattr(trees_cases, "CASES", few)
    monkeypatch.setattr(trees_cases, "SIZES", (100, 300))
    for module in (trees, matching_updates):
        monkeypatch.setattr(module, "BULK", 100)
    monkeypatch.setattr(trees, "SINGLES", 200)
    monkeypatch.setattr(matching_updates, "_SECONDS_MAX", 0.0)
    monkeypatch.setattr(trees_changes, "_SECONDS_MAX", 0.0)


def measured(only: str) -> list[dict[str, Any]]:
    return [row for row in trees.rows(None, 3, only) if isinstance(row, dict)]


@pytest.mark.parametrize("what", [case.what for case in CASES])
def test_all_kinds_find_the_same(what: str) -> None:
    rows = [row for row in measured(what) if "engine" in row]
    for filters in (100, 300):
        same = [row for row in rows if row["filters"] == filters]
        assert [row["engine"] for row in same] == ["columnar", "betree", "forest", "scan"]
        assert len({row["hash"] for row in same if row["engine"] != "scan"}) == 1
        assert all(row.keys() >= EVERY_ROW for row in same)
    assert all(row.keys() >= TREE_ROW for row in same[1:3])


def test_a_kind_that_loses_a_match_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Index.match

    def forgetful(self: Index, publications: Any) -> Any:
        return whole(self, shifted(publications) if self.kind == "forest" else publications)

    monkeypatch.setattr(Index, "match", forgetful)
    with pytest.raises(WrongResult, match="columnar and forest found different matches"):
        measured("sensors")


def shifted(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The publications, each in the place of another."""
    [one] = pa.Table.from_batches([batch.slice(1), batch.slice(0, 1)]).combine_chunks().to_batches()
    return one


def test_published_figures_stand_beside_measured_ones() -> None:
    times = {("betree", 1_000): 2.0, ("betree", 5_000): 3.0, ("betree", 10_000): 4.0,
             ("forest", 1_000): 5.0, ("forest", 5_000): 15.0, ("forest", 10_000): 40.0}  # fmt: skip
    rows = [
        {"what": "sensor files", "engine": engine, "filters": filters, "µs/publication": time}
        for (engine, filters), time in times.items()
    ]
    found = [(row["what"], row["filters"], row["published"], row["measured"])
             for row in published_rows(rows)]  # fmt: skip
    assert ("betree, µs/publication", 10_000, "5", 4.0) in found
    assert ("forest, µs/publication", 10_000, "≈ 50", 40.0) in found
    assert ("forest / betree", 5_000, "≈ 5", 5.0) in found
    assert ("forest / betree", 10_000, "≈ 10", 10.0) in found
    assert all(row["differs"] for row in published_rows(rows))
    machines = {
        row["figure"]: row["differs"] for row in published_rows(rows) if "/pub" in row["what"]
    }
    assert "with queueing" in machines["elastic BE-Tree, 7.2"]
    assert "without queueing" in machines["CUPUS, 25"]
    assert "Java" not in machines["CUPUS, 25"]
    assert list(published_rows([])) == []


def test_files_and_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    assert command(["bench", "trees", "--only", "srem", "--directory", str(tmp_path)]) == 0
    rows = [json.loads(line) for line in (tmp_path / "trees.jsonl").read_text().splitlines()]
    assert {row["engine"] for row in rows} == {"columnar", "betree", "forest", "scan"}
    assert f"seed {rows[0]['seed']}" in capsys.readouterr().out
    assert (tmp_path / "trees.png").read_bytes().startswith(b"\x89PNG")


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean stocks"):
        measured("stock")


def test_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    every = list(cases(None, None))
    assert {case.filters for case in every} == {1_000, 5_000, 10_000, 100_000}
    assert {case.what for case in every} >= {"sensors", "stocks", "bluedove", "srem", "srem, hot"}
    assert [case.filters for case in cases(2_000, "srem")] == [1_000, 2_000]
    large = next(case for case in every if case.what == "bluedove" and case.filters == 100_000)
    assert large.kinds == ["columnar", "betree"]
