"""The protocol of a connection: its heads are limited, and what is written at once is one piece.

The parser keeps a request line and headers of any length. And the framework writes the head of an
answer and its body apart, and each message of a WebSocket: each is a call of the system, which
costs as much as making the message.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from wherecast.server.http.transport.answers import answer

HEAD_BYTES_MAX = 64 << 10  # beside what comes with the last read
_PIECE_BYTES = 64 << 10


class HttpProtocol(HttpToolsProtocol):
    """One connection; a head that is too long ends it with 431."""

    _bytes = 0
    _is_in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Has what is written in one step go out together."""
        super().connection_made(JoinedTransport(transport, self.loop))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        """Refuses what would be kept and is too much."""
        super().data_received(data)
        if self._is_in_head and not self.transport.is_closing():
            self._bytes += len(data)
            if self._bytes > HEAD_BYTES_MAX:
                self._refuse()

    def on_message_begin(self) -> None:
        """A head begins."""
        self._is_in_head, self._bytes = True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """A head ends."""
        self._is_in_head = False
        super().on_headers_complete()

    def _refuse(self) -> None:
        text = f"the request line and headers are longer than {HEAD_BYTES_MAX} bytes"
        response = answer({"error": {"code": "too_large", "message": text}}, 431)
        lines = [b"HTTP/1.1 431 Request Header Fields Too Large", b"connection: close"]
        lines += [name + b": " + value for name, value in response.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", bytes(response.body)]))
        self.transport.close()


class JoinedTransport:
    """A transport of which all that is written in one step of the event loop is one write.

    Attributes:
        bare: the transport itself.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self.bare = transport
        self._loop = loop
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Writes once the step is done, or there is much to write."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size >= _PIECE_BYTES:
            self._flush()

    def get_write_buffer_size(self) -> int:
        """What it holds, in bytes."""
        return self.bare.get_write_buffer_size() + self._size

    def close(self) -> None:
        """Closes after what was written."""
        self._flush()
        self.bare.close()

    def _flush(self) -> None:
        if self._parts:
            self.bare.write(b"".join(self._parts))
            self._parts.clear()
            self._size = 0

    def __getattr__(self, name: str) -> Any:
        """Everything else is the transport's own."""
        return getattr(self.bare, name)
