"""`GET /v1/streams/{stream}/publications`: what was published, from an offset on."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from wherecast.broker.dispatch.publication_cache import LoggedPublication
from wherecast.broker.loop_event import LoopEvent
from wherecast.server.http.context import Context
from wherecast.server.http.messages.openapi import answers
from wherecast.server.http.messages.publication_messages import (
    LoggedPublicationMessage,
    LoggedPublicationsMessage,
)
from wherecast.server.http.routes.lookups import stream_schema
from wherecast.server.http.routes.notifications import check_range, first_of, gone
from wherecast.server.http.routes.route_parameters import Most, StreamName, Wait
from wherecast.server.http.transport.answers import answer

_PARTITION = 0  # the embedded log has one
_LAST = 2**62
_Found = tuple[list[LoggedPublicationMessage], int]
_READ_MAX = 10_000  # offsets that are looked at in one step
From = Annotated[int, Query(alias="from", description="The first offset.", ge=0, le=_LAST)]


def router(context: Context) -> APIRouter:
    """The path that reads a stream."""
    routes = APIRouter(tags=["publications"])
    core, pools, limits = context.core, context.pools, context.settings.limits

    @routes.get(
        "/v1/streams/{stream}/publications",
        **answers(200, LoggedPublicationsMessage, 404, 422, 503),
    )
    async def read_stream(
        stream: StreamName, request: Request, start: From = 0, most: Most = 100, wait: Wait = 0.0
    ) -> Response:
        """The publications of a stream from an offset on, whether they match something or not."""
        check_range("max", most, limits.notifications_max, "notifications_max")
        check_range("wait", wait, limits.wait_max.total_seconds(), "wait_max")
        await pools.read(stream_schema, core, stream)
        loop = asyncio.get_running_loop()
        end = loop.time() + wait
        news = LoopEvent()
        with context.append_signal.listening(news.set):
            while True:
                news.clear()
                found, start = await pools.read(found_from, stream, start, most)
                left = end - loop.time()
                if found or left <= 0 or context.stopping.is_set():
                    return answer(_page(found, start))
                if await first_of(news.wait(left), gone(request), context.stopping.wait()) == 1:
                    return answer(_page([], start))

    def found_from(stream: str, start: int, most: int) -> _Found:
        """Publications, and the offset after the last one that was looked at."""
        core.check()
        end = core.store.log.ends()[_PARTITION]
        start = max(start, core.store.log.starts()[_PARTITION])
        while start < end:
            limit = min(start + _READ_MAX, end)
            for entry in core.store.log.read(_PARTITION, start, limit):
                after = entry.first + entry.count
                is_publications = entry.kind == "publication" and entry.damage is None
                if entry.stream == stream and is_publications:
                    offsets = range(max(start, entry.first), after)[:most]
                    received = core.publications_at(offsets)
                    return [_message(got) for got in received if got is not None], offsets[-1] + 1
                start = max(start, after)
            start = max(start, limit)
        return [], start

    return routes


def _page(found: list[LoggedPublicationMessage], after: int) -> LoggedPublicationsMessage:
    return {"publications": found, "next": after}


def _message(got: LoggedPublication) -> LoggedPublicationMessage:
    written: Any = got.publication.to_dict()
    return {"stream": got.stream, "offset": got.offset, "publication": written}
