"""The commands that talk to a running server, and their options."""

from contextlib import suppress
from typing import Annotated

import typer

clients = typer.Typer()
subscriptions = typer.Typer(
    help="The subscriptions of a subscriber of a running server.", no_args_is_help=True
)
clients.add_typer(subscriptions, name="subscriptions")

_URL_HELP = "URL of the server; by default WHERECAST_URL, or http://127.0.0.1:8080."
_Url = Annotated[str | None, typer.Option("--url", help=_URL_HELP)]
_Stream = Annotated[str, typer.Option(help="Name of the stream.")]
_Json = Annotated[bool, typer.Option("--json", help="Print machine-readable output.")]
_Count = Annotated[
    int | None, typer.Option(min=1, help="Stop after this number; by default never.")
]
_Name = Annotated[str, typer.Argument(metavar="SUBSCRIBER", help="Name of the subscriber.")]


@clients.command(epilog="Example: wherecast publish no2=45.2 city=Zagreb")
def publish(  # its options
    pairs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]…", help="The attributes of one publication."),
    ] = None,
    file: Annotated[
        str | None,
        typer.Option(help="File of publications: .json, or one object per line; - is stdin."),
    ] = None,
    stream: _Stream = "default",
    id: Annotated[str | None, typer.Option(help="The id of the one publication.")] = None,
    url: _Url = None,
    json: _Json = False,
) -> None:
    """Publish to a running server: name=value pairs, a file, or standard input.

    An object in a file has the key attributes, or is the attributes themselves. The exit code is 2
    if a publication was refused.
    """
    from wherecast.cli.publish import PublishOptions, run_publish

    if not run_publish(PublishOptions(tuple(pairs or ()), file, stream, id, url, json)):
        raise typer.Exit(2)


@clients.command(epilog='Example: wherecast subscribe ana "no2 > 40"')
def subscribe(  # noqa: PLR0913  # its options
    name: _Name,
    filter: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILTER]", help="A WHERE clause; by default the existing subscriptions."
        ),
    ] = None,
    id: Annotated[str, typer.Option(help="The id of the subscription.")] = "cli",
    stream: _Stream = "default",
    count: _Count = None,
    url: _Url = None,
    json: _Json = False,
) -> None:
    """Print notifications as they come, and acknowledge each.

    The command reconnects until the server answers. The subscription outlives the command: the
    server queues later notifications.
    """
    from wherecast.cli.subscribe import SubscribeOptions, run_subscribe

    with suppress(KeyboardInterrupt):  # the way to end it
        run_subscribe(SubscribeOptions(name, filter, id, stream, count, url, json))


@clients.command(epilog="Example: wherecast tail")
def tail(
    stream: _Stream = "default",
    from_start: Annotated[
        bool, typer.Option("--from-start", help="Begin with the oldest stored publication.")
    ] = False,
    count: _Count = None,
    url: _Url = None,
    json: _Json = False,
) -> None:
    """Print all publications of a stream as they come."""
    from wherecast.cli.tail import TailOptions, run_tail

    with suppress(KeyboardInterrupt):  # the way to end it
        run_tail(TailOptions(stream, from_start, count, url, json))


@subscriptions.command("list", epilog="Example: wherecast subscriptions list ana")
def list_subscriptions(name: _Name, url: _Url = None, json: _Json = False) -> None:
    """List the subscriptions of a subscriber: id, stream, filter."""
    from wherecast.cli.list_subscriptions import run_list

    run_list(name, url, json)


@subscriptions.command("delete", epilog="Example: wherecast subscriptions delete ana s1")
def delete_subscription(
    name: _Name,
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of the subscription.")],
    url: _Url = None,
    json: _Json = False,
) -> None:
    """End a subscription; its queued notifications stay."""
    from wherecast.cli.list_subscriptions import run_delete

    run_delete(name, id, url, json)
