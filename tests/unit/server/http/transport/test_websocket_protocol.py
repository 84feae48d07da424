"""Text that is bytes already goes to the socket as it is."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi")

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from websockets.frames import Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from wherecast.server.http.transport.websocket_protocol import (
    WebSocketProtocol,
    send_utf8,
    transport_of,
)

TEXT = '{"city":"Šibenik"}'.encode()


class Wire:
    """The edge to the network: notes what is written."""

    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


class Connection(ServerProtocol):
    """A connection that is open; notes what it is given to send."""

    def __init__(self) -> None:
        super().__init__(state=State.OPEN)
        self.given: list[bytes] = []

    def send_text(self, data: Any, fin: bool = True) -> None:
        self.given.append(data)
        super().send_text(data, fin)


def protocol() -> tuple[WebSocketProtocol, Connection, Wire]:
    """A protocol with an open connection."""
    made: Any = WebSocketProtocol.__new__(WebSocketProtocol)
    made.conn, made.transport, made.writable = Connection(), Wire(), asyncio.Event()
    made.writable.set()
    made.disconnected = made.close_sent = False
    return made, made.conn, made.transport


def websocket(of: WebSocketProtocol) -> WebSocket:
    async def receive() -> Any:
        raise AssertionError

    made = WebSocket({"type": "websocket"}, receive, of.send)
    made.application_state = WebSocketState.CONNECTED
    return made


def test_the_same_bytes_are_sent_as_a_text_message() -> None:
    async def run() -> None:
        made, connection, wire = protocol()
        await send_utf8(websocket(made), TEXT)
        assert connection.given[0] is TEXT
        [frame] = wire.written
        assert frame[0] == 0x80 | Opcode.TEXT
        assert frame[2:] == TEXT

    asyncio.run(run())


@pytest.mark.parametrize("state", ["disconnected", "close_sent"])
def test_a_connection_that_has_ended_takes_nothing(state: str) -> None:
    async def run() -> None:
        made, connection, _ = protocol()
        setattr(made, state, True)
        with pytest.raises(WebSocketDisconnect):
            await send_utf8(websocket(made), TEXT)
        assert not connection.given

    asyncio.run(run())


def test_a_scope_without_a_transport_has_none() -> None:
    assert transport_of({}) is None
