"""Two thousand push connections, a hundred of which never read: the others get everything."""

import asyncio
import json
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from websockets.asyncio.client import connect

from tests.e2e.server import Server, serving
from tests.spark.services import until

pytestmark = pytest.mark.release
CONNECTIONS, SILENT = 2_000, 100
ROUNDS = 40
PAYLOAD = "A" * 40_000  # base64; with the rounds more than a socket and the system keep
HELD_MAX = 1 << 20  # bytes that the server may hold for one connection


@pytest.fixture
def many_files() -> Iterator[None]:
    before, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < CONNECTIONS + 500:
        pytest.skip("the system does not allow so many connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (before, most))


def metric(server: Server, name: str) -> float:
    text = server.call("GET", "/metrics")[1].decode()
    [found] = re.findall(rf"^wherecast_{name} (\S+)$", text, re.MULTILINE)
    return float(found)


def set_up(server: Server) -> None:
    """Everyone is a subscriber: the silent ones to all, the others to one publication each."""
    for number in range(CONNECTIONS):
        name = f"r{number}"
        server.call("PUT", f"/v1/subscribers/{name}")
        filter = "kind = 'all'" if number < SILENT else f"n = {number}"
        path = f"/v1/subscribers/{name}/subscriptions/s"
        assert server.call("PUT", path, {"filter": filter})[0] == 201


async def silent(server: Server, number: int, ready: asyncio.Event) -> None:
    """Connects, and reads nothing."""
    _reader, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)
    head = (
        f"GET /v1/subscribers/r{number}/push HTTP/1.1\r\nHost: localhost\r\n"
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    writer.write(head.encode())
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    try:
        await ready.wait()
    finally:
        writer.transport.abort()


async def reading(server: Server, number: int) -> int:
    """Connects, and takes one notification."""
    address = f"ws://127.0.0.1:{server.port}/v1/subscribers/r{number}/push"
    async with connect(address, compression=None, open_timeout=120, ping_interval=None) as socket:
        got = json.loads(await asyncio.wait_for(socket.recv(), 240))
        await socket.send(json.dumps({"through": got["cursor"]}))
        return int(got["publication"]["attributes"]["n"])


async def run(server: Server) -> None:
    done = asyncio.Event()
    mute = [asyncio.create_task(silent(server, number, done)) for number in range(SILENT)]
    others = [asyncio.create_task(reading(server, n)) for n in range(SILENT, CONNECTIONS)]
    await asyncio.to_thread(
        until, "all connections", lambda: metric(server, "push_connections") == CONNECTIONS, 240
    )
    path = "/v1/streams/default/publications"
    loud = {"attributes": {"kind": "all"}, "payload": PAYLOAD}
    for _ in range(ROUNDS):
        assert (await asyncio.to_thread(server.call, "POST", path, [loud] * 5))[0] == 202
    await asyncio.to_thread(until, "stalls", lambda: metric(server, "push_waiting") >= SILENT / 2)
    one_each = [{"attributes": {"n": number}} for number in range(SILENT, CONNECTIONS)]
    assert (await asyncio.to_thread(server.call, "POST", path, one_each))[0] == 202
    got = await asyncio.gather(*others)
    assert sorted(got) == list(range(SILENT, CONNECTIONS))
    assert 0 < metric(server, "push_held_bytes_most") <= HELD_MAX
    assert metric(server, "threads_read_waiting") == 0  # no thread waits for the silent ones
    await asyncio.to_thread(
        until, "their end", lambda: metric(server, "push_stalled_total") >= SILENT / 2
    )
    queued = (await asyncio.to_thread(server.call, "GET", "/v1/subscribers/r0"))[1]["queued"]
    assert queued == 5 * ROUNDS
    done.set()
    await asyncio.gather(*mute)


def test_silent_readers_hold_up_nobody(tmp_path: Path, many_files: None) -> None:
    environ = {"WHERECAST__PUSH__STALL": "5s", "WHERECAST__PUSH__PING": "1h"}
    with serving(tmp_path, "--runner", "inline", environ=environ) as server:
        set_up(server)
        asyncio.run(run(server))
    assert "Traceback" not in server.told()
