"""Redis, its channels and its streams, through the client redis-py."""

from collections.abc import Generator, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from wherecast.bench.latency.peers.peer import Turn
from wherecast.bench.measured import WrongResult

_NAME, _GROUP, _CONSUMER = "alerts", "ana", "one"
_WAIT_S = 30.0


def channel_command(port: int, home: Path) -> list[str]:
    """The command of a server that keeps nothing."""
    options = {"bind": "127.0.0.1", "port": str(port), "save": "", "dir": str(home)}
    return ["redis-server", *(part for key, to in options.items() for part in (f"--{key}", to))]


def stream_command(port: int, home: Path) -> list[str]:
    """The command of a server that syncs its file after every publication."""
    return [*channel_command(port, home), "--appendonly", "yes", "--appendfsync", "always"]


def channel_turns(port: int, bodies: Sequence[bytes]) -> Generator[Turn, None, None]:
    """Turns through a channel."""
    import redis

    with redis.Redis(port=port, socket_timeout=_WAIT_S) as client, client.pubsub() as receiver:
        receiver.subscribe(_NAME)
        receiver.get_message(timeout=_WAIT_S)  # says that it is subscribed
        for body in bodies:
            started = perf_counter()
            client.publish(_NAME, body)
            got = receiver.get_message(timeout=_WAIT_S)
            millis = (perf_counter() - started) * 1e3
            if got is None:
                raise WrongResult("Redis: a publication did not come")
            yield Turn(millis, got["data"])


def stream_turns(port: int, bodies: Sequence[bytes]) -> Generator[Turn, None, None]:
    """Turns through a stream and a group of consumers, each acknowledged."""
    import redis

    wait_ms = int(_WAIT_S * 1e3)
    with redis.Redis(port=port, socket_timeout=2 * _WAIT_S) as client:
        client.xgroup_create(_NAME, _GROUP, id="0", mkstream=True)
        for body in bodies:
            started = perf_counter()
            client.xadd(_NAME, {"body": body})
            got: Any = client.xreadgroup(_GROUP, _CONSUMER, {_NAME: ">"}, count=1, block=wait_ms)
            millis = (perf_counter() - started) * 1e3
            if not got:
                raise WrongResult("Redis: a publication did not come")
            [[_, [[id, fields]]]] = got
            client.xack(_NAME, _GROUP, id)
            yield Turn(millis, fields[b"body"])
