"""The latency benchmark without Spark: its cases, its tables, its picture and its proof."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from wherecast.bench import Options, run
from wherecast.bench.broker.broker_load import BrokerLoad
from wherecast.bench.experiments import EXPERIMENTS
from wherecast.bench.latencies import distributions, latency_columns
from wherecast.bench.latency import bare_sync, publish_to_take
from wherecast.bench.latency import experiment as latency
from wherecast.bench.measured import WrongResult
from wherecast.bench.pictures import save_picture
from wherecast.model import ConfigError

COSTS = {"CPU µs/publication", "switches/publication"}
NUMBERS = {name: 12.34 for view in latency.VIEWS for name in view.columns}
ROW: dict[str, Any] = NUMBERS | latency_columns([0.2, 0.3, 123.4]) | {
    "what": "latency, inline, WebSocket", "publications": 20_000, "matches": 2_345_678,
    "publications/s": 123_456.0, "on disk": "synced", "filter by": "content",
}  # fmt: skip
del ROW["skipped"]


@pytest.fixture
def _few_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer subscriptions, so that drawing the load is quick."""
    for name, value in (("SUBSCRIPTIONS", 500), ("SYMBOLS", 50)):
        monkeypatch.setattr(publish_to_take, name, value)


def rows_of(only: str, size: int, directory: Path) -> Iterator[dict[str, Any]]:
    yield from run("latency", Options(size, 1, directory, as_json=True, only=only))


@pytest.mark.usefixtures("_few_filters")
def test_in_memory_all_matches_come(tmp_path: Path) -> None:
    [row] = rows_of("memory", 20, tmp_path)
    assert row["publications"] == 20
    load = publish_to_take.drawn(520, 1)
    assert row["matches"] == load.matches[-20:].sum() >= 20
    assert row.keys() >= COSTS
    assert (row["on disk"], row["filter by"]) == ("no", "content")


@pytest.mark.usefixtures("_few_filters")
def test_durable_has_bare_syncs_beside(tmp_path: Path) -> None:
    syncs, row = rows_of("durable", 20, tmp_path)
    assert (syncs["what"], syncs["publications"]) == ("bare sync", 20)
    assert row["sync p50 ms"] == syncs["p50 ms"]
    assert row["target p50 ms"] == syncs["p50 ms"] + 0.5
    assert (row["publications"], row["on disk"]) == (20, "synced")
    assert row["matches"] >= 20


@pytest.mark.slow
@pytest.mark.usefixtures("_few_filters")
def test_threads_share_the_publications(tmp_path: Path) -> None:
    rows = list(rows_of("threads", 20, tmp_path))
    assert [(row["threads"], row["publications"]) for row in rows] == [
        (1, 20), (1, 20), (8, 16), (8, 16),
    ]  # fmt: skip
    assert [row["on disk"] for row in rows] == ["no", "synced"] * 2
    assert all(row["matches"] >= row["publications"] and row.keys() >= COSTS for row in rows)


@pytest.mark.release
def test_a_server_has_its_costs_and_bare_syncs_beside(tmp_path: Path) -> None:
    [row] = rows_of("server", 100, tmp_path)
    assert row["publications"] == row["matches"] == 100
    assert row.keys() >= COSTS | {"sync p99 ms", "client CPU µs/publication", "on disk"}
    assert row["switches/publication"] > 0


@pytest.mark.usefixtures("_few_filters")
def test_a_lost_match_ends_the_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn = publish_to_take.drawn

    def one_more(count: int, seed: int) -> BrokerLoad:
        load = drawn(count, seed)
        load.matches[0] += 1
        return load

    monkeypatch.setattr(publish_to_take, "drawn", one_more)
    with pytest.raises(WrongResult, match=r"memory: .* matches were delivered instead of"):
        list(rows_of("memory", 5, tmp_path))


@pytest.mark.release
def test_a_websocket_at_a_rate_and_as_fast_as_it_goes(tmp_path: Path) -> None:
    paced, fast = rows_of("websocket", 100, tmp_path)
    assert paced["publications"] == paced["matches"] == 100
    assert fast["publications"] == fast["matches"] == 100
    assert paced.keys() >= COSTS | {"sync p99 ms", "quantiles ms"}
    assert fast.keys() >= COSTS | {"publications/s", "on disk"}


def test_a_bare_sync_appends_each_block(tmp_path: Path) -> None:
    row = bare_sync.bare_syncs(7, tmp_path)
    assert (row["publications"], row["bytes"]) == (7, 7 * 4_096)
    assert list(tmp_path.iterdir()) == []


def test_a_row_has_its_distribution() -> None:
    row = {"what": "this", **latency_columns([float(n) for n in range(101)])}
    assert (row["publications"], row["p50 ms"], row["p99 ms"]) == (101, 50, 99)
    assert {share: millis for share, millis in row["quantiles ms"] if share in (0, 25, 100)} == {
        0: 0, 25: 25, 100: 100,
    }  # fmt: skip
    lines = distributions([row, {"what": "that"}])
    assert lines.keys() == {"this"}
    assert lines["this"][0] == (0, 0)
    assert lines["this"][-1] == (100, 100)


def test_an_unknown_case_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean peers"):
        list(latency.rows(10, 1, "peer"))


def test_tables_fit_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(EXPERIMENTS["latency"], rows=lambda *_: iter([ROW]), panels=lambda _: [])
    monkeypatch.setitem(EXPERIMENTS, "latency", one)
    monkeypatch.setenv("COLUMNS", "80")
    run("latency", Options(directory=tmp_path))
    out = capsys.readouterr().out
    assert out.count("latency, inline, WebSocket ") == len(
        latency.VIEWS
    )  # in all but one, and when done
    assert "2,345,678" in out
    assert "123,456" in out


def test_pictures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    for rows in ([ROW], []):
        save_picture(latency.panels(rows), "here", tmp_path / "latency.png")
        assert (tmp_path / "latency.png").read_bytes().startswith(b"\x89PNG")
