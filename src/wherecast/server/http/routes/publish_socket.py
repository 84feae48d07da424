"""`WS /v1/streams/{stream}/publish`: publications one by one, acknowledged once they are on disk.

Each message is a publication object with a number: `{"n": 7, "attributes": {…}}`. Numbers rise by
one. Answers come in the order of the numbers, one for all that became durable together:
`{"acked": [7, 8]}`, or `{"n": 9, "error": {…}}` for one that was refused. Where `window` messages
are unanswered the server reads no further. After a cut a client sends again what was not answered,
with the same ids, so that each publication takes effect once.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Any

import orjson
from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from wherecast.broker.intake.json_bodies import read_objects
from wherecast.broker.intake.publish_outcome import PublishOutcome
from wherecast.broker.registrar.names import checked_name
from wherecast.model import PublicationError, WherecastError
from wherecast.server.http.context import Context
from wherecast.server.http.messages.error_messages import Refused, error_of
from wherecast.server.http.messages.publication_messages import error_of_row
from wherecast.server.http.messages.publish_socket_options import publish_socket_options_of
from wherecast.server.http.routes.lookups import stream_schema
from wherecast.server.http.routes.push import deny, first_ended
from wherecast.server.http.transport.answers import refusal
from wherecast.server.http.transport.websocket_protocol import send_utf8

_GOING_AWAY, _BAD_NUMBER = 1001, 4003
_NAME = "@publish"  # no subscriber has such a name
_REASONS = {_GOING_AWAY: "the server is stopping", _BAD_NUMBER: "n rises by one"}


def router(context: Context) -> APIRouter:
    """The path of publish connections."""
    routes = APIRouter()

    @routes.websocket("/v1/streams/{stream}/publish")
    async def publish(websocket: WebSocket, stream: str) -> None:
        """Take publications one by one."""
        try:
            options = publish_socket_options_of(websocket.query_params)
            stream_schema(context.core, stream)
            if options.publisher:
                checked_name("publisher", options.publisher)
            most = context.settings.push.connections_max
            if len(context.connections) >= most:
                text = f"{most} connections are open, the limit push.connections_max"
                raise Refused(503, "too_many", text)
        except (Refused, WherecastError) as error:
            await deny(websocket, refusal(error))
            return
        await websocket.accept()
        with context.connections.opened(_NAME):
            connection = _Connection(context, websocket, stream, options.publisher, options.window)
            await connection.run()

    return routes


class _Connection:
    """One connection."""

    def __init__(
        self, context: Context, websocket: WebSocket, stream: str, publisher: str, window: int
    ) -> None:
        self._context = context
        self._websocket = websocket
        self._stream = stream
        self._publisher = publisher
        self._window = window
        self._next: int | None = None
        self._waiting: deque[tuple[int, asyncio.Task[dict[str, Any] | None]]] = deque()
        self._changed = asyncio.Event()
        self._has_room = asyncio.Event()

    async def run(self) -> None:
        """Takes and answers publications until either side ends the connection."""
        code: int | None = None
        with suppress(WebSocketDisconnect, RuntimeError):  # gone, perhaps while it was answered
            code = await first_ended(self._receive(), self._answer(), self._stopping())
        if code is not None:
            with suppress(WebSocketDisconnect, RuntimeError):
                await self._websocket.close(code, _REASONS[code])

    async def _receive(self) -> int:
        while True:
            while len(self._waiting) >= self._window:
                self._has_room.clear()
                await self._has_room.wait()
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            text = message.get("text")
            body = message.get("bytes", b"") if text is None else text.encode()
            number, given = self._read(body)
            if number is None:
                return _BAD_NUMBER
            task = asyncio.ensure_future(self._outcome(given))
            self._waiting.append((number, task))
            task.add_done_callback(lambda _: self._changed.set())

    def _read(self, body: bytes) -> tuple[int | None, Any]:
        """The number and the publication object of a message, or the error that refuses it."""
        limits = self._context.settings.publications
        try:
            objects = read_objects(body, True, 1, limits)
            if not objects:
                raise PublicationError("a message is one publication object, not an empty array")
            given: Any = objects[0]
        except WherecastError as error:
            return self._expected(None), error
        number = given.pop("n", None) if isinstance(given, dict) else None
        return self._expected(number), given

    def _expected(self, number: object) -> int | None:
        """The number of a message; None where it does not follow the one before."""
        expected = self._next
        if number is None:
            number = expected
        if type(number) is not int or (expected is not None and number != expected):
            return None
        self._next = number + 1
        return number

    async def _outcome(self, given: Any) -> dict[str, Any] | None:
        """The error of a publication; None where it is stored, or was before."""
        context = self._context
        try:
            if isinstance(given, WherecastError):
                raise given
            done = await context.publishing.publish_object(self._stream, given, self._publisher)
        except (Refused, WherecastError) as error:
            context.counters.refused(error)
            return dict(error_of(error)[1])
        context.counters.published(done)
        if done.accepted:
            context.append_signal.send()
        return _error_of(done)

    async def _answer(self) -> int:
        """Sends answers in the order of the numbers."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            acked: list[int] = []
            while self._waiting and self._waiting[0][1].done():
                number, task = self._waiting.popleft()
                error = task.result()
                if error is None:
                    acked.append(number)
                    continue
                await self._send_acked(acked)
                acked = []
                await send_utf8(self._websocket, orjson.dumps({"n": number, "error": error}))
            await self._send_acked(acked)
            self._has_room.set()

    async def _send_acked(self, numbers: list[int]) -> None:
        if numbers:
            await send_utf8(self._websocket, orjson.dumps({"acked": numbers}))

    async def _stopping(self) -> int:
        await self._context.stopping.wait()
        return _GOING_AWAY


def _error_of(done: PublishOutcome) -> dict[str, Any] | None:
    if not done.rejections:
        return None
    found = dict(error_of_row(done.rejections[0]))
    found.pop("index")
    return found
