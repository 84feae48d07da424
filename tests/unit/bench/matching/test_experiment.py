"""The matching benchmark: complete rows, engines that agree, and a failure where one does not."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from wherecast.bench import Options, run
from wherecast.bench.experiments import EXPERIMENTS
from wherecast.bench.matching import engines as matching_engines
from wherecast.bench.matching import experiment as matching
from wherecast.bench.matching import one_by_one, start
from wherecast.bench.matching import peers as matching_peers
from wherecast.bench.matching import updates as matching_updates
from wherecast.bench.matching.cases import (
    SCALE,
    SMALL,
    MatchingCase,
    cases,
    equal_length,
    scale,
)
from wherecast.bench.matching.peers import DuckDB, is_installed
from wherecast.bench.measured import WrongResult, pair_hash
from wherecast.cli.entry import run as command
from wherecast.model import ConfigError, Schema
from wherecast.workloads import bluedove

FILTERS, PUBLICATIONS = 250, 300
NOT_WHOLE = {case.what for case in cases(None, None) if not case.whole and case.filters > SMALL}
JOINED = list(dict.fromkeys(case.workload for case in cases(None, None) if case.form))
JOINED.remove("rules")  # Polars has no join for it
EVERY_ROW = {
    "what", "engine", "filters", "publications", "matches", "matches/publication",
    "publications/s", "matches/s", "µs/publication", "best µs/publication", "hash",
}  # fmt: skip
COLUMNAR_ROW = EVERY_ROW | {
    "read seconds", "build seconds", "first build seconds", "bytes/filter", "table bytes/filter",
    "inner/publication", "leaf/publication", "checked/publication", "expected",
}  # fmt: skip
WHOLE_ROW = COLUMNAR_ROW | {
    "text to first match, s", "bulk adds/s", "bulk removes/s", "single adds/s", "single removes/s",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _few_publications(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measures few publications, and cases that differ only in their size once."""

    def fewer(size: int | None, only: str | None) -> Iterator[MatchingCase]:
        small = (replace(case, publications=PUBLICATIONS) for case in cases(size, only))
        yield from dict.fromkeys(small)

    monkeypatch.setattr(matching, "cases", fewer)
    monkeypatch.setattr(matching, "BULK", 100)
    monkeypatch.setattr(matching_updates, "BULK", 100)
    monkeypatch.setattr(matching_updates, "_SECONDS_MAX", 0.0)


def measured(only: str, size: int = FILTERS) -> list[dict[str, Any]]:
    return [row for row in matching.rows(size, 3, only) if isinstance(row, dict)]


def needs_peers() -> None:
    for name in ("duckdb", "polars"):
        if not is_installed(name):
            pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("workload", JOINED)
def test_every_engine_finds_the_same(workload: str) -> None:
    needs_peers()
    rows = measured(workload)
    for what in {row["what"] for row in rows}:
        mine = [row for row in rows if row["what"] == what and row["engine"] != "conjunctions"]
        columnar, scan, duckdb, polars = mine
        assert [row["engine"] for row in (columnar, scan, duckdb, polars)] == [
            "columnar", "scan", "duckdb", "polars",
        ]  # fmt: skip
        assert columnar.keys() >= (WHOLE_ROW if what not in NOT_WHOLE else COLUMNAR_ROW)
        assert all(row.keys() >= EVERY_ROW for row in (scan, duckdb, polars))
        assert columnar["filters"] == FILTERS
        assert columnar["publications"] == duckdb["publications"] == PUBLICATIONS
        for row in (duckdb, polars):
            assert (row["matches"], row["hash"]) == (columnar["matches"], columnar["hash"])
            assert row["times columnar"] > 0
    assert any(row["matches"] for row in rows)


def test_duckdb_finds_the_same_rules() -> None:
    needs_peers()
    rows = measured("rules")
    for what in {row["what"] for row in rows}:
        found = [row for row in rows if row["what"] == what]
        assert {row["engine"] for row in found} == {"columnar", "scan", "duckdb"}
        for row in found:
            if row["publications"] == PUBLICATIONS:
                assert (row["matches"], row["hash"]) == (found[0]["matches"], found[0]["hash"])
    assert any(row["matches"] for row in rows)


def test_each_or_stands_beside_its_conjunctions() -> None:
    rows = measured("alerts_or")
    whole = [row for row in rows if row["what"] == "alerts_or, wide"]
    index, split = (
        next(row for row in whole if row["engine"] == engine)
        for engine in ("columnar", "conjunctions")
    )
    assert split["matches"] > index["matches"]  # what passes both thresholds counts twice
    assert split["hash"] == index["hash"]  # of the filters
    assert split["times columnar"] > 0


def test_refused_filters_end_the_run() -> None:
    schema = Schema.from_dict({"a": "int"})
    with pytest.raises(WrongResult, match=r"1 of 2 filters were refused, the first: b = 1: "):
        matching_engines.read_table(pa.chunked_array([["a = 1", "b = 1"]]), schema)


def test_polars_finds_the_same_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_peers()
    monkeypatch.setattr(matching_peers, "_ONE_BY_ONE", 1)
    columnar, *_, polars = measured("bluedove")[:4]
    assert polars["engine"] == "polars"
    assert polars["hash"] == columnar["hash"]


