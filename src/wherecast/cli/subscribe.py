"""`wherecast subscribe`: prints and acknowledges notifications, across interruptions."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import current_thread, main_thread
from typing import Any

import orjson

from wherecast.cli.remote import RefusedByServer, Remote, Unreachable, path_of
from wherecast.model.excerpts import excerpt

_WAIT_S = 20
_AT_ONCE = 100
_RETRY_FIRST_S, _RETRY_MOST_S = 0.5, 10.0


@dataclass(frozen=True, slots=True)
class SubscribeOptions:
    """The options of the command.

    Attributes:
        name: name of the subscriber.
        filter: filter of the subscription; None uses the existing subscriptions.
        id: id of the subscription.
        stream: stream of the subscription.
        count: number of notifications to print; None is without end.
        url: URL of the server.
        as_json: whether notifications are printed as the server sent them.
    """

    name: str
    filter: str | None
    id: str
    stream: str
    count: int | None
    url: str | None
    as_json: bool


def run_subscribe(options: SubscribeOptions) -> None:
    """Prints notifications and acknowledges each after it is printed.

    Raises:
        Unreachable: no server answered from the start.
        RefusedByServer: the server refused the subscription.
    """
    remote = Remote(options.url)
    _set_up(remote, options)
    left = options.count
    for found in _receive(remote, options):
        shown = found if left is None else found[:left]
        _show(remote, options, shown)
        if left is not None:
            left -= len(shown)
            if left <= 0:
                return


def _set_up(remote: Remote, options: SubscribeOptions) -> None:
    remote.call("PUT", path_of("subscribers", options.name))
    if options.filter is not None:
        path = path_of("subscribers", options.name, "subscriptions", options.id)
        wanted = {"filter": options.filter, "stream": options.stream}
        try:
            _, done = remote.call("PUT", path, wanted)
        except RefusedByServer as error:
            raise _with_place(error, options.filter) from None
        for warning in done.get("warnings") or ():
            print(f"wherecast: {warning}", file=sys.stderr)
    if not options.as_json:
        print(f"Waiting for notifications of {options.name}; stop with Ctrl-C.", file=sys.stderr)


def _with_place(error: RefusedByServer, filter: str) -> RefusedByServer:
    """An error about a filter with all its problems and a caret under the place of each."""
    if not error.problems:
        return error
    lines: list[str] = []
    for problem in error.problems:
        lines.append(problem["message"])
        if "position" in problem:
            lines += (f"  {line}" for line in excerpt(filter, problem["position"]))
    return RefusedByServer(error.status, error.code, "\n".join(lines))


def _show(remote: Remote, options: SubscribeOptions, shown: list[dict[str, Any]]) -> None:
    """Prints and acknowledges notifications; on Ctrl-C acknowledges those already printed."""
    path = path_of("subscribers", options.name, "ack")
    printed = None
    try:
        for one in shown:
            with _uninterrupted():  # a reader of the line may send Ctrl-C at once
                print(orjson.dumps(one).decode() if options.as_json else line_of(one), flush=True)
                printed = {"through": one["cursor"]}
        call_until_answered(remote, "POST", path, printed)
    except KeyboardInterrupt:
        if printed is not None:
            with suppress(Unreachable, RefusedByServer):
                remote.call("POST", path, printed)
        raise


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the block; a second Ctrl-C does not wait."""
    if current_thread() is not main_thread():  # only the main thread gets signals
        yield
        return
    caught: list[int] = []

    def wait(number: int, _: object) -> None:
        caught.append(number)
        if len(caught) > 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, wait)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if caught:
        raise KeyboardInterrupt


def _receive(remote: Remote, options: SubscribeOptions) -> Iterator[list[dict[str, Any]]]:
    """The notifications of successive pulls, without end."""
    most = _AT_ONCE if options.count is None else min(_AT_ONCE, options.count)
    path = path_of("subscribers", options.name, "notifications") + f"?max={most}&wait={_WAIT_S}"
    while True:
        found = call_until_answered(remote, "GET", path)["notifications"]
        if found:
            yield found


def call_until_answered(remote: Remote, method: str, path: str, body: Any = None) -> Any:
    """The answer to a request, which is repeated until a server answers."""
    wait_s = _RETRY_FIRST_S
    while True:
        try:
            return remote.call(method, path, body)[1]
        except (Unreachable, RefusedByServer) as error:
            if isinstance(error, RefusedByServer) and error.status != 503:
                raise
            print(f"wherecast: {error}; trying again", file=sys.stderr, flush=True)
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, _RETRY_MOST_S)


def line_of(notification: dict[str, Any]) -> str:
    """A notification as one line of text."""
    publication = notification["publication"]
    values = " ".join(
        f"{name}={_shown(value)}" for name, value in publication["attributes"].items()
    )
    ids = ", ".join(notification.get("subscription_ids", ()))
    mark = " again" if notification.get("redelivered") else ""
    tail = f"  ({ids}{mark})" if ids else ""
    return f"{publication['published_at']}  {values}{tail}"


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
