"""HTTP whose heads are limited: the parser keeps a request line and headers of any length."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from wherecast.gateway.http.answers import answer

HEAD_BYTES_MAX = 64 << 10  # beside what comes with the last read


class LimitedHead(HttpToolsProtocol):
    """The protocol of one connection; a head that is too long ends it with 431."""

    _bytes = 0
    _is_in_head = True

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
