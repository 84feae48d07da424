"""The table of the demo: a line per micro-batch, printed when it is there, and per change."""

import pyarrow.compute as pc
from rich.console import Console
from rich.text import Text

from wherecast.cli import screen
from wherecast.cli.demo import demo_air
from wherecast.cli.demo.demo_air import AirChange
from wherecast.cli.demo.demo_eras import Era
from wherecast.cli.demo.demo_stream import MicroBatch

_FIXED = (
    ("batch", 5), ("filters", 9), ("readings", 8), ("matches", 7), ("notifications", 13), ("s", 4),
)  # fmt: skip
_COLUMNS = (*_FIXED, *((name, len(name)) for name in demo_air.SHOWN))
_PEOPLE = sum(width + 2 for _, width in _FIXED)  # where their columns begin
_WIDTH = sum(width for _, width in _COLUMNS) + 2 * len(_COLUMNS)
_BAR_MAX, _BAR_FULL = 36, 12_000  # cells, and the notifications that fill them


def show_heading(out: Console) -> None:
    """Says what the columns are."""
    out.print()
    out.print(Text(" " * _PEOPLE + "notifications to", "dim"), soft_wrap=True)
    names = _line([name for name, _ in _COLUMNS])
    out.print(Text(f"{names}  all" if _room(out) else names, "dim"), soft_wrap=True)


def show_micro_batch(out: Console, era: Era, batch: MicroBatch) -> None:
    """Shows what a micro-batch gave, to all and to three subscribers."""
    to = batch.notifications.column("subscriber")
    count = batch.notifications.num_rows
    cells = [
        str(batch.number),
        f"v{batch.version} {len(era.subscriptions):>6,}",
        f"{batch.publications:,}",
        f"{batch.matches:,}",
        f"{count:,}",
        f"{batch.seconds:.1f}",
        *(str(pc.sum(pc.equal(to, name)).as_py() or 0) for name in demo_air.SHOWN),
    ]
    bar = "█" * round(min(count / _BAR_FULL, 1) * _room(out))
    line = Text(_line(cells))
    line.stylize("cyan", _PEOPLE)
    out.print(line.append(f"  {bar}", "green") if bar else line, soft_wrap=True)


def show_change(out: Console, era: Era, change: AirChange) -> None:
    """Shows what changed in the filters, and from when on."""
    counts = [
        f"{screen.count(len(part), 'subscription')} {what}"
        for part, what in ((change.put, "added or changed"), (change.removed, "removed"))
        if part
    ]
    told = f"{', '.join(counts)} while it runs: v{era.version} from batch {era.first} on"
    out.print(Text(f"  ▶ {told}", "bold yellow"), soft_wrap=True)
    out.print(Text(f"    {change.told}", "yellow"), soft_wrap=True)


def _room(out: Console) -> int:
    """The cells of a full bar; none where there is little room."""
    room = min(_BAR_MAX, out.width - _WIDTH)
    return room if room >= _BAR_MAX // 2 else 0


def _line(cells: list[str]) -> str:
    """Cells under each other, each at the right of its column."""
    widths = [width for _, width in _COLUMNS]
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
