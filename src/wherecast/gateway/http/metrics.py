"""`GET /metrics`: what was done, in the text format of Prometheus."""

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from wherecast.gateway.http.context import Context
from wherecast.gateway.http.health import lag_of


def router(context: Context) -> APIRouter:
    """The path of metrics."""
    routes = APIRouter(tags=["operation"])
    context.counters.watch(lambda: _figures(context))

    @routes.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """What was done so far, for Prometheus."""
        content = await context.threads.read(generate_latest, context.counters.registry)
        return Response(content, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return routes


def _figures(context: Context) -> Iterator[tuple[str, str, str, float]]:
    store = context.desk.store
    lag, counts = lag_of(store), store.registry.counts()
    yield "gauge", "lag_publications", "Publications that are not matched yet.", lag.publications
    yield "gauge", "lag_seconds", "Age of the oldest of them.", lag.seconds
    yield "counter", "publications_matched", "Matched so far.", store.batches.progress().sequence
    yield "gauge", "streams", "There are.", counts["streams"]
    yield "gauge", "subscribers", "Registered.", counts["subscribers"]
    yield "gauge", "subscriptions", "In force.", counts["subscriptions"]
    totals = context.desk.courier.totals()
    yield "counter", "notifications_acknowledged", "Of open queues.", totals.acknowledged
    yield "counter", "notifications_lost", "Passed a limit, or damaged.", totals.lost
    yield "gauge", "notifications_held", "In memory, not acknowledged.", totals.queued
    yield "gauge", "notifications_in_flight", "Pushed, not acknowledged.", totals.in_flight
    connections = context.connections
    yield "gauge", "push_connections", "Open now.", len(connections)
    yield "counter", "push_stalled", "Closed since they took nothing.", connections.stalled
    yield "counter", "push_replaced", "Closed for another one.", connections.replaced
    yield "gauge", "push_waiting", "Connections that wait to take more.", connections.waiting
    held = connections.held_most_bytes
    yield "gauge", "push_held_bytes_most", "The most that one ever held to be sent.", held
    for kind, waiting in context.threads.waiting().items():
        yield "gauge", f"threads_{kind}_waiting", "Calls that wait for a thread.", waiting
    pipeline = context.pipeline
    yield "gauge", "pipeline_running", "1 where publications are matched.", pipeline.is_running
    yield "counter", "pipeline_restarts", "Of its process.", pipeline.restarts
