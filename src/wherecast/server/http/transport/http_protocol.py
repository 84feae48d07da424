"""The protocol of an HTTP connection: heads are limited, and small writes are joined.

The parser of the framework keeps a request line and headers of any length. And the framework writes
the head of an answer, its body, and each message of a WebSocket with a system call of its own,
which costs as much as making the message.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from wherecast.server.http.transport.answers import answer

HEAD_BYTES_MAX = 64 << 10  # beside what comes with the last read
_PIECE_BYTES = 64 << 10


class HttpProtocol(HttpToolsProtocol):
    """One connection; a head that is too long is answered with 431, and ends the connection."""

    _bytes = 0
    _is_in_head = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Joins what is written in one step of the event loop."""
        super().connection_made(JoinedTransport(transport, self.loop))  # type: ignore[arg-type]

    def data_received(self, data: bytes) -> None:
        """Refuses a head that is too long, before more of it is kept."""
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
    """A transport that joins all that is written in one step of the event loop.

    Attributes:
        bare: the transport that writes to the socket.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self.bare = transport
        self._loop = loop
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Writes at the end of the step, or at once where much has gathered."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size >= _PIECE_BYTES:
            self._flush()

    def get_write_buffer_size(self) -> int:
        """Number of bytes that are not yet in the socket."""
        return self.bare.get_write_buffer_size() + self._size

    def close(self) -> None:
        """Closes the transport after what was written."""
        self._flush()
        self.bare.close()

    def _flush(self) -> None:
        if self._parts:
            self.bare.write(b"".join(self._parts))
            self._parts.clear()
            self._size = 0

    def __getattr__(self, name: str) -> Any:
        """Every other attribute is that of the bare transport."""
        return getattr(self.bare, name)
