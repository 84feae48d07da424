"""A publisher over a WebSocket: sends publications one by one, checks the acknowledgements.

Concurrency: one thread sends, another receives.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import orjson

from wherecast.bench.measured import WrongResult

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_WAIT_S = 120.0


def numbered(number: int, body: bytes) -> str:
    """The message with a publication: its object, and its number on the connection."""
    return (b'{"n":%d,' % number + body[1:]).decode()


@contextmanager
def publishing_socket(port: int, count: int) -> Iterator["ClientConnection"]:
    """A connection on which the body sends messages with the numbers from 0 to `count`.

    It ends when all of them are acknowledged, which means that they are on disk.

    Raises:
        WrongResult: the server refused a publication, or left one out.
    """
    from websockets.sync.client import connect

    address = f"ws://127.0.0.1:{port}/v1/streams/default/publish"
    with connect(address, compression=None) as socket, ThreadPoolExecutor(1) as pool:
        acknowledged: Future[None] = pool.submit(_receive, socket, count)
        yield socket
        acknowledged.result()


def send_all(port: int, messages: Sequence[str]) -> None:
    """Sends messages as fast as the server reads; returns when all are acknowledged."""
    with publishing_socket(port, len(messages)) as socket:
        for message in messages:
            socket.send(message)


def _receive(socket: "ClientConnection", count: int) -> None:
    """Receives acknowledgements until there are `count`, which must be in order."""
    done = 0
    while done < count:
        answer = orjson.loads(socket.recv(_WAIT_S))
        numbers = answer.get("acked")
        if not numbers or numbers != list(range(done, done + len(numbers))):
            raise WrongResult(f"after {done:,} publications the server answered {answer}")
        done += len(numbers)
