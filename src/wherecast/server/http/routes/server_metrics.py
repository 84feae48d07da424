"""`GET /metrics`: what was done, in the text format of Prometheus."""

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from wherecast.language.meaning.row_errors import REASONS
from wherecast.server.http.context import Context
from wherecast.server.http.counters import Figure
from wherecast.server.http.routes.health import lag_of

_EXAMPLE = """# HELP wherecast_push_connections Number of open WebSocket connections.
# TYPE wherecast_push_connections gauge
wherecast_push_connections 3.0
"""
_TEXT = {"content": {"text/plain": {"schema": {"type": "string"}, "example": _EXAMPLE}}}
_SINCE_START = ("batches", "matches", "candidates")


def router(context: Context) -> APIRouter:
    """The path of metrics."""
    routes = APIRouter(tags=["operation"])
    context.counters.watch(lambda: _figures(context))

    @routes.get("/metrics", response_class=Response, responses={200: _TEXT})
    async def metrics() -> Response:
        """What was done so far, for Prometheus."""
        content = await context.pools.read(generate_latest, context.counters.registry)
        return Response(content, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return routes


def _figures(context: Context) -> Iterator[Figure]:
    yield from _of_matching(context)
    yield from _of_queues(context)
    yield from _of_connections(context)
    yield Figure("pipeline_running", context.pipeline.is_running)
    yield Figure("pipeline_restarts", context.pipeline.restarts)


def _of_matching(context: Context) -> Iterator[Figure]:
    store = context.core.store
    lag = lag_of(store)
    done = context.core.figures
    yield Figure("lag_publications", lag.publications)
    yield Figure("lag_seconds", lag.seconds)
    yield Figure("publications_matched", store.batches.progress().count)
    yield Figure("publish_batches", context.core.door.groups)
    yield Figure("publish_requests", context.publishing.requests)
    for name in _SINCE_START:
        yield Figure(name, done.get(name, 0))
    yield Figure("row_errors", dict.fromkeys(REASONS, 0) | done.get("row_errors", {}))
    yield Figure("index_filters", done.get("filters", 0))
    yield Figure("index_bytes", done.get("index_bytes", 0))
    yield Figure("stage_seconds", context.timings.read() | done.get("seconds", {}))
    yield Figure("damaged_changes", store.log.damaged_changes())
    for name, value in store.registry.counts().items():
        yield Figure(name, value)


def _of_queues(context: Context) -> Iterator[Figure]:
    totals = context.core.courier.totals()
    yield Figure("notifications_acknowledged", totals.acknowledged)
    yield Figure("notifications_lost", totals.lost)
    yield Figure("notifications_unwritable", context.writer.unwritable)
    yield Figure("notifications_held", totals.queued)
    yield Figure("notifications_in_flight", totals.in_flight)
    queued = context.core.queued_in_all
    if queued is not None:
        yield Figure("notifications_queued", queued)


def _of_connections(context: Context) -> Iterator[Figure]:
    connections = context.connections
    yield Figure("push_connections", len(connections))
    yield Figure("push_stalled", connections.stalled)
    yield Figure("push_replaced", connections.replaced)
    yield Figure("push_waiting", connections.waiting)
    yield Figure("push_held_bytes_most", connections.held_most_bytes)
    for kind, waiting in context.pools.waiting().items():
        yield Figure(f"threads_{kind}_waiting", waiting)
