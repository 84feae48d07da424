"""The Spark benchmark without Spark: its cases, its tables and its pictures."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wherecast.bench import Options, run
from wherecast.bench.experiments import EXPERIMENTS
from wherecast.bench.pictures import save_picture
from wherecast.bench.spark import experiment as spark
from wherecast.bench.spark.cases import NAMES, SCALE, cases
from wherecast.model import ConfigError

NUMBERS = {name: 12.34 for view in spark.VIEWS for name in view.columns}
ROW: dict[str, Any] = NUMBERS | {
    "what": "bluedove, 40", "engine": "cells lat, lon", "output": "arrays",
    "filters": 1_000_000, "publications": 2_000_000, "matches": 1_234_567, "times arrays": 1_234.0,
    "publications/s": 1_234_567.0, "match rows/s": 12_345_678.0,
    "received bytes/publication": 1_234.5, "worker MiB": 1_234.0,
}  # fmt: skip


def test_the_cases_that_targets_are_stated_for() -> None:
    found = {case.what: case for case in cases(None, None)}
    assert found["bluedove"].filters == 40_000
    assert found["bluedove"].publications == 2_000_000
    assert set(found["bluedove"].outputs) == {"arrays", "semi", "rows"}
    assert found["bluedove, 40"].filters == found["alerts"].filters == 1_000_000
    assert found["bluedove, 40"].outputs == ("rows",)
    assert found["alerts"].outputs == ("arrays",)
    assert all(case.joins for case in found.values())
    assert {*found, SCALE} == set(NAMES)


def test_one_case_one_workload_or_the_series() -> None:
    assert [case.what for case in cases(None, "bluedove, 40")] == ["bluedove, 40"]
    assert [case.what for case in cases(None, "bluedove")] == ["bluedove", "bluedove, 40"]
    series = [case.filters for case in cases(None, SCALE) if case.workload == "alerts"]
    assert series == [1_000, 10_000, 100_000, 1_000_000]


def test_a_size_bounds_filters_and_publications() -> None:
    for only in (None, SCALE):
        for case in cases(200, only):
            assert case.filters == 200
            assert case.publications <= 10_000


def test_an_unknown_workload_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean bluedove"):
        list(spark.rows(10, 1, "bluedive"))


def test_tables_fit_120_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(EXPERIMENTS["spark"], rows=lambda *_: iter([ROW]), panels=lambda _: [])
    monkeypatch.setitem(EXPERIMENTS, "spark", one)
    monkeypatch.setenv("COLUMNS", "120")
    run("spark", Options(directory=tmp_path))
    out = capsys.readouterr().out
    assert out.count("bluedove, 40 ") == len(spark.VIEWS)  # none is broken
    assert "12,345,678" in out
    assert "1,234,567" in out


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    series = [ROW | {"what": "scale, alerts", "filters": size} for size in (1_000, 10_000)]
    save_picture(spark.panels([ROW, *series]), "here", tmp_path / "spark.png")
    assert (tmp_path / "spark.png").read_bytes().startswith(b"\x89PNG")
