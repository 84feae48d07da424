"""What the demo shows."""

import shlex
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from wherecast.cli import demo_air, screen
from wherecast.cli.explain import verdicts
from wherecast.language import Filter
from wherecast.model import Subscription, format_time
from wherecast.model.times import time_micros
from wherecast.pipeline.stages import DeadLetter

_LATEST = 3  # notifications shown in a list, the last of them explained


@dataclass(frozen=True, slots=True)
class Figures:
    """The totals of a run."""

    publications: int
    refused: tuple[DeadLetter, ...]
    subscriptions: int
    matches: int
    notifications: int
    micro_batches: int
    seconds: float
    index: str


def show_start(out: Console, publications: int, subscriptions: list[Subscription]) -> None:
    """Says what will happen."""
    subscribers = len({s.subscriber for s in subscriptions})
    out.print(Text("Wherecast demo: who hears what about the air", "bold"))
    out.print(
        f"{screen.count(publications, 'reading')} of {len(demo_air.CITIES)} cities are published;"
        f" {subscribers} subscribers have {screen.count(len(subscriptions), 'subscription')},"
        " each a WHERE clause.\nA streaming query on local Spark matches them."
    )


def show_arrivals(
    out: Console,
    notifications: pa.Table,
    publications: pa.Table,
    subscriptions: list[Subscription],
) -> None:
    """Shows for three subscribers what they asked for, what arrived, and why one of it did."""
    for subscriber in demo_air.SHOWN:
        mine = notifications.filter(pc.equal(notifications.column("subscriber"), subscriber))
        title = f"{subscriber}: {screen.count(len(mine), 'notification')}"
        out.print()
        out.print(Rule(Text(title, "bold"), align="left"))
        asked = {s.id: s for s in subscriptions if s.subscriber == subscriber}
        counts = Counter(id for ids in mine.column("subscription_ids").to_pylist() for id in ids)
        out.print(_asked(asked, counts))
        latest = mine.slice(max(0, len(mine) - _LATEST)).to_pylist()
        out.print(Padding(_latest(latest, publications), (1, 0, 1, 0)))
        for notification in latest[-1:]:
            _explain(out, notification, publications, asked)


def _explain(
    out: Console,
    notification: dict[str, Any],
    publications: pa.Table,
    asked: dict[str, Subscription],
) -> None:
    """Says why the subscriptions of a notification matched, and why one of the others did not."""
    reading = _publication(publications, notification["publication"])
    matched = notification["subscription_ids"]
    others = [id for id in sorted(asked) if id not in matched]
    for id in [*matched, *others[-1:]]:
        explanation = Filter(asked[id].filter, demo_air.schema()).explain(reading)
        did = "matched" if explanation.matched else "did not match"
        line = Text.assemble("Why ", (id, "cyan"), f" {did} the last one, of {reading['station']}:")
        out.print(line)
        out.print(Padding(verdicts(explanation, header=False), (0, 0, 0, 2)))


def _asked(asked: dict[str, Subscription], counts: Counter[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("subscription", no_wrap=True)
    table.add_column("filter", overflow="fold")
    table.add_column("matches", justify="right", no_wrap=True)
    for id, subscription in sorted(asked.items()):
        table.add_row(Text(id, "cyan"), Text(subscription.filter), f"{counts[id]:,}")
    return table


def _latest(latest: list[dict[str, Any]], publications: pa.Table) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("seen", "station", "no2", "pm10", "temp"):
        table.add_column(
            name, justify="right" if name in ("no2", "pm10", "temp") else "left", no_wrap=True
        )
    table.add_column("because of", overflow="fold")
    for notification in latest:
        reading = _publication(publications, notification["publication"])
        seen = format_time(time_micros(reading["seen"]))[:16].replace("T", " ")
        numbers = [
            "–" if reading[n] is None else f"{reading[n]:g}" for n in ("no2", "pm10", "temp")
        ]
        ids = ", ".join(notification["subscription_ids"])
        table.add_row(seen, reading["station"], *numbers, Text(ids, "cyan"))
    return table


def _publication(publications: pa.Table, number: int) -> dict[str, Any]:
    row: dict[str, Any] = publications.slice(number, 1).to_pylist()[0]
    del row["number"]
    return row


def show_figures(out: Console, figures: Figures) -> None:
    """Shows the totals."""
    out.print()
    out.print(Rule(Text("Totals", "bold"), align="left"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column("what")
    table.add_column("figure", justify="right")
    table.add_column("note", style="dim", overflow="fold")
    refused = figures.refused[0].reason if figures.refused else ""
    each = figures.publications / figures.seconds
    for what, figure, note in (
        ("publications", f"{figures.publications:,}", ""),
        ("  refused", f"{len(figures.refused):,}", f"such as: {refused}" if refused else ""),
        ("subscriptions", f"{figures.subscriptions:,}", ""),
        ("matches", f"{figures.matches:,}", "a publication and a subscription"),
        ("notifications", f"{figures.notifications:,}", "one per publication and subscriber"),
        ("micro-batches", f"{figures.micro_batches:,}", ""),
        ("seconds", f"{figures.seconds:.1f}", "of the streaming query, its start included"),
        ("publications/s", f"{each:,.0f}", f"with the {figures.index} index"),
    ):
        table.add_row(what, figure, Text(note, "dim"))
    out.print(table)
    same = f"Checked: the inline runner gives the same {figures.notifications:,} notifications."
    out.print(Text(same, "green"))


def show_next(out: Console, folder: Path) -> None:
    """Shows three commands to try, as they can be typed here."""
    command, place = _command(), shlex.quote(str(folder))
    reading = """'{"station": "LJU-2", "no2": 61.5}'"""
    where = "\"station LIKE 'LJU-%' AND (no2 > 50 OR pm10 > 50)\""
    out.print()
    out.print(Rule(Text("Try next", "bold"), align="left"))
    files = f"--filters {place}/filters.jsonl --publications {place}/readings.jsonl"
    more = f"--schema {place}/air.toml --output {place}/matches"
    for line in (
        f"{command} explain {where} {reading}",
        f"{command} match {files} {more}.csv",
        f"{command} match {files} {more}.jsonl --runner inline",
    ):
        out.print(Text(line), soft_wrap=True)


def _command() -> str:
    """The command as it was called: by name where the name finds it, else by its path."""
    called = Path(sys.argv[0])
    found = shutil.which("wherecast")
    if called.name != "wherecast" or (found and Path(found).resolve() == called.resolve()):
        return "wherecast"
    try:
        return str(called.resolve().relative_to(Path.cwd().resolve()))
    except ValueError:
        return shlex.quote(str(called))