def test_what_peers_cannot_do_is_scanned() -> None:
    assert [row["engine"] for row in measured("mixed")] == ["columnar", "scan"]


def test_files_and_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    size = ["--size", str(FILTERS), "--only", "sensors", "--directory", str(tmp_path)]
    assert command(["bench", "matching", *size]) == 0
    out = capsys.readouterr().out
    lines = (tmp_path / "matching.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["engine"] for row in rows} == {"columnar", "scan", "duckdb", "polars"}
    assert all({"seed", "commit", "cpu", "cores", "versions", "at"} <= row.keys() for row in rows)
    assert f"seed {rows[0]['seed']}" in out
    assert (tmp_path / "matching.png").read_bytes().startswith(b"\x89PNG")


def test_the_table_fits_120_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {name for view in matching.VIEWS for name in view.columns}
    row = {name: 1_234_567.0 if name.endswith("s/s") else 12.34 for name in names}
    row |= {"what": "bluedove, 40", "engine": "columnar", "filters": 1_000_000, "note": None}
    row |= {"publications": 20_000, "matches/s": 1_234_567_890.0, "workload": "bluedove"}
    one = replace(EXPERIMENTS["matching"], rows=lambda *_: iter([row]), panels=lambda _: [])
    monkeypatch.setitem(EXPERIMENTS, "matching", one)
    monkeypatch.setenv("COLUMNS", "120")
    run("matching", Options(directory=tmp_path))
    out = capsys.readouterr().out
    assert out.count("bluedove, 40 ") == len(matching.VIEWS)  # none is broken
    assert out.count("1,000,000") == len(matching.VIEWS)
    assert "1,234,567,890" in out


class TestWrongResults:
    @pytest.fixture(autouse=True)
    def _a_peer_that_loses_a_match(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Forgetful(DuckDB):
            def match(self, batch: pa.RecordBatch) -> pa.Table:
                return super().match(batch).slice(1)

        needs_peers()
        monkeypatch.setattr(matching, "PEERS", {"duckdb": Forgetful})

    def test_the_run_fails(self) -> None:
        with pytest.raises(WrongResult, match="duckdb found"):
            measured("sensors")

    def test_the_command_fails(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        size = ["--size", str(FILTERS), "--only", "sensors", "--directory", str(tmp_path)]
        assert command(["bench", "matching", *size]) == 1
        assert "duckdb found" in capsys.readouterr().err
        kept = (tmp_path / "matching.jsonl").read_text().splitlines()
        assert [json.loads(line)["engine"] for line in kept] == ["columnar", "scan"]


def test_a_missing_peer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching_engines, "is_installed", lambda name: False)
    notes = {row["engine"]: row.get("note") for row in measured("sensors")}
    assert notes["duckdb"] == notes["polars"] == "not installed"
    assert notes["columnar"] is None


def test_seeds_are_fresh_unless_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    none = replace(
        EXPERIMENTS["matching"],
        rows=lambda size, seed, only: iter(seen.append(seed) or []),  # type: ignore[func-returns-value]
        panels=lambda _: [],
    )
    monkeypatch.setitem(EXPERIMENTS, "matching", none)
    for seed in (7, None, None):
        run("matching", Options(seed=seed, directory=tmp_path))
    assert seen[0] == 7
    assert seen[1] != seen[2]


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean bluedove"):
        measured("bluedive")


def test_the_hash_knows_pairs_but_not_their_order() -> None:
    publications, numbers = np.array([0, 0, 1]), np.array([4, 5, 4])
    whole = pair_hash(publications, numbers)
    assert pair_hash(publications[::-1], numbers[::-1]) == whole
    assert pair_hash(np.array([0, 0, 1]), np.array([4, 5, 5])) != whole
    assert pair_hash(publications[:2], numbers[:2]) != whole


def test_sizes() -> None:
    default = {(case.what, case.filters) for case in cases(None, None)}
    assert {("bluedove", 40_000), ("bluedove, 40", 1_000_000), ("sensors", 10_000)} <= default
    assert max(case.filters for case in cases(2_000, None)) == 2_000
    assert [case.filters for case in scale(3_000)] == [1_000, 3_000]
    assert {case.what for case in scale(3_000)} == {SCALE}


def test_equal_matches_at_every_size() -> None:
    for filters in (1_000, 100_000):
        length = equal_length(filters, 135)
        assert bluedove(length=length).matches_per_publication(filters) == pytest.approx(135, 0.01)


def test_a_new_process_tells_its_first_match(capsys: pytest.CaptureFixture[str]) -> None:
    start.first_match(1)
    row = json.loads(capsys.readouterr().out)
    assert row["matches"] > 0
    assert row["text to first match, s"] >= row["first match seconds"] > 0


def test_publications_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_by_one, "_REPEATS", 1)
    rows = measured(one_by_one.ONE_BY_ONE)
    assert [row["engine"] for row in rows] == ["match_one", "match_one, no numba"]
    assert rows[0]["hash"] == rows[1]["hash"]
    for row in rows:
        assert row["matches"] > 0
        assert row["calls/s"] > 0
