"""Pictures: panels as data, figures for people, a size that can be read, a caption."""

from pathlib import Path

import pytest

from wherecast.bench import EXPERIMENTS
from wherecast.bench.matching import experiment as matching
from wherecast.bench.pictures import (
    Bars,
    Distributions,
    Lines,
    bars_of,
    draw_bars,
    draw_distributions,
    draw_lines,
    figure_text,
    save_picture,
)

ROWS = [
    {"what": "bluedove", "engine": engine, "filters": filters, "µs/publication": filters / 7}
    for engine in ("columnar", "duckdb", "polars")
    for filters in (1_000, 104_000)
]


@pytest.mark.parametrize(
    ("value", "text"),
    [(104_123.0, "104,000"), (1e6, "1,000,000"), (123.4, "123"), (12.345, "12.3"), (0.01, "0.01")],
)
def test_figures_have_three_digits_and_no_exponent(value: float, text: str) -> None:
    assert figure_text(value) == text


def test_the_picture_of_matching_has_every_engine() -> None:
    own, by_engine = matching.panels(ROWS)
    assert isinstance(own, Lines)
    assert isinstance(by_engine, Lines)
    assert set(own.lines) == {"bluedove"}
    assert set(by_engine.lines) == {"columnar", "duckdb", "polars"}
    assert by_engine.lines["duckdb"] == [(1_000, 1_000 / 7), (104_000, 104_000 / 7)]


def test_targets_stand_beside_their_bars() -> None:
    rows = [
        {"what": "accept", "publications/s": 70_000.0, "target publications/s": 20_000},
        {"what": "latency", "p50 ms": 3.0},
    ]
    panel = bars_of(rows, "publications/s", "throughput", "publications per second")
    assert panel.bars == {"accept": 70_000.0}
    assert panel.targets == {"accept": 20_000}


class TestDrawn:
    @pytest.fixture(autouse=True)
    def _matplotlib(self) -> None:
        pytest.importorskip("matplotlib")

    def test_every_line_has_a_name(self) -> None:
        from matplotlib.figure import Figure

        lines, bars = Figure().subplots(1, 2)
        draw_lines(lines, Lines("t", "filters", "µs", {"columnar": [(1, 2)], "scan": [(1, 3)]}))
        targets = {"a": 104_000.0, "b": 2.0}
        draw_bars(bars, Bars("t", "s", {"a": 1.04e5, "b": 1.0, "c": 2.0}, targets))
        shown = [text.get_text() for text in lines.get_legend().get_texts()]
        assert shown == ["columnar", "scan"]
        assert [text.get_text() for text in bars.get_legend().get_texts()] == ["target"]
        assert " 104,000" in [text.get_text() for text in bars.texts]

    def test_a_distribution_is_a_line_up_to_all(self) -> None:
        from matplotlib.figure import Figure

        axes = Figure().subplots()
        lines = {"memory": [(0.1, 0.0), (0.2, 50.0), (3.0, 100.0)], "durable": [(1.0, 100.0)]}
        draw_distributions(axes, Distributions("t", "milliseconds", "%", lines))
        assert [text.get_text() for text in axes.get_legend().get_texts()] == list(lines)
        assert axes.get_xscale() == "log"
        assert axes.get_ylim()[1] > 100
        assert list(axes.lines[0].get_ydata()) == [0.0, 50.0, 100.0]

    def test_many_panels_stay_readable(self, tmp_path: Path) -> None:
        from matplotlib.image import imread

        panel = Lines("t", "filters", "µs", {"columnar": [(1_000, 2.0), (100_000, 3.0)]})
        save_picture([panel] * 7, "a processor, 2 cores, seed 3, 2026-01-01", tmp_path / "p.png")
        height, width, _ = imread(tmp_path / "p.png").shape
        assert 1_000 <= width <= 1_920
        assert height <= 1_400


def test_the_help_lists_the_experiments(capsys: pytest.CaptureFixture[str]) -> None:
    from wherecast.cli.entry import run

    assert run(["bench", "--help"]) == 0
    shown = capsys.readouterr().out
    for name in EXPERIMENTS:
        assert f"{name}:" in shown
