"""The load generator: publishers over HTTP, subscribers over WebSocket, in this process.

Concurrency: a thread per client.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Event, Thread
from time import perf_counter, sleep

import orjson

from wherecast.bench.measured import WrongResult
from wherecast.bench.server.process import MeasuredServer
from wherecast.bench.server.server_load import SUBSCRIBERS, ServerLoad

PATH = "/v1/streams/default/publications"
NDJSON = "application/x-ndjson"
_WAIT_S = 120.0


class PublishingConnection:
    """A publisher's connection."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=_WAIT_S)
        self._connection.connect()

    def publish(self, body: bytes, count: int) -> None:
        """Publishes `count` publications.

        Raises:
            WrongResult: the server did not accept all of them.
        """
        self._connection.request("POST", PATH, body, {"Content-Type": NDJSON})
        done = orjson.loads(self._connection.getresponse().read())
        if done.get("accepted") != count:
            raise WrongResult(f"{count} publications were sent, the server answered {done}")

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()


class Receiving:
    """Subscribers that acknowledge all pushed notifications.

    Args:
        server: the server that pushes.
        arrived: called with the id and the arrival time of each publication. Without it the
            subscribers receive batches and wait for confirmed acknowledgements.
    """

    def __init__(
        self, server: MeasuredServer, arrived: Callable[[str, float], None] | None
    ) -> None:
        self._server = server
        self._arrived = arrived
        self._ended = Event()
        self._counts = {name: [0, 0] for name in SUBSCRIBERS}
        self._threads = [Thread(target=self._receive, args=(name,)) for name in SUBSCRIBERS]

    def start(self) -> None:
        """Connects all subscribers."""
        for thread in self._threads:
            thread.start()

    def wait(self, count: int) -> None:
        """Waits until `count` notifications are acknowledged.

        Raises:
            WrongResult: the notifications did not come in time.
        """
        end, last = perf_counter() + _WAIT_S, -1
        while self.total(1) < count:
            if self.total(1) != last:
                end, last = perf_counter() + _WAIT_S, self.total(1)
            if perf_counter() > end:
                raise WrongResult(f"{self.total(1):,} notifications came instead of {count:,}")
            sleep(0.002)

    def total(self, which: int) -> int:
        """Number of received (0) or acknowledged (1) notifications."""
        return sum(counts[which] for counts in self._counts.values())

    def close(self) -> None:
        """Disconnects all subscribers."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _receive(self, name: str) -> None:
        from websockets.sync.client import connect

        counts = self._counts[name]
        options = "" if self._arrived else "?batch=500&confirm=true"
        path = f"/v1/subscribers/{name}/push{options}"
        waiting: list[int] = []
        address = f"ws://127.0.0.1:{self._server.port}{path}"
        with connect(address, compression=None, max_queue=1024) as socket:
            while not self._ended.is_set():
                try:
                    message = orjson.loads(socket.recv(0.2))
                except TimeoutError:
                    continue
                if "acknowledged" in message:
                    counts[1] = waiting.pop(0)
                    continue
                got = message.get("notifications") or [message]
                counts[0] += len(got)
                if self._arrived:
                    self._arrived(message["publication"]["id"], perf_counter())
                    counts[1] = counts[0]
                waiting.append(counts[0])
                socket.send(orjson.dumps({"through": got[-1]["cursor"]}).decode())


def subscribe_all(server: MeasuredServer, load: ServerLoad) -> None:
    """Registers the subscribers with their subscriptions."""
    for name, lines in load.filters.items():
        server.call("PUT", f"/v1/subscribers/{name}")
        status, done = server.call("PUT", f"/v1/subscribers/{name}/subscriptions", lines, NDJSON)
        if status != 200 or done["rejected"]:
            raise WrongResult(f"subscriptions were refused: {str(done)[:200]}")


@contextmanager
def receiving(
    server: MeasuredServer, arrived: Callable[[str, float], None] | None = None
) -> Iterator[Receiving]:
    """Connected subscribers, which receive while the body runs."""
    made = Receiving(server, arrived)
    made.start()
    try:
        yield made
    finally:
        made.close()
