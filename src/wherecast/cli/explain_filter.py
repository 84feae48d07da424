"""`wherecast explain`: a verdict per predicate, one sentence, and the plan of the filter."""

from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wherecast.cli import screen
from wherecast.columns import decode_json
from wherecast.language import Explanation, Filter
from wherecast.model import ConfigError, Problem, PublicationError, Schema

MARKS = {True: ("✔ true", "green"), False: ("✘ false", "red"), None: ("? unknown", "yellow")}


def run_explain(text: str, publication: str, schema_path: Path | None, as_json: bool) -> None:
    """Shows why a publication matches a filter or not.

    Raises:
        WherecastError: the filter, the publication or the schema is invalid.
    """
    schema = Schema((), open=True) if schema_path is None else Schema.load(schema_path)
    filter = Filter(text, schema)
    explanation = filter.explain(_read(publication, schema))
    if as_json:
        print(_as_json(filter, explanation))
    else:
        show(screen.console(), filter, explanation)


def _read(text: str, schema: Schema) -> dict[str, object]:
    """The single publication of a JSON text."""
    body = text.encode("utf-8", "surrogateescape")
    decoded = decode_json(body, schema)
    if decoded.rejected:
        raise PublicationError(
            [Problem(bad.code, bad.message, bad.attribute, bad.element) for bad in decoded.rejected]
        )
    publication = orjson.loads(body)
    if not isinstance(publication, dict):
        raise ConfigError("explain takes one publication, not a list")
    return publication


def show(console: Console, filter: Filter, explanation: Explanation) -> None:
    """Prints an explanation: a table, a sentence, the plan of the filter and the warnings."""
    colour = "green" if explanation.matched else "red"
    piped = not console.is_terminal
    console.print(verdicts(explanation))
    console.print(Text(explanation.sentence, f"bold {colour}"), soft_wrap=piped)
    console.print(Text(str(explanation.plan), "dim"), soft_wrap=piped)
    for warning in filter.warnings:
        console.print(Text(f"Warning: this filter {warning}.", "yellow"), soft_wrap=piped)


def verdicts(explanation: Explanation, header: bool = True) -> Table:
    """A table with a row per predicate: verdict, predicate, values."""
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="dim")
    table.show_header = header
    table.add_column("verdict", no_wrap=True)
    table.add_column("predicate", overflow="fold")
    table.add_column("seen", overflow="fold")
    for reason in explanation.reasons:
        mark, colour = MARKS[reason.verdict]
        table.add_row(Text(mark, colour), Text(reason.predicate), Text(reason.shown, "dim"))
    return table


def _as_json(filter: Filter, explanation: Explanation) -> str:
    report = {
        "filter": str(filter),
        **explanation.to_dict(),
        "warnings": list(filter.warnings),
    }
    return orjson.dumps(report).decode()
