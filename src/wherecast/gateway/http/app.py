"""The application: all paths over one desk."""

import asyncio

from fastapi import FastAPI

from wherecast.gateway.http import (
    dead_letters,
    explain,
    health,
    metrics,
    notifications,
    publications,
    push,
    reading,
    streams,
    subscribers,
    subscriptions,
)
from wherecast.gateway.http.answers import HANDLERS
from wherecast.gateway.http.body import Bodies
from wherecast.gateway.http.context import Context
from wherecast.gateway.http.counters import Counters
from wherecast.gateway.http.desk import Desk
from wherecast.gateway.http.front import Front
from wherecast.gateway.http.guard import App, Guard
from wherecast.gateway.http.joint import Joint
from wherecast.gateway.http.joint_acks import JointAcks
from wherecast.gateway.http.pipeline_state import PipelineState
from wherecast.gateway.http.threads import Threads
from wherecast.gateway.http.timings import Timings
from wherecast.gateway.settings import Settings
from wherecast.model import Limits

_DESCRIPTION = """Content-based publish/subscribe: filters are WHERE clauses.

Notifications are also pushed: open a WebSocket at `/v1/subscribers/{name}/push`. Each message is a
notification object as a pull gives it; send `{"through": cursor}` or `{"cursors": […]}` back."""


def context_of(desk: Desk, settings: Settings, pipeline: PipelineState) -> Context:
    """What the paths of a server share; made within the event loop that serves them."""
    given, threads, timings = settings.limits, Threads(), Timings()
    limits = Limits(
        publication_attributes_max=given.publication_attributes_max,
        json_depth_max=given.json_depth_max,
        payload_bytes_max=given.payload_bytes_max,
    )
    return Context(
        desk=desk,
        settings=settings,
        threads=threads,
        bodies=Bodies(given),
        joint=Joint(desk, threads, timings, given.publications_max, limits),
        acks=JointAcks(desk.courier, threads, timings),
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
        reading,
        explain,
        subscribers,
        subscriptions,
        notifications,
        push,
        dead_letters,
        health,
        metrics,
    ):
        api.include_router(module.router(context))
    return api


def app_of(context: Context, version: str) -> App:
    """The application that a server runs."""
    return Guard(Front(api_of(context, version), context), (context.settings.server.host,))
