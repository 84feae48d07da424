"""The commands and their options."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from wherecast.cli import screen
from wherecast.cli.client_commands import clients

app = typer.Typer(
    help="Content-based publish/subscribe: filters are WHERE clauses.",
    epilog="Start with: wherecast demo",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

index = typer.Typer(help="Check the file of an index.", no_args_is_help=True)
app.add_typer(index, name="index")
app.add_typer(clients)
store = typer.Typer(help="Check and copy the directory of a store.", no_args_is_help=True)
app.add_typer(store, name="store")

_SCHEMA_HELP = "A schema file, .toml or .attributes."
_JSON_HELP = "Print machine-readable output."


def _show_version(wanted: bool) -> None:
    if wanted:
        from wherecast import __version__

        print(f"wherecast {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error happened.")] = False,
) -> None:
    """Content-based publish/subscribe: filters are WHERE clauses."""


@app.command(epilog="Example: wherecast demo")
def demo(
    directory: Annotated[
        Path | None, typer.Option(help="Directory for the files; a temporary one if not given.")
    ] = None,
    master: Annotated[str, typer.Option(help="The Spark master.")] = screen.MASTER,
) -> None:
    """Match 200,000 filters on Spark, beside a Spark join; then change filters in a stream."""
    from wherecast.cli.demo.run_demo import run_demo

    run_demo(directory, master)


@app.command(
    epilog="Example: wherecast match --filters alerts.csv --publications readings.jsonl"
    " --output matches.parquet"
)
def match(  # noqa: PLR0913  # its options
    filters: Annotated[Path, typer.Option(help="File of filters: the columns id and filter.")],
    publications: Annotated[Path, typer.Option(help="File of publications, one per row.")],
    output: Annotated[
        Path, typer.Option(help="File for the matches: the publication and filter_id.")
    ],
    schema: Annotated[Path | None, typer.Option(help=_SCHEMA_HELP)] = None,
    runner: Annotated[
        Literal["spark", "inline"], typer.Option(help="Match on Spark, or in this process.")
    ] = "spark",
    master: Annotated[str, typer.Option(help="The Spark master.")] = screen.MASTER,
    skip_bad_filters: Annotated[
        bool, typer.Option("--skip-bad-filters", help="Leave out filters that cannot be used.")
    ] = False,
    now: Annotated[
        str | None,
        typer.Option(
            help="Value of now() in filters, an ISO 8601 time; by default the time of the call."
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_JSON_HELP)] = False,
) -> None:
    """Match a file of publications against a file of filters.

    All files are .jsonl, .parquet or .csv, by suffix. Without a schema, Parquet columns keep their
    types, and the types of text files are inferred.
    """
    from wherecast.cli.match import MatchOptions, run_match

    run_match(
        MatchOptions(
            filters, publications, output, schema, runner, master, skip_bad_filters, json, now
        )
    )


@app.command(
    epilog="Example: wherecast explain \"no2 > 40 AND city = 'Split'\""
    """ '{"no2": 45, "city": "Zagreb"}'"""
)
def explain(
    filter: Annotated[str, typer.Argument(metavar="FILTER", help="A WHERE clause.")],
    publication: Annotated[
        str, typer.Argument(metavar="PUBLICATION_JSON", help="The attributes, as a JSON object.")
    ],
    schema: Annotated[
        Path | None,
        typer.Option(help=f"{_SCHEMA_HELP} Without it, numbers are float and other values string."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_JSON_HELP)] = False,
) -> None:
    """Show, predicate by predicate, why a publication matches a filter or not."""
    from wherecast.cli.explain_filter import run_explain

    run_explain(filter, publication, schema, json)


@index.command(epilog="Example: wherecast index check filters.index")
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that index.save wrote.")],
    json: Annotated[bool, typer.Option("--json", help=_JSON_HELP)] = False,
) -> None:
    """Verify the checksums of an index file.

    The exit code is 1 if the file is damaged.
    """
    from wherecast.cli.index_commands import run_check

    if not run_check(file, json):
        raise typer.Exit(1)


_DIRECTORY = typer.Argument(metavar="DIR", help="The directory of a store.")


_REPAIR_HELP = "Rebuild what is derived from the log; no other process may use the store."


_LOSS_HELP = "Go on without commits that the log of the store has lost; the loss is recorded."


@store.command("check", epilog="Example: wherecast store check data")
def check_store(
    directory: Annotated[Path, _DIRECTORY],
    repair: Annotated[bool, typer.Option("--repair", help=_REPAIR_HELP)] = False,
    accept_loss: Annotated[bool, typer.Option("--accept-loss", help=_LOSS_HELP)] = False,
    json: Annotated[bool, typer.Option("--json", help=_JSON_HELP)] = False,
) -> None:
    """Verify everything that a store holds; the store may be in use.

    The exit code is 1 if something is damaged, and with --repair if something stays damaged.
    """
    from wherecast.cli.store_commands import run_check, run_repair

    if accept_loss and not repair:
        raise typer.BadParameter("--accept-loss needs --repair")
    is_good = run_repair(directory, json, accept_loss) if repair else run_check(directory, json)
    if not is_good:
        raise typer.Exit(1)


@store.command("backup", epilog="Example: wherecast store backup data /backups/monday")
def back_up_store(
    directory: Annotated[Path, _DIRECTORY],
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="A directory that is empty or does not exist.")
    ],
    json: Annotated[bool, typer.Option("--json", help=_JSON_HELP)] = False,
) -> None:
    """Copy a store, consistently, while it is in use.

    The copy is a store: serve it, or check it.
    """
    from wherecast.cli.store_commands import run_backup

    run_backup(directory, target, json)


@app.command(epilog="Example: wherecast serve --schema air.toml")
def serve(  # noqa: PLR0913  # its options
    config: Annotated[
        Path | None, typer.Option(help="A TOML file of settings; by default wherecast.toml.")
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option(help="Schema file of the stream default; without it the stream is open."),
    ] = None,
    runner: Annotated[
        str | None, typer.Option(help="Match on Spark (spark), or in the server (inline).")
    ] = None,
    host: Annotated[str | None, typer.Option(help="A loopback address.")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 0 is any free port.")] = None,
    data: Annotated[str | None, typer.Option(help="The directory of the store.")] = None,
    log_format: Annotated[str | None, typer.Option(help="Format of the log: text or json.")] = None,
    accept_loss: Annotated[
        bool | None, typer.Option("--accept-loss", help=_LOSS_HELP, show_default=False)
    ] = None,
) -> None:
    """Serve publishers and subscribers over HTTP and WebSocket.

    Every option is also a setting of wherecast.toml and of the environment, such as
    WHERECAST__SERVER__PORT.
    """
    from wherecast.cli.serve import ServeOptions, run_serve

    given = {"schema": schema, "runner": runner, "host": host, "port": port}
    given |= {"data": data, "log_format": log_format, "accept_loss": accept_loss}
    code = run_serve(ServeOptions(config, given))
    if code:
        raise typer.Exit(code)


@app.command(epilog="Example: wherecast bench language --size 100000")
def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the experiment.")],
    size: Annotated[
        int | None,
        typer.Option(help="Largest number of filters or publications, for a quick run."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the workloads; by default random.")
    ] = None,
    directory: Annotated[Path, typer.Option(help="Directory of the results.")] = Path(
        "bench-results"
    ),
    only: Annotated[
        str | None, typer.Option(metavar="WORKLOAD", help="Measure one workload or case only.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help=_JSON_HELP)] = False,
) -> None:
    """Run an experiment: tables on screen, JSON lines and a picture in a directory.

    - language: filters read per second

    - matching: publications matched per second, compared with DuckDB and Polars

    - trees: the kinds of index, compared with each other

    - spark: match compared with the joins that users write (needs Java)

    - broker: a broker in process (one case needs Java)

    - server: a server over HTTP and WebSocket (two cases need Java)

    - latency: single publications, beside NATS and Redis (one case needs Java)

    The other engines and the pictures need: pip install 'wherecast[bench]'
    """
    from wherecast.bench import Options, run

    run(name, Options(size, seed, directory, json, only))
