"""WebSockets whose transport is at hand, and that take text as bytes.

A transport that is closed sends first what it holds; where the other side takes nothing, that never
ends: so the scope has the transport, which can be aborted. And JSON is bytes already: a text
message need not become a string on its way to the socket.
"""

import asyncio
from typing import Any

from fastapi import WebSocket
from typing_extensions import override
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState

_TRANSPORT = "wherecast.transport"
_UTF8 = "wherecast.utf8"


class WebSocketProtocol(WebSocketsSansIOProtocol):
    """The protocol of one connection."""

    @override
    def handle_connect(self, event: Any) -> None:
        super().handle_connect(event)
        if hasattr(self, "scope"):  # the request was one to connect
            scope: Any = self.scope
            scope[_TRANSPORT] = self.transport

    @override
    async def send(self, message: Any) -> None:
        text = message.get(_UTF8)
        if text is None:
            await super().send(message)
            return
        await self.writable.wait()
        if self.disconnected or self.close_sent:
            raise ClientDisconnected
        try:
            self.conn.send_text(text)
        except InvalidState:
            raise ClientDisconnected from None
        self.transport.write(b"".join(self.conn.data_to_send()))


async def send_utf8(websocket: WebSocket, text: bytes) -> None:
    """Sends a text message, given as UTF-8, over a connection of this protocol."""
    await websocket.send({"type": "websocket.send", _UTF8: text})


def transport_of(scope: Any) -> asyncio.WriteTransport | None:
    """The transport of a connection of this protocol."""
    found: asyncio.WriteTransport | None = scope.get(_TRANSPORT)
    return found
