"""`GET /v1/streams/{stream}/publications`: what was published, from an offset on."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from wherecast.broker.dispatch.publication_cache import Received
from wherecast.broker.loop_event import LoopEvent
from wherecast.server.http.context import Context
from wherecast.server.http.messages import messages
from wherecast.server.http.messages.answers import answer
from wherecast.server.http.routes.lookups import stream_schema
from wherecast.server.http.routes.notifications import Most, Wait, check_range, first_of, gone

_PARTITION = 0  # the embedded log has one
_LAST = 2**62
_READ_MAX = 10_000  # offsets that are looked at in one step
From = Annotated[int, Query(alias="from", description="The first offset.", ge=0, le=_LAST)]


def router(context: Context) -> APIRouter:
    """The path that reads a stream."""
    routes = APIRouter(tags=["publications"])
    core, threads, limits = context.core, context.threads, context.settings.limits

    @routes.get(
        "/v1/streams/{stream}/publications",
        response_model=messages.ReadPublications,
        responses=messages.answers(404, 422, 503),
    )
    async def read_stream(
        stream: str, request: Request, start: From = 0, most: Most = 100, wait: Wait = 0.0
    ) -> Response:
        """The publications of a stream from an offset on, whether they match something or not."""
        check_range("max", most, limits.notifications_max, "notifications_max")
        check_range("wait", wait, limits.wait_max.total_seconds(), "wait_max")
        await threads.read(stream_schema, core, stream)
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        woken = LoopEvent()
        with context.appended.listening(woken.set):
            while True:
                woken.clear()
                found, start = await threads.read(_found, stream, start, most)
                left = end - loop.time()
                if found or left <= 0 or context.stopping.is_set():
                    return answer({"publications": found, "next": start})
                if await first_of(woken.wait(left), gone(request), context.stopping.wait()) == 1:
                    return answer({"publications": [], "next": start})

    def _found(stream: str, start: int, most: int) -> tuple[list[dict[str, Any]], int]:
        """Publications, and the offset after the last one that was looked at."""
        core.check()
        end = core.store.log.ends()[_PARTITION]
        start = max(start, core.store.log.starts()[_PARTITION])
        while start < end:
            limit = min(start + _READ_MAX, end)
            for entry in core.store.log.read(_PARTITION, start, limit):
                after = entry.first + entry.count
                if entry.stream == stream and entry.damage is None:
                    offsets = range(max(start, entry.first), after)[:most]
                    shown = [_written(got) for got in core.published(offsets) if got is not None]
                    return shown, offsets[-1] + 1
                start = max(start, after)
            start = max(start, limit)
        return [], start

    return routes


def _written(got: Received) -> dict[str, Any]:
    return {"stream": got.stream, "offset": got.offset, "publication": got.publication.to_dict()}
