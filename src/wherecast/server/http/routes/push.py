"""`WS /v1/subscribers/{name}/push`: notifications as they come, acknowledgements back.

A connection holds the bytes that its socket takes, and one message more. While the client takes no
bytes, no message is made: its notifications wait as numbers in its queue, at most
`push.in_flight_max` of them. A connection that takes no bytes for `push.stall` is closed; its
notifications stay queued.
"""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, WebSocket
from fastapi.responses import Response
from starlette.websockets import WebSocketDisconnect, WebSocketState

from wherecast.broker.loop_event import LoopEvent
from wherecast.delivery import QueuedNotification
from wherecast.model import WherecastError
from wherecast.server.http.context import Context
from wherecast.server.http.door.connection_acks import ConnectionAcks
from wherecast.server.http.messages.declaration import write
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.notification_messages import notifications_json
from wherecast.server.http.messages.push_options import PushOptions, options_of
from wherecast.server.http.notification_writer import WrittenNotifications
from wherecast.server.http.routes.lookups import open_queue
from wherecast.server.http.transport.answers import refusal
from wherecast.server.http.transport.websocket_protocol import send_utf8, transport_of

REPLACED, STALLED, UNREGISTERED = 4000, 4001, 4002
_GOING_AWAY, _FAILED = 1001, 1011
_SENT_AT_ONCE_BYTES = 256 << 10
_LITTLE_BYTES = 32 << 10  # with so little a connection takes more at once
_WIDE = 100  # in flight: such a connection goes on while acknowledgements wait for others
_REASONS = {
    REPLACED: "another connection of this subscriber was opened",
    STALLED: "the connection took nothing for too long",
    UNREGISTERED: "the subscriber was unregistered",
    _GOING_AWAY: "the server is stopping",
    _FAILED: "the server failed at this; its log says more",
}


def router(context: Context) -> APIRouter:
    """The path of push connections; a connection to any other path is refused."""
    routes = APIRouter()
    most = context.settings.push.connections_max

    @routes.websocket("/v1/subscribers/{name}/push")
    async def push(websocket: WebSocket, name: str) -> None:
        """Push notifications to a subscriber."""
        try:
            options = options_of(websocket.query_params, context.settings.core.queues.in_flight_max)
            if len(context.connections) >= most:
                text = f"{most} connections are open, the limit push.connections_max"
                raise Refused(503, "too_many", text)
            await context.pools.read(open_queue, context.core, name)
        except (Refused, WherecastError) as error:
            await deny(websocket, refusal(error))
            return
        await websocket.accept()
        with context.connections.opened(name) as number:
            await _Push(context, websocket, name, number, options).run()

    @routes.websocket("/{path:path}")
    async def unknown_path(websocket: WebSocket, path: str) -> None:
        """Refuse a connection to a path that is none."""
        text = "connections are opened at /v1/subscribers/{name}/push"
        await deny(websocket, refusal(Refused(404, "not_found", text)))

    return routes


async def deny(websocket: WebSocket, response: Response) -> None:
    """Refuses a connection before it is open."""
    with suppress(WebSocketDisconnect, RuntimeError):
        await websocket.send_denial_response(response)


class _Push:
    """One connection."""

    def __init__(
        self, context: Context, websocket: WebSocket, name: str, number: int, options: PushOptions
    ) -> None:
        self._context = context
        self._core = context.core
        self._websocket = websocket
        self._name = name
        self._number = number
        self._options = options
        self._handed: list[QueuedNotification] = []
        self._transport = transport_of(websocket.scope)
        hurries = options.confirm or options.window < _WIDE
        self._acks = ConnectionAcks(context.acknowledging, name, hurries, options.confirm)
        self._stall_s = context.settings.push.stall.total_seconds()

    async def run(self) -> None:
        """Sends and receives until the client or the server ends the connection."""
        courier, read = self._core.courier, self._context.pools.read
        try:
            await read(courier.connect, self._name, self._number, self._options.window)
            code = await first_ended(
                self._send(), self._receive(), self._acknowledge(), self._stopping()
            )
        except (WebSocketDisconnect, RuntimeError):  # gone, perhaps while something was sent
            code = None
        except WherecastError:
            code = _FAILED
        finally:
            courier.disconnect(self._name, self._number)
        await self._close(code)

    async def _send(self) -> int:
        """Sends notifications as they come; the close code."""
        news = LoopEvent(self._context.door.soon)
        with self._core.courier.listening(self._name, news.set):
            while True:
                news.clear()
                handed = self._core.courier.sent(self._name, self._number, 0.0)
                if handed is None:
                    return await self._ended()
                self._handed += handed
                for message in self._messages(await self._objects()):
                    if not await self._sent(message):
                        self._context.connections.stalled += 1
                        return STALLED
                if not self._handed:  # a notification that came since then wakes it
                    await news.wait()

    async def _objects(self) -> list[bytes]:
        """The next notifications as JSON, of those that the queue handed out."""
        if not self._handed:
            return []
        with self._context.timings.timed("send"):
            found = self._context.writer.at_hand(self._handed, _SENT_AT_ONCE_BYTES)
        if found is None:
            found = await self._context.pools.read(self._read)
        del self._handed[: found.used]
        self._context.counters.pushed.inc(len(found.each))
        return found.each

    def _read(self) -> WrittenNotifications:
        with self._context.timings.timed("send"):
            return self._context.writer.within(self._name, self._handed, _SENT_AT_ONCE_BYTES)

    def _messages(self, each: list[bytes]) -> list[bytes]:
        step = self._options.batch
        if step is None:
            return each
        parts = (each[start : start + step] for start in range(0, len(each), step))
        return [notifications_json(part) for part in parts]

    async def _sent(self, message: bytes) -> bool:
        """Whether a message went out in time."""
        if self._transport is not None and self._transport.get_write_buffer_size() < _LITTLE_BYTES:
            await send_utf8(self._websocket, message)  # it does not wait
            self._context.connections.holds(self._transport.get_write_buffer_size())
            return True
        try:
            with self._context.connections.sending(self._transport):
                async with asyncio.timeout(self._stall_s):
                    await send_utf8(self._websocket, message)
        except TimeoutError:
            return False
        return True

    async def _ended(self) -> int:
        """The close code where the queue has another connection, or none."""
        if self._context.stopping.is_set():
            return _GOING_AWAY
        known = self._core.store.registry.has_subscriber
        if not await self._context.pools.read(known, self._name):
            return UNREGISTERED
        self._context.connections.replaced += 1
        return REPLACED

    async def _receive(self) -> int:
        """Takes acknowledgements until the client goes."""
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            text = message.get("text")
            await self._acks.put(message.get("bytes", b"") if text is None else text)

    async def _acknowledge(self) -> int:
        """Stores acknowledgements, and sends the replies to them."""
        while True:
            for reply in await self._acks.next():
                if not await self._sent(write(reply)):
                    return STALLED

    async def _stopping(self) -> int:
        await self._context.stopping.wait()
        return _GOING_AWAY

    async def _close(self, code: int | None) -> None:
        if code == STALLED and self._transport is not None:
            self._transport.abort()  # it would not take a close message either
        if code is None or self._websocket.client_state != WebSocketState.CONNECTED:
            return
        with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            async with asyncio.timeout(self._stall_s):
                await self._websocket.close(code, _REASONS[code])


async def first_ended(*coroutines: Coroutine[Any, Any, int]) -> int:
    """The result of the first coroutine that ends; the others are cancelled."""
    tasks = [asyncio.ensure_future(one) for one in coroutines]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(task for task in tasks if task in done).result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
