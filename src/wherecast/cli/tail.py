"""`wherecast tail`: prints all publications of a stream as they come."""

from dataclasses import dataclass

import orjson

from wherecast.cli.remote import Remote, path_of
from wherecast.cli.subscribe import call_until_answered, line_of

_WAIT_S = 20


@dataclass(frozen=True, slots=True)
class TailOptions:
    """The options of the command.

    Attributes:
        stream: stream to read.
        from_start: whether to begin with the oldest stored publication.
        count: number of publications to print; None is without end.
        url: URL of the server.
        as_json: whether publications are printed as the server sent them.
    """

    stream: str
    from_start: bool
    count: int | None
    url: str | None
    as_json: bool


def run_tail(options: TailOptions) -> None:
    """Prints publications.

    Raises:
        Unreachable: no server answered from the start.
        RefusedByServer: there is no such stream.
    """
    remote = Remote(options.url)
    _, stream = remote.call("GET", path_of("streams", options.stream))
    place = stream["positions"]["starts" if options.from_start else "ends"]["0"]
    left = options.count
    while left is None or left > 0:
        most = 100 if left is None else min(left, 100)
        query = f"?from={place}&max={most}&wait={_WAIT_S}"
        path = path_of("streams", options.stream, "publications") + query
        found = call_until_answered(remote, "GET", path)
        for one in found["publications"]:
            print(orjson.dumps(one).decode() if options.as_json else line_of(one), flush=True)
        place = found["next"]
        left = None if left is None else left - len(found["publications"])
