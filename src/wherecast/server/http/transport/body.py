"""Bodies of requests, read within limits: a body that is too large is refused before it is kept."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from fastapi import Request
from starlette.requests import ClientDisconnect

from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.openapi import ARROW, JSON, NDJSON
from wherecast.server.settings import RequestLimits

_FIRST_BYTES = 64 << 10  # set aside for a body of unknown size
_NAMES = {JSON: JSON, NDJSON: NDJSON, ARROW: ARROW} | dict.fromkeys(
    ("application/ndjson", "application/jsonl", "application/x-jsonlines"), NDJSON
)


@dataclass(slots=True)
class _Room:
    """The memory that is set aside for one body."""

    bytes: int


class Bodies:
    """Reads bodies; the memory of all bodies together is limited, too.

    Concurrency: of one event loop.
    """

    def __init__(self, limits: RequestLimits) -> None:
        self._limits = limits
        self._free = limits.bodies_bytes_max
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()

    @asynccontextmanager
    async def read(self, request: Request) -> AsyncIterator[bytes]:
        """The body of a request, whole.

        Raises:
            Refused: the body is too large, or takes too long to arrive.
        """
        most = self._limits.body_bytes_max
        size = _announced(request, most)
        room = _Room(min(_FIRST_BYTES if size is None else size, most))
        async with self._taken(room):
            try:
                async with asyncio.timeout(self._limits.body_wait.total_seconds()):
                    body = await self._whole(request, room)
            except TimeoutError:
                text = "the body took too long to arrive; the limit is limits.body_wait"
                raise Refused(408, "too_slow", text) from None
            except ClientDisconnect:  # nobody reads this
                raise Refused(400, "cut_short", "the connection was cut") from None
            yield body

    async def _whole(self, request: Request, room: "_Room") -> bytes:
        most = self._limits.body_bytes_max
        parts: list[bytes] = []
        size = 0
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise _too_large(most)
            if size > room.bytes:
                self._grow(room, min(most, max(size, 2 * room.bytes)))
            parts.append(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @asynccontextmanager
    async def _taken(self, room: "_Room") -> AsyncIterator[None]:
        """Waits for the memory of a body, or of its beginning, and gives it back at the end."""
        room.bytes = min(room.bytes, self._limits.bodies_bytes_max)
        if self._waiting or self._free < room.bytes:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((room.bytes, turn))
            await self._turn(room.bytes, turn)
        else:
            self._free -= room.bytes
        try:
            yield
        finally:
            self._give_back(room.bytes)

    def _grow(self, room: "_Room", size: int) -> None:
        """Takes more memory for a body of unknown size, without waiting.

        Bodies that hold some memory and wait for more would wait for one another.
        """
        more = size - room.bytes
        if more > self._free:
            text = "too many bodies arrive at once; the limit is limits.bodies_bytes_max"
            raise Refused(503, "busy", text)
        self._free -= more
        room.bytes = size

    async def _turn(self, size: int, turn: "asyncio.Future[None]") -> None:
        """Waits for a turn; the memory is taken when the turn comes."""
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(size)
            raise

    def _give_back(self, size: int) -> None:
        self._free += size
        while self._waiting and (self._waiting[0][1].done() or self._waiting[0][0] <= self._free):
            wanted, turn = self._waiting.popleft()
            if not turn.done():
                self._free -= wanted
                turn.set_result(None)


def content_type(request: Request, known: tuple[str, ...]) -> str:
    """The type of a request's body, one of the known types.

    Raises:
        Refused: the body is of another type, or compressed.
    """
    name, _, parameters = request.headers.get("content-type", "").partition(";")
    kind = _NAMES.get(name.strip().lower())
    if kind not in known:
        given = name.strip()[:100] or "missing"
        text = f"the content type is {given}; it should be {' or '.join(known)}"
        raise Refused(415, "content_type", text)
    charset = parameters.strip().lower().removeprefix("charset=").strip('"')
    if charset not in ("", "utf-8", "utf8"):
        raise Refused(415, "content_type", f"the text should be UTF-8, not {charset[:40]}")
    packed = request.headers.get("content-encoding", "identity").strip().lower()
    if packed != "identity":
        text = f"the body is packed with {packed[:40]}; send it as it is"
        raise Refused(415, "content_encoding", text)
    assert kind is not None
    return kind


def _announced(request: Request, most: int) -> int | None:
    """The size that a request announces for its body; None where it announces none."""
    given = request.headers.get("content-length")
    if given is None:
        return None
    if not given.isdigit() or len(given) > 18:
        raise Refused(400, "malformed", "the content length is no number")
    if int(given) > most:
        raise _too_large(most)
    return int(given)


def _too_large(most: int) -> Refused:
    text = f"the body is larger than the limit limits.body_bytes_max of {most} bytes"
    return Refused(413, "too_large", text)
