"""The application: all paths over one core."""

import asyncio

from fastapi import FastAPI

from wherecast.broker.broker_core import BrokerCore
from wherecast.server.http.context import Context
from wherecast.server.http.counters import Counters
from wherecast.server.http.door.acknowledging import Acknowledging
from wherecast.server.http.door.loop_door import LoopDoor
from wherecast.server.http.door.publishing import Publishing
from wherecast.server.http.notification_writer import NotificationWriter
from wherecast.server.http.pipeline_state import PipelineState
from wherecast.server.http.routes import (
    dead_letters,
    explain,
    health,
    notifications,
    publications,
    publish_socket,
    push,
    read_publications,
    server_metrics,
    streams,
    subscribers,
    subscriptions,
)
from wherecast.server.http.routes.publish_shortcut import PublishShortcut
from wherecast.server.http.stage_timings import Timings
from wherecast.server.http.transport.answers import HANDLERS
from wherecast.server.http.transport.body import Bodies
from wherecast.server.http.transport.guard import App, Guard
from wherecast.server.http.transport.thread_pools import ThreadPools
from wherecast.server.settings import Settings

_DESCRIPTION = """Content-based publish/subscribe: filters are WHERE clauses.

Notifications are also pushed: open a WebSocket at `/v1/subscribers/{name}/push`. Each message is a
notification object as a pull gives it; send `{"through": cursor}` or `{"cursors": […]}` back.

Publications are also taken over a WebSocket, one by one, at `/v1/streams/{stream}/publish`: send
`{"n": 1, "attributes": {…}}`; `{"acked": [1]}` says that they are on disk."""


def context_of(core: BrokerCore, settings: Settings, pipeline: PipelineState) -> Context:
    """What the paths of a server share; made within the event loop that serves them."""
    given, pools, timings = settings.limits, ThreadPools(), Timings()
    door = LoopDoor(core.door)
    return Context(
        core=core,
        settings=settings,
        pools=pools,
        bodies=Bodies(given),
        door=door,
        publishing=Publishing(
            core, door, pools, timings, given.publications_max, settings.publications
        ),
        acknowledging=Acknowledging(core, door, pools, timings),
        writer=NotificationWriter(core),
        timings=timings,
        counters=Counters(),
        pipeline=pipeline,
        stopping=asyncio.Event(),
    )


def api_of(context: Context, version: str) -> FastAPI:
    """All paths."""
    api = FastAPI(
        title="Wherecast",
        version=version,
        description=_DESCRIPTION,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=HANDLERS,
    )
    for module in (
        streams,
        publications,
        read_publications,
        explain,
        subscribers,
        subscriptions,
        notifications,
        publish_socket,
        push,  # after the others: it refuses connections to any other path
        dead_letters,
        health,
        server_metrics,
    ):
        api.include_router(module.router(context))
    return api


def app_of(context: Context, version: str) -> App:
    """The application that a server runs."""
    return Guard(
        PublishShortcut(api_of(context, version), context), (context.settings.server.host,)
    )
