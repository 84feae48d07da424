"""The sections of the demo on the screen, around the table of micro-batches."""

import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from wherecast.cli import screen
from wherecast.cli.demo import air, homes
from wherecast.cli.demo.eras import Era
from wherecast.cli.demo.join_comparison import JoinComparison, TimedQuery
from wherecast.cli.demo.micro_batches import ShownBatch
from wherecast.cli.demo.near_miss import NearMiss
from wherecast.cli.explain_filter import verdicts
from wherecast.pipeline.spark.session_status import Whereabouts
from wherecast.pipeline.stages.batch_stages import RejectedRow


def show_start(out: Console) -> None:
    """Prints the title."""
    out.print(Text("Wherecast demo: who hears what about the air", "bold"))
    out.print("A filter is a WHERE clause. Spark finds the filters that each reading satisfies.")


def show_spark(out: Console, where: Whereabouts, seconds: float) -> None:
    """Prints how long Spark took to start."""
    line = f"{where} and its Python workers started in {screen.seconds(seconds)}"
    out.print(Text(f"{line}; no figure below includes that.", "dim"), soft_wrap=True)


def show_section(out: Console, title: str) -> None:
    """Prints the title of a section."""
    out.print()
    out.print(Rule(Text(title, "bold"), align="left"))


def show_join_title(out: Console) -> None:
    """Prints the title of the comparison."""
    show_section(out, f"1  {homes.FILTERS:,} filters on Spark, with Wherecast and without")


def show_join(out: Console, result: JoinComparison) -> None:
    """Prints `match` beside the range join, and the ratio."""
    out.print(Text.assemble("a filter   ", (result.example, "cyan")), soft_wrap=True)
    compiled = f"{result.filters:,} such filters compiled in"
    out.print(Text(f"once       {compiled} {screen.seconds(result.compile_seconds)}", "dim"))
    out.print()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for name in ("readings", "matches", "s", "readings/s"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("hash of matches", no_wrap=True, style="dim")
    table.add_row(
        "wherecast.spark.match",
        *_cells(result.match),
        _rate(result.match_readings_per_s),
        _short(result.match.hash),
    )
    sample, join = result.match_sample, result.join
    table.add_row("  on a sample", *_cells(sample), "", _short(sample.hash))
    rate = _rate(result.join_readings_per_s)
    table.add_row("Spark's range join", *_cells(join), rate, _short(join.hash))
    out.print(table)
    same = f"Same {join.matches:,} matches on the sample, by count and hash."
    out.print(Text(same, "green"), soft_wrap=True)
    ratio = f"A reading takes Spark's range join {_rate(result.ratio)} times as long as match."
    out.print(Text(ratio, "bold green"), soft_wrap=True)


def _cells(query: TimedQuery) -> tuple[str, str, str]:
    return f"{query.readings:,}", f"{query.matches:,}", f"{query.seconds:.1f}"


def _rate(per_s: float) -> str:
    """A rate to three digits."""
    return f"{float(f'{per_s:.3g}'):,.0f}"


def _short(hash: str) -> str:
    return f"{hash[:14]}…"


def show_stream_title(out: Console) -> None:
    """Prints the title of the stream."""
    show_section(out, "2  Filters that change while a stream runs")
    out.print(
        f"{screen.count(air.PUBLICATIONS, 'reading')} arrive in {air.MICRO_BATCHES} micro-batches."
        f" One query follows {screen.count(air.SUBSCRIPTIONS, 'subscription')} that change."
    )


def show_stream_end(
    out: Console, results: Sequence[tuple[Era, ShownBatch]], refused: Sequence[RejectedRow]
) -> None:
    """Prints the totals of the stream, and the check."""
    batches = [batch for _, batch in results]
    matches = sum(batch.matches.num_rows for batch in batches)
    notifications = sum(batch.notifications().num_rows for batch in batches)
    versions = len({batch.version for batch in batches})
    publications = sum(batch.publications for batch in batches)
    out.print()
    out.print(
        f"{screen.count(publications, 'reading')}, {screen.count(matches, 'match')},"
        f" {screen.count(notifications, 'notification')} in {len(batches)} micro-batches with"
        f" {versions} versions."
    )
    for letter in refused[:1]:
        out.print(Text(f"{len(refused)} readings refused, such as: {letter.reason}", "dim"))
    same = f"Checked: wc.Index in this process finds the same {matches:,} matches"
    out.print(Text(f"{same}, micro-batch by micro-batch.", "green"))


def show_near_miss(out: Console, miss: NearMiss) -> None:
    """Prints why a reading did not match a subscription."""
    subscription, reading = miss.subscription, miss.reading
    show_section(out, f"3  Why did {subscription.subscriber} not hear of reading {miss.number:,}?")
    out.print(
        Text.assemble(
            f"Station {reading['station']} measured no2 = {reading['no2']:g}. Subscription ",
            (subscription.id, "cyan"), " is ", (subscription.filter, "cyan"),
        )
    )  # fmt: skip
    out.print(Padding(verdicts(miss.explanation, header=False), (1, 0, 1, 2)))
    out.print(Text(miss.explanation.sentence, "bold"))


def show_next(out: Console, folder: Path) -> None:
    """Prints three commands to try, as they can be typed here."""
    command, place = _command(), shlex.quote(str(folder))
    reading = """'{"station": "LJU-2", "no2": 61.5}'"""
    where = "\"station LIKE 'LJU-%' AND (no2 > 50 OR pm10 > 50)\""
    show_section(out, "Try next")
    files = f"--filters {place}/filters.jsonl --publications {place}/readings.jsonl"
    more = f"--schema {place}/air.toml --output {place}/matches"
    for line in (
        f"{command} explain {where} {reading}",
        f"{command} match {files} {more}.csv",
        f"{command} match {files} {more}.jsonl --runner inline",
    ):
        out.print(Text(line), soft_wrap=True)


def _command() -> str:
    """The command as a user types it: its name if that is on the path, else its file."""
    called = Path(sys.argv[0])
    found = shutil.which("wherecast")
    if called.name != "wherecast" or (found and Path(found).resolve() == called.resolve()):
        return "wherecast"
    try:
        return str(called.resolve().relative_to(Path.cwd().resolve()))
    except ValueError:
        return shlex.quote(str(called))
