"""Pulling notifications, and acknowledging them."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.loop_event import LoopEvent
from wherecast.server.http.context import Context
from wherecast.server.http.door.read_acknowledgement import read_acknowledgement
from wherecast.server.http.messages.acknowledgement_messages import AcknowledgementRequest
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.notification_messages import (
    NotificationsMessage,
    notifications_json,
)
from wherecast.server.http.messages.openapi import JSON, answers, body, request
from wherecast.server.http.routes.lookups import open_queue
from wherecast.server.http.routes.route_parameters import Most, SubscriberName, Wait
from wherecast.server.http.transport.body import content_type

_ANSWER_BYTES_MAX = 4 << 20  # with fewer than were asked for, the next pull gives the others
_CURSOR = "0000000011ffffff"


def router(context: Context) -> APIRouter:
    """The paths of notifications."""
    routes = APIRouter(tags=["notifications"])
    core, pools, limits = context.core, context.pools, context.settings.limits

    @routes.get(
        "/v1/subscribers/{name}/notifications", **answers(200, NotificationsMessage, 404, 422, 503)
    )
    async def pull(
        name: SubscriberName, request: Request, most: Most = 100, wait: Wait = 0.0
    ) -> Response:
        """The oldest notifications that are not acknowledged.

        Those that were pulled before come again, marked `redelivered`, until they are acknowledged.
        """
        check_range("max", most, limits.notifications_max, "notifications_max")
        check_range("wait", wait, limits.wait_max.total_seconds(), "wait_max")
        await pools.read(open_queue, core, name)
        each = await pulled(name, most, wait, request)
        context.counters.pulled.inc(len(each))
        return Response(notifications_json(each), media_type=JSON)

    @routes.post(
        "/v1/subscribers/{name}/ack",
        **answers(204, None, 400, 404, 408, 409, 413, 415, 422, 503),
        **request(
            {
                JSON: body(
                    AcknowledgementRequest,
                    through={"through": _CURSOR},
                    some={"cursors": [_CURSOR]},
                )
            }
        ),
    )
    async def acknowledge(name: SubscriberName, request: Request) -> Response:
        """Acknowledge everything up to a cursor, or just some."""
        content_type(request, (JSON,))
        async with context.bodies.read(request) as content:
            wanted = await pools.read(wanted_of, name, content)
        for problem in await context.acknowledging.apply(name, [wanted], hurries=True):
            if problem is not None:
                raise problem
        return Response(status_code=204)

    def wanted_of(name: str, content: bytes) -> Acknowledgement:
        wanted = read_acknowledgement(content)
        open_queue(core, name)
        return wanted

    async def pulled(name: str, most: int, wait: float, request: Request) -> list[bytes]:
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        while True:
            news = LoopEvent(context.door.soon)
            with core.courier.listening(
                name, news.set
            ):  # again: a subscriber of this name may be a new one
                each = await pools.read(taken, name, most)
                left = end - loop.time()
                if each or left <= 0 or context.stopping.is_set():
                    return each
                if await first_of(news.wait(left), gone(request), context.stopping.wait()) == 1:
                    return []
            await pools.read(open_queue, core, name)

    def taken(name: str, most: int) -> list[bytes]:
        while True:
            core.check()
            handed = core.courier.take(name, most, 0.0)
            with context.timings.timed("send"):
                each = context.writer.within(name, handed, _ANSWER_BYTES_MAX).each
            if each or not handed:  # else all were lost, and more may follow
                return each

    return routes


def check_range(name: str, value: float, most: float, limit: str) -> None:
    """Checks a parameter against a limit.

    Raises:
        Refused: the value is above the limit.
    """
    if value > most:
        text = f"{name} is at most {most:g}, the limit limits.{limit}"
        raise Refused(422, "bad_parameter", text, name)


async def gone(request: Request) -> None:
    """Returns when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def first_of(*waiting: Coroutine[Any, Any, Any]) -> int:
    """The number of the coroutine that ends first; the others are cancelled."""
    tasks = [asyncio.ensure_future(one) for one in waiting]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(number for number, task in enumerate(tasks) if task in done)
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
