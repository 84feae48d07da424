"""NATS and its JetStream, through the client nats-py on an event loop of this thread."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from wherecast.bench.latency.peers.peer import Turn
from wherecast.bench.measured import WrongResult

if TYPE_CHECKING:
    from nats.aio.client import Client

_SUBJECT = "alerts"
_WAIT_S = 30.0
_OneTurn = Callable[[bytes], Awaitable[Turn]]


def core_command(port: int, home: Path) -> list[str]:
    """The command of a server that keeps nothing."""
    return ["nats-server", "-a", "127.0.0.1", "-p", str(port)]


def jetstream_command(port: int, home: Path) -> list[str]:
    """The command of a server that syncs its files after every publication."""
    config = home / "nats.conf"
    directory = home / "jetstream"
    config.write_text(f'jetstream {{ store_dir: "{directory}", sync_interval: always }}\n')
    return [*core_command(port, home), "-c", str(config)]


def core_turns(port: int, bodies: Sequence[bytes]) -> Generator[Turn, None, None]:
    """Turns through a subject."""
    return _turns(port, bodies, _core)


def jetstream_turns(port: int, bodies: Sequence[bytes]) -> Generator[Turn, None, None]:
    """Turns through a stream of files; publications and receipts are acknowledged."""
    return _turns(port, bodies, _jetstream)


def _turns(
    port: int, bodies: Sequence[bytes], begin: Callable[["Client"], Awaitable[_OneTurn]]
) -> Generator[Turn, None, None]:
    import nats

    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        client = loop.run_until_complete(nats.connect(f"nats://127.0.0.1:{port}"))
        try:
            turn = loop.run_until_complete(begin(client))
            for body in bodies:
                yield loop.run_until_complete(turn(body))
        except TimeoutError as error:
            raise WrongResult("NATS: a publication did not come") from error
        finally:
            loop.run_until_complete(client.close())


async def _core(client: "Client") -> _OneTurn:
    subscription = await client.subscribe(_SUBJECT)
    await client.flush()

    async def turn(body: bytes) -> Turn:
        started = perf_counter()
        await client.publish(_SUBJECT, body)
        got = await subscription.next_msg(_WAIT_S)
        return Turn((perf_counter() - started) * 1e3, got.data)

    return turn


async def _jetstream(client: "Client") -> _OneTurn:
    from nats.js.api import StorageType

    stream = client.jetstream()
    await stream.add_stream(name=_SUBJECT, subjects=[_SUBJECT], storage=StorageType.FILE)
    subscription = await stream.subscribe(_SUBJECT, durable="ana", manual_ack=True)

    async def turn(body: bytes) -> Turn:
        started = perf_counter()
        await stream.publish(_SUBJECT, body)
        got = await subscription.next_msg(_WAIT_S)
        millis = (perf_counter() - started) * 1e3
        await got.ack_sync()
        return Turn(millis, got.data)

    return turn
