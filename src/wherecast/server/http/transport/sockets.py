"""WebSockets whose transport can be looked at: what it holds, and an end without asking.

A transport that is closed sends first what it holds; where the other side takes nothing, that never
ends.
"""

import asyncio
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

_KEY = "wherecast.transport"


class OpenSocket(WebSocketsSansIOProtocol):
    """The protocol of one connection; its scope has the transport."""

    def handle_connect(self, event: Any) -> None:
        """Adds the transport before the application sees the connection."""
        super().handle_connect(event)
        if hasattr(self, "scope"):
            scope: Any = self.scope
            scope[_KEY] = self.transport


def transport_of(scope: Any) -> asyncio.WriteTransport | None:
    """The transport of a connection, where it is one of these."""
    found: asyncio.WriteTransport | None = scope.get(_KEY)
    return found
