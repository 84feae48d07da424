"""Pictures of experiments: panels of lines or of bars, with the machine, the seed and the date."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wherecast.bench.progress import Row

_COLOURS = {
    "columnar": "#4477aa", "match": "#4477aa", "betree": "#66ccee", "forest": "#228833",
    "duckdb": "#ee6677", "range": "#ee6677", "polars": "#aa3377", "cells": "#ccbb44",
    "scan": "#999999",
}  # fmt: skip
_BAR, _TARGET = "#4477aa", "#ee6677"
_COLUMNS_MAX = 3
_PANEL_INCHES = (4.8, 3.6)
_DPI = 110


@dataclass(frozen=True)
class Lines:
    """A panel with a line per engine or case, both axes logarithmic.

    Attributes:
        title: title of the panel.
        x, y: labels of the axes, with units.
        lines: the points of each line, by its name.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class Bars:
    """A panel with a horizontal bar per row, the axis logarithmic.

    Attributes:
        title: title of the panel.
        x: label of the axis, with its unit.
        bars: the length of each bar, by its name, from the top.
        targets: the target of some bars, by their names.
    """

    title: str
    x: str
    bars: Mapping[str, float]
    targets: Mapping[str, float]


@dataclass(frozen=True)
class Distributions:
    """A panel with the cumulative distribution of each case, its horizontal axis logarithmic.

    Attributes:
        title: title of the panel.
        x, y: labels of the axes, with units.
        lines: the points of each line, from left to right: a value, and the percentage up to it.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]


Panel = Lines | Bars | Distributions


def lines_of(rows: Iterable[Row], title: str, by: str) -> Lines:
    """Time per publication against the number of filters, a line per value of the column `by`."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        points.setdefault(row[by], []).append((row["filters"], row["µs/publication"]))
    lines = {name: sorted(some) for name, some in points.items()}
    return Lines(title, "filters", "µs per publication, one core", lines)


def bars_of(rows: Iterable[Row], column: str, title: str, x: str) -> Bars:
    """A bar per row that has the column, with the column `target …` beside it."""
    having = [row for row in rows if column in row]
    targets = {row["what"]: row[f"target {column}"] for row in having if f"target {column}" in row}
    return Bars(title, x, {row["what"]: row[column] for row in having}, targets)


def figure_text(value: float) -> str:
    """A figure to three digits, without an exponent: `104,000`, `12.3`."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 100 else f"{rounded:g}"


def save_picture(panels: Sequence[Panel], caption: str, path: Path) -> None:
    """Draws the panels in rows of three, with the caption below, into a PNG file."""
    from matplotlib.figure import Figure

    columns = min(_COLUMNS_MAX, max(1, len(panels)))
    rows = max(1, -(-len(panels) // columns))
    size = (max(2, columns) * _PANEL_INCHES[0], rows * _PANEL_INCHES[1] + 0.4)
    figure = Figure(figsize=size, layout="constrained")
    for place, panel in enumerate(panels, 1):
        axes = figure.add_subplot(rows, columns, place)
        axes.set_title(panel.title, loc="left", fontsize="medium")
        axes.spines[["top", "right"]].set_visible(False)
        match panel:
            case Lines():
                draw_lines(axes, panel)
            case Bars():
                draw_bars(axes, panel)
            case Distributions():
                draw_distributions(axes, panel)
    figure.supxlabel(caption, fontsize="small", color="#555555")
    figure.savefig(path, dpi=_DPI)


def draw_lines(axes: Any, panel: Lines) -> None:
    """Draws a line per name, each in the legend."""
    for name, points in panel.lines.items():
        axes.plot(*zip(*points, strict=True), marker="o", label=name, color=_colour(name))
    axes.set(xscale="log", yscale="log", xlabel=panel.x, ylabel=panel.y)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: figure_text(value))
        axis.set_minor_formatter("")
    axes.grid(which="major", color="#dddddd", linewidth=0.6)
    if panel.lines:
        axes.legend(frameon=False, fontsize="small")


def draw_distributions(axes: Any, panel: Distributions) -> None:
    """Draws a line per name, each in the legend, over values on a logarithmic axis."""
    for name, points in panel.lines.items():
        axes.plot(*zip(*points, strict=True), label=name)
    axes.set(xscale="log", xlabel=panel.x, ylabel=panel.y, ylim=(0, 101))
    axes.xaxis.set_major_formatter(lambda value, _: figure_text(value))
    axes.xaxis.set_minor_formatter("")
    axes.grid(which="major", color="#dddddd", linewidth=0.6)
    if panel.lines:
        axes.legend(frameon=False, fontsize="x-small", loc="center left", bbox_to_anchor=(1, 0.5))


def draw_bars(axes: Any, panel: Bars) -> None:
    """Draws a bar per name with its figure, and the targets as lines that the legend names."""
    axes.set_xlabel(panel.x)
    if not panel.bars:
        return
    names, values = list(panel.bars)[::-1], list(panel.bars.values())[::-1]
    bars = axes.barh(names, values, color=[_colour(name) or _BAR for name in names])
    axes.bar_label(bars, [f" {figure_text(value)}" for value in values])
    label = "target"
    for place, name in enumerate(names):
        if name in panel.targets:
            ends = [panel.targets[name]] * 2
            axes.plot(ends, [place - 0.4, place + 0.4], color=_TARGET, label=label)
            label = "_target"  # one entry in the legend is enough
    if panel.targets:
        axes.legend(frameon=False, fontsize="small", loc="lower right")
    every = [*values, *panel.targets.values()]
    axes.set_xscale("log")
    axes.set_xlim(min(every) / 4, max(every) * 8)
    axes.xaxis.set_major_formatter(lambda value, _: figure_text(value))
    axes.xaxis.set_minor_formatter("")


def _colour(name: str) -> str | None:
    """The colour of an engine, the same in all pictures; None for other names."""
    return next((shade for start, shade in _COLOURS.items() if name.startswith(start)), None)
