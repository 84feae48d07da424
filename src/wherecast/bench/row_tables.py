"""Rows of an experiment as tables on screen."""

from typing import Any, Literal

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from wherecast.bench.progress import Row, View


def show_tables(console: Console, rows: list[Row], views: tuple[View, ...]) -> None:
    """Prints a table per view that has rows; without views, one table with all columns."""
    names = dict.fromkeys(name for row in rows for name in row)
    for view in views or (View("what", {name: name for name in names}),):
        having = [row for row in rows if view.needs in row]
        if having:
            console.print(_table(having, view))


def _table(rows: list[Row], view: View) -> Table:
    """The rows as a table, numbers to the right; units are in the column names."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    names = [name for name in view.columns if any(row.get(name) is not None for row in rows)]
    for name in names:
        numeric = any(isinstance(row.get(name), int | float) for row in rows)
        justify: Literal["left", "right"] = "right" if numeric else "left"
        table.add_column(view.columns[name], justify=justify, overflow="fold", no_wrap=numeric)
    for row in rows:
        table.add_row(*(_text(row.get(name)) for name in names))
    return table


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
