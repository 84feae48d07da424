"""Pulling notifications, and acknowledging them."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from wherecast.broker.dispatch.acknowledgement import Acknowledgement
from wherecast.broker.loop_event import LoopEvent
from wherecast.server.http.context import Context
from wherecast.server.http.messages import examples, messages
from wherecast.server.http.messages.acknowledgements import acknowledgement_of
from wherecast.server.http.messages.answers import Refused
from wherecast.server.http.messages.notification_json import joined, objects_within
from wherecast.server.http.routes.lookups import open_queue
from wherecast.server.http.transport.body import JSON, content_type

_ANSWER_BYTES_MAX = 4 << 20  # with fewer than were asked for, the next pull gives the others
Most = Annotated[int, Query(alias="max", description="How many at most.", ge=1)]
Wait = Annotated[
    float,
    Query(description="How long to wait for the first one, in seconds.", ge=0, allow_inf_nan=False),
]


def router(context: Context) -> APIRouter:
    """The paths of notifications."""
    routes = APIRouter(tags=["notifications"])
    core, threads, limits = context.core, context.threads, context.settings.limits

    @routes.get(
        "/v1/subscribers/{name}/notifications",
        response_model=messages.Notifications,
        responses=messages.answers(404, 422, 503),
    )
    async def pull(name: str, request: Request, most: Most = 100, wait: Wait = 0.0) -> Response:
        """The oldest notifications that are not acknowledged.

        Those that were pulled before come again, marked `redelivered`, until they are acknowledged.
        """
        check_range("max", most, limits.notifications_max, "notifications_max")
        check_range("wait", wait, limits.wait_max.total_seconds(), "wait_max")
        await threads.read(open_queue, core, name)
        objects = await _pulled(name, most, wait, request)
        context.counters.pulled.inc(len(objects))
        return Response(joined(objects), media_type=JSON)

    @routes.post(
        "/v1/subscribers/{name}/ack",
        status_code=204,
        responses=messages.answers(400, 404, 408, 409, 413, 415, 422, 503),
        openapi_extra=examples.body(examples.ACKNOWLEDGE),
    )
    async def acknowledge(name: str, request: Request) -> Response:
        """Acknowledge everything up to a cursor, or just some."""
        content_type(request, (JSON,))
        async with context.bodies.read(request) as body:
            wanted = await threads.read(_wanted, name, body)
        for problem in await context.acks.apply(name, [wanted], hurries=True):
            if problem is not None:
                raise problem
        return Response(status_code=204)

    def _wanted(name: str, body: bytes) -> Acknowledgement:
        wanted = acknowledgement_of(body)
        open_queue(core, name)
        return wanted

    async def _pulled(name: str, most: int, wait: float, request: Request) -> list[bytes]:
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        while True:
            woken = LoopEvent()
            with core.courier.listening(name, woken.set):  # anew: it may be another of this name
                objects = await threads.read(_taken, name, most)
                left = end - loop.time()
                if objects or left <= 0 or context.stopping.is_set():
                    return objects
                if await first_of(woken.wait(left), gone(request), context.stopping.wait()) == 1:
                    return []
            await threads.read(open_queue, core, name)

    def _taken(name: str, most: int) -> list[bytes]:
        while True:
            core.check()
            handed = core.courier.take(name, most, 0.0)
            with context.timings.timed("send"):
                objects = objects_within(core, name, handed, _ANSWER_BYTES_MAX).each
            if objects or not handed:  # else all were lost, and others may follow
                return objects

    return routes


def check_range(name: str, value: float, most: float, limit: str) -> None:
    """Refuses a parameter beyond a limit.

    Raises:
        Refused: it is.
    """
    if value > most:
        text = f"{name} is at most {most:g}, the limit limits.{limit}"
        raise Refused(422, "bad_parameter", text, name)


async def gone(request: Request) -> None:
    """Returns when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def first_of(*waiting: Coroutine[Any, Any, Any]) -> int:
    """Which one ends first; the others are ended."""
    tasks = [asyncio.ensure_future(one) for one in waiting]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return next(number for number, task in enumerate(tasks) if task in done)
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
