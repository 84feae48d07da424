"""`GET /metrics`: what was done, in the text format of Prometheus."""

from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from wherecast.server.http.context import Context
from wherecast.server.http.counters import Figure
from wherecast.server.http.routes.health import lag_of

_DONE = {
    "batches": "Committed since matching began in its process.",
    "matches": "Pairs of a publication and a subscription since then.",
    "candidates": "Filters that were looked at one by one since then.",
}


def router(context: Context) -> APIRouter:
    """The path of metrics."""
    routes = APIRouter(tags=["operation"])
    context.counters.watch(lambda: _figures(context))

    @routes.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """What was done so far, for Prometheus."""
        content = await context.pools.read(generate_latest, context.counters.registry)
        return Response(content, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return routes


def _figures(context: Context) -> Iterator[Figure]:
    yield from _of_matching(context)
    yield from _of_queues(context)
    yield from _of_connections(context)
    pipeline = context.pipeline
    yield Figure("gauge", "pipeline_running", "1 where they are matched.", pipeline.is_running)
    yield Figure("counter", "pipeline_restarts", "Of its process.", pipeline.restarts)


def _of_matching(context: Context) -> Iterator[Figure]:
    store, joint = context.core.store, context.publish_batcher
    lag, counts = lag_of(store), store.registry.counts()
    done = context.core.figures or context.pipeline.figures
    matched = store.batches.progress().sequence
    yield Figure("gauge", "lag_publications", "Not matched yet.", lag.publications)
    yield Figure("gauge", "lag_seconds", "Age of the oldest of them.", lag.seconds)
    yield Figure("counter", "publications_matched", "Ever, with this store.", matched)
    yield Figure("counter", "publish_batches", "Written to the log.", joint.batches)
    yield Figure("counter", "publish_requests", "That these had.", joint.requests)
    for name, text in _DONE.items():
        yield Figure("counter", name, text, done.get(name, 0))
    yield Figure("gauge", "index_filters", "In the index.", done.get("filters", 0))
    yield Figure("gauge", "index_bytes", "What the index takes.", done.get("index_bytes", 0))
    seconds = context.timings.read() | done.get("seconds", {})
    yield Figure("counter", "stage_seconds", "What each stage took.", seconds, "stage")
    damaged = "Changes of subscriptions that cannot be read; wherecast store check names them."
    yield Figure("gauge", "damaged_changes", damaged, store.log.damaged_changes())
    for name, value in counts.items():
        yield Figure("gauge", name, "There are.", value)


def _of_queues(context: Context) -> Iterator[Figure]:
    totals = context.core.courier.totals()
    yield Figure("counter", "notifications_acknowledged", "Of open queues.", totals.acknowledged)
    yield Figure("counter", "notifications_lost", "Passed a limit, or damaged.", totals.lost)
    yield Figure("gauge", "notifications_held", "In memory, not acknowledged.", totals.queued)
    yield Figure("gauge", "notifications_in_flight", "Pushed, not acknowledged.", totals.in_flight)
    queued = context.core.queued_in_all
    if queued is not None:
        text = "In all queues, when limits were looked at last (retention.every)."
        yield Figure("gauge", "notifications_queued", text, queued)


def _of_connections(context: Context) -> Iterator[Figure]:
    connections = context.connections
    yield Figure("gauge", "push_connections", "Open now.", len(connections))
    yield Figure("counter", "push_stalled", "Closed since they took nothing.", connections.stalled)
    yield Figure("counter", "push_replaced", "Closed for another one.", connections.replaced)
    yield Figure("gauge", "push_waiting", "Take no more for now.", connections.waiting)
    held = connections.held_most_bytes
    yield Figure("gauge", "push_held_bytes_most", "The most that one ever held to be sent.", held)
    for kind, waiting in context.pools.waiting().items():
        yield Figure("gauge", f"threads_{kind}_waiting", "Calls that wait for a thread.", waiting)
