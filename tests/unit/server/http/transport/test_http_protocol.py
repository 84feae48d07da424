"""What is written in one step of the event loop goes out as one write."""

import asyncio

import pytest

pytest.importorskip("fastapi")

from wherecast.server.http.transport.http_protocol import JoinedTransport


class Wire:
    """The edge to the network: notes what is written, and that it was closed."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.written.append(b"closed")

    def get_write_buffer_size(self) -> int:
        return 7


def test_a_head_and_its_body_are_one_write() -> None:
    wire = Wire()

    async def run() -> None:
        joined = JoinedTransport(wire, asyncio.get_running_loop())  # type: ignore[arg-type]
        joined.write(b"head ")
        joined.write(b"body")
        assert not wire.written
        await asyncio.sleep(0)
        joined.write(b"next")
        await asyncio.sleep(0)
        joined.write(b"last")
        joined.close()
        await asyncio.sleep(0)
        assert joined.get_write_buffer_size() == 7

    asyncio.run(run())
    assert wire.written == [b"head body", b"next", b"last", b"closed"]


def test_what_is_much_is_not_held() -> None:
    wire = Wire()

    async def run() -> None:
        joined = JoinedTransport(wire, asyncio.get_running_loop())  # type: ignore[arg-type]
        joined.write(b"x" * 1_000)
        assert joined.get_write_buffer_size() == 1_007
        joined.write(b"y" * (64 << 10))
        assert [len(one) for one in wire.written] == [1_000 + (64 << 10)]
        assert joined.get_write_buffer_size() == 7
        joined.write(b"z")
        await asyncio.sleep(0)

    asyncio.run(run())
    assert wire.written[1:] == [b"z"]
