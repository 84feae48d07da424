"""Publications over one WebSocket, as fast as the server acknowledges them."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from wherecast.bench.process_use import own_use
from wherecast.bench.progress import Doing, Row
from wherecast.bench.server.clients import receiving, subscribe_all
from wherecast.bench.server.process import measured_server
from wherecast.bench.server.publishing_socket import numbered, send_all
from wherecast.bench.server.server_latency import PROMISE
from wherecast.bench.server.server_load import SCHEMA, ServerLoad

_COUNT = 50_000
_WARM_UP = 5_000
_TARGET_PUBLICATIONS_S = 10_000


def rows(size: int | None, seed: int, home: Path) -> Iterator[Row | Doing]:
    """One row: all publications are acknowledged, pushed and acknowledged by subscribers.

    The rate is that of the publisher's acknowledgements, while subscribers receive.
    """
    what = "rate, inline, WebSocket"
    yield Doing(f"{what}: drawing")
    count, warm_up = min(size or _COUNT, _COUNT), min(size or _WARM_UP, _WARM_UP)
    load = ServerLoad.drawn(count, seed)
    messages = [numbered(number, load.body(number, 1)) for number in range(count)]
    with measured_server("inline", home, SCHEMA) as server:
        subscribe_all(server, load)
        with receiving(server) as clients:
            yield Doing(f"{what}: warming up")
            send_all(server.port, messages[:warm_up])
            clients.wait(warm_up)
            yield Doing(what)
            server_use, own, started = server.use(), own_use(), perf_counter()
            send_all(server.port, messages)
            seconds = perf_counter() - started
            clients.wait(warm_up + count)
            server_use, own = server.use() - server_use, own_use() - own
            yield {
                "what": what,
                "publications": count,
                "matches": clients.total(0) - warm_up,
                "publications/s": count / seconds,
                "target publications/s": _TARGET_PUBLICATIONS_S,
                **server_use.columns(count),
                **own.columns(count, "client "),
                **PROMISE,
            }
