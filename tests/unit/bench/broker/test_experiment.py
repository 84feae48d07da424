"""The broker benchmark without Spark: its cases, its tables, its picture and its proof."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wherecast.bench import Options, run
from wherecast.bench.broker import experiment as broker
from wherecast.bench.broker import grouping_cost, publish_rate, worker_cost
from wherecast.bench.broker.broker_load import BrokerLoad
from wherecast.bench.experiments import EXPERIMENTS
from wherecast.bench.measured import WrongResult
from wherecast.bench.pictures import save_picture
from wherecast.model import ConfigError
from wherecast.pipeline.live.stage.group_matches import NOTHING

NUMBERS = {name: 12.34 for view in broker.VIEWS for name in view.columns}
ROW: dict[str, Any] = NUMBERS | {
    "what": "publish 8 × 1,000", "threads": 8, "batch": 1_000, "publications": 400_000,
    "matches": 2_345_678, "notifications": 20_000_000, "publications/s": 123_456.0,
    "target publications/s": 50_000, "rate/s": 10_000.0, "p99 ms": 1_234.0, "segments left": 123,
    "subscriptions": 1_000_000,
}  # fmt: skip


def test_the_cases_that_targets_are_stated_for() -> None:
    found = {(case.threads, case.batch): case.publications for case in publish_rate.cases(None)}
    assert found == {(1, 1_000): 400_000, (8, 1_000): 400_000}
    for case in publish_rate.cases(10):
        assert case.publications % (case.threads * case.batch) == 0


def test_every_publication_of_a_load_matches() -> None:
    load = BrokerLoad.drawn(50, seed=3)
    assert len(load.publications) == len(load.matches) == 50
    assert load.matches.min() >= 1
    assert load.publications == BrokerLoad.drawn(50, seed=3).publications
    wanted = int(load.matches.sum())
    assert load.check("this", wanted) == wanted
    with pytest.raises(WrongResult, match="this: 1 matches were delivered"):
        load.check("this", 1)


def test_grouping_is_compared_with_its_twin() -> None:
    rows = list(grouping_cost.measure(100, seed=3))
    assert [row["matches"] for row in rows] == [100, 1_000, 10_000]
    assert all(row["grouping ratio"] > 0 for row in rows)


def test_other_notifications_than_the_twin_gives_end_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grouping_cost, "group_matches", lambda *_: NOTHING)
    with pytest.raises(WrongResult, match="give different notifications"):
        list(grouping_cost.measure(100, seed=3))


def test_a_worker_loads_a_snapshot_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = worker_cost.measure(2_000, 3, tmp_path)
    assert (row["subscriptions"], row["publications"]) == (2_000, 1_000)
    assert 0 < row["load s"] < row["first match s"]
    monkeypatch.setattr(worker_cost, "_expected", lambda _: -1)
    with pytest.raises(WrongResult, match="instead of -1"):
        worker_cost.measure(100, 3, tmp_path / "other")


def test_an_unknown_case_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean segments"):
        list(broker.rows(10, 1, "segment"))


@pytest.mark.slow
@pytest.mark.parametrize("only", ["publish", "segments"])
def test_rows_carry_their_proof(only: str, tmp_path: Path) -> None:
    rows = run("broker", Options(20, 1, tmp_path, as_json=True, only=only))
    assert all(row["matches"] >= row["publications"] for row in rows)
    assert len(rows) == {"publish": 2, "segments": 2}[only]


def test_tables_fit_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(EXPERIMENTS["broker"], rows=lambda *_: iter([ROW]), panels=lambda _: [])
    monkeypatch.setitem(EXPERIMENTS, "broker", one)
    monkeypatch.setenv("COLUMNS", "80")
    run("broker", Options(directory=tmp_path))
    out = capsys.readouterr().out
    assert out.count("publish 8 × 1,000 ") == len(broker.VIEWS) + 1  # none is broken
    assert "2,345,678" in out
    assert "20,000,000" in out
    assert "123,456" in out


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for rows in ([ROW], []):
        save_picture(broker.panels(rows), "here", tmp_path / "broker.png")
        assert (tmp_path / "broker.png").read_bytes().startswith(b"\x89PNG")
