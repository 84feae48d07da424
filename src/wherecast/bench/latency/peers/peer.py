"""What the experiment knows about another broker."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from wherecast.bench.progress import Row


class Turn(NamedTuple):
    """A publication that was published, received and acknowledged.

    Attributes:
        millis: from the call that published until it was received.
        body: the body as received.
    """

    millis: float
    body: bytes


@dataclass(frozen=True, slots=True)
class PeerBroker:
    """Another broker, one way of using it, and what this promises.

    Attributes:
        what: the name of the row.
        program: the name of its server.
        version: the oldest version of the server that can be used.
        library: the module of its client.
        on_disk: whether a publication is on disk before the publisher's call returns.
        filter_by: what subscribers choose publications by.
        command: the command that starts the server, from a port and a directory.
        turns: publishes bodies one by one, each received before the next, through a port.
    """

    what: str
    program: str
    version: str
    library: str
    on_disk: str
    filter_by: str
    command: Callable[[int, Path], list[str]]
    turns: Callable[[int, Sequence[bytes]], Generator[Turn, None, None]]

    @property
    def promise(self) -> Row:
        """The columns with what it promises."""
        return {"on disk": self.on_disk, "filter by": self.filter_by}
