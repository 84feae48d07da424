"""What the demo shows."""

import shlex
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from wherecast.cli import screen
from wherecast.cli.demo import demo_air
from wherecast.cli.demo.demo_eras import Era
from wherecast.cli.demo.demo_stream import MicroBatch
from wherecast.cli.explain_filter import verdicts
from wherecast.language import Filter
from wherecast.model import Subscription, format_time
from wherecast.model.times import time_micros
from wherecast.pipeline.spark.session_status import Whereabouts
from wherecast.pipeline.stages.batch_stages import DeadLetter

_LATEST = 3  # notifications shown in a list, the last of them explained
_Seen = Sequence[tuple[Era, MicroBatch]]


def show_start(out: Console, publications: int, subscriptions: list[Subscription]) -> None:
    """Says what will happen."""
    subscribers = len({s.subscriber for s in subscriptions})
    out.print(Text("Wherecast demo: who hears what about the air", "bold"))
    out.print(
        f"{screen.count(publications, 'reading')} of {len(demo_air.CITIES)} cities are published;"
        f" {subscribers:,} subscribers have {screen.count(len(subscriptions), 'subscription')},"
        " each a WHERE clause. One streaming query on local Spark matches them, and follows their"
        " changes without a restart."
    )


def show_arrivals(out: Console, seen: _Seen, publications: pa.Table) -> None:
    """Shows for three subscribers what they asked for, what arrived, and why one of it did."""
    for subscriber in demo_air.SHOWN:
        mine = [
            _Notification(era, batch.number, row["publication"], row["subscription_ids"])
            for era, batch in seen
            for row in _of(batch.notifications, subscriber).to_pylist()
        ]
        title = f"{subscriber}: {screen.count(len(mine), 'notification')}"
        out.print()
        out.print(Rule(Text(title, "bold"), align="left"))
        out.print(_asked([era for era, _ in seen], subscriber, mine))
        latest = mine[-_LATEST:]
        out.print(Padding(_latest(latest, publications), (1, 0, 1, 0)))
        for notification in latest[-1:]:
            _explain(out, notification, publications, notification.era.of(subscriber))


@dataclass(frozen=True, slots=True)
class _Notification:
    """A notification of one subscriber.

    Attributes:
        era: that it belongs to.
        batch: the number of its micro-batch.
        publication: its number.
        subscription_ids: that matched.
    """

    era: Era
    batch: int
    publication: int
    subscription_ids: list[str]


def _of(notifications: pa.Table, subscriber: str) -> pa.Table:
    return notifications.filter(pc.equal(notifications.column("subscriber"), subscriber))


def _explain(
    out: Console,
    notification: _Notification,
    publications: pa.Table,
    asked: dict[str, Subscription],
) -> None:
    """Says why the subscriptions of a notification matched, and why one of the others did not."""
    reading = _publication(publications, notification.publication)
    matched = notification.subscription_ids
    others = [id for id in sorted(asked) if id not in matched]
    for id in [*matched, *others[-1:]]:
        explanation = Filter(asked[id].filter, demo_air.schema()).explain(reading)
        did = "matched" if explanation.matched else "did not match"
        line = Text.assemble("Why ", (id, "cyan"), f" {did} the last one, of {reading['station']}:")
        out.print(line)
        out.print(Padding(verdicts(explanation, header=False), (0, 0, 0, 2)))


def _asked(eras: list[Era], subscriber: str, mine: list[_Notification]) -> Table:
    """The subscriptions of a subscriber, when they were in force, and what they gave."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("subscription", no_wrap=True)
    table.add_column("filter", overflow="fold")
    table.add_column("batches", justify="right", no_wrap=True)
    table.add_column("matches", justify="right", no_wrap=True)
    force: dict[tuple[str, str], list[int]] = {}
    for number, era in enumerate(eras, 1):
        for id, subscription in era.of(subscriber).items():
            force.setdefault((id, subscription.filter), []).append(number)
    counts = Counter(
        (id, n.era.of(subscriber)[id].filter) for n in mine for id in n.subscription_ids
    )
    for (id, text), batches in sorted(force.items(), key=lambda each: (each[0][0], each[1])):
        when = f"{batches[0]}–{batches[-1]}"
        changed = len(batches) < len(eras)
        style = "yellow" if changed else ""
        table.add_row(Text(id, "cyan"), Text(text), Text(when, style), f"{counts[id, text]:,}")
    return table


def _latest(latest: list[_Notification], publications: pa.Table) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for name in ("seen", "station", "no2", "pm10", "temp"):
        table.add_column(
            name, justify="right" if name in ("no2", "pm10", "temp") else "left", no_wrap=True
        )
    table.add_column("because of", overflow="fold")
    for notification in latest:
        reading = _publication(publications, notification.publication)
        seen = format_time(time_micros(reading["seen"]))[:16].replace("T", " ")
        numbers = [
            "–" if reading[n] is None else f"{reading[n]:g}" for n in ("no2", "pm10", "temp")
        ]
        ids = ", ".join(notification.subscription_ids)
        table.add_row(seen, reading["station"], *numbers, Text(ids, "cyan"))
    return table


def _publication(publications: pa.Table, number: int) -> dict[str, Any]:
    row: dict[str, Any] = publications.slice(number, 1).to_pylist()[0]
    del row["number"]
    return row


def show_figures(
    out: Console, seen: _Seen, refused: tuple[DeadLetter, ...], where: Whereabouts
) -> None:
    """Shows the totals."""
    batches = [batch for _, batch in seen]
    notifications = sum(batch.notifications.num_rows for batch in batches)
    versions = len({batch.version for batch in batches})
    slowest = max(batch.seconds for batch in batches[1:])
    out.print()
    out.print(Rule(Text("Totals", "bold"), align="left"))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column("what")
    table.add_column("figure", justify="right")
    table.add_column("note", style="dim", overflow="fold")
    for what, figure, note in (
        ("publications", sum(batch.publications for batch in batches), ""),
        ("  refused", len(refused), f"such as: {refused[0].reason}" if refused else ""),
        (
            "subscriptions",
            len(seen[-1][0].subscriptions),
            f"{len(seen[0][0].subscriptions):,} at first",
        ),
        ("matches", sum(batch.matches for batch in batches), "a publication and a subscription"),
        ("notifications", notifications, "one per publication and subscriber"),
        ("micro-batches", len(batches), f"of one query on {where}, started once"),
        ("versions", versions, "of the filters, one per micro-batch"),
    ):
        table.add_row(what, f"{figure:,}", Text(note, "dim"))
    middle = f"after the first, which starts the workers; the slowest took {slowest:.1f}"
    table.add_row("s/micro-batch", f"{median(b.seconds for b in batches[1:]):.1f}", middle)
    out.print(table)
    same = f"Checked: the inline runner gives the same {notifications:,} notifications"
    out.print(Text(f"{same}, micro-batch by micro-batch.", "green"))


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
