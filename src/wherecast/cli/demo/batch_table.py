"""The table of the demo: a line per micro-batch and per change of the filters, as they come."""

import pyarrow.compute as pc
from rich.console import Console
from rich.text import Text

from wherecast.cli import screen
from wherecast.cli.demo import air
from wherecast.cli.demo.air import AirChange
from wherecast.cli.demo.eras import Era
from wherecast.cli.demo.micro_batches import ShownBatch

_FIXED = (
    ("batch", 5), ("filters", 9), ("readings", 8), ("matches", 7), ("notifications", 13), ("s", 4),
)  # fmt: skip
_COLUMNS = (*_FIXED, *((name, len(name)) for name in air.SHOWN))
_PEOPLE = sum(width + 2 for _, width in _FIXED)  # where the columns of the shown subscribers begin
_WIDTH = sum(width for _, width in _COLUMNS) + 2 * len(_COLUMNS)
_BAR_MAX, _BAR_FULL = 36, 12_000  # cells, and the notifications that fill them


def show_heading(out: Console) -> None:
    """Prints the names of the columns."""
    out.print()
    out.print(Text(" " * _PEOPLE + "notifications to", "dim"), soft_wrap=True)
    names = _line([name for name, _ in _COLUMNS])
    out.print(Text(f"{names}  all" if _room(out) else names, "dim"), soft_wrap=True)


def show_micro_batch(out: Console, era: Era, batch: ShownBatch) -> None:
    """Prints the figures of a micro-batch: for all subscribers, and for three of them."""
    receivers = batch.notifications().column("subscriber")
    count = len(receivers)
    cells = [
        str(batch.number),
        f"v{batch.version} {len(era.subscriptions):>6,}",
        f"{batch.publications:,}",
        f"{batch.matches.num_rows:,}",
        f"{count:,}",
        f"{batch.seconds:.1f}",
        *(str(pc.sum(pc.equal(receivers, name)).as_py() or 0) for name in air.SHOWN),
    ]
    bar = "█" * round(min(count / _BAR_FULL, 1) * _room(out))
    line = Text(_line(cells))
    line.stylize("cyan", _PEOPLE)
    out.print(line.append(f"  {bar}", "green") if bar else line, soft_wrap=True)


def show_change(out: Console, era: Era, change: AirChange) -> None:
    """Prints the change of the filters and the first micro-batch that uses it."""
    counts = [
        f"{screen.count(len(part), 'subscription')} {what}"
        for part, what in ((change.put, "added or changed"), (change.removed, "removed"))
        if part
    ]
    line = f"{', '.join(counts)} while it runs: v{era.version} from batch {era.first} on"
    out.print(Text(f"  ▶ {line}", "bold yellow"), soft_wrap=True)
    out.print(Text(f"    {change.summary}", "yellow"), soft_wrap=True)


def _room(out: Console) -> int:
    """The width of a full bar in cells; 0 on a narrow screen."""
    room = min(_BAR_MAX, out.width - _WIDTH)
    return room if room >= _BAR_MAX // 2 else 0


def _line(cells: list[str]) -> str:
    """The cells of a row, each aligned to the right of its column."""
    widths = [width for _, width in _COLUMNS]
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
