"""`/`: links. `/healthz`: the process answers. `/readyz`: publications are stored and matched."""

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import Response

from wherecast.model import WherecastError
from wherecast.server.http.context import Context
from wherecast.server.http.messages.openapi import answers
from wherecast.server.http.messages.operation_messages import (
    HealthMessage,
    LinksMessage,
    ReadinessMessage,
)
from wherecast.server.http.transport.answers import answer
from wherecast.store.clock import now_us
from wherecast.store.contracts import Store

_LINKS: LinksMessage = {
    "docs": "/docs",
    "openapi": "/openapi.json",
    "health": "/healthz",
    "readiness": "/readyz",
    "metrics": "/metrics",
    "streams": "/v1/streams",
    "subscribers": "/v1/subscribers",
}


@dataclass(frozen=True, slots=True)
class Lag:
    """How far matching is behind publishing.

    Attributes:
        publications: number of publications that are stored and not yet matched.
        seconds: the age of the oldest of them.
    """

    publications: int
    seconds: float


def lag_of(store: Store) -> Lag:
    """How far matching is behind publishing."""
    done, ends = store.batches.progress().position, store.log.ends()
    waiting = sum(store.log.count(part, done[part], end) for part, end in ends.items())
    if not waiting:
        return Lag(0, 0.0)
    for partition in ends:
        first = done[partition]
        for entry in store.log.read(partition, first, store.log.skip(partition, first, 1)):
            return Lag(waiting, max(0.0, (store.log.time(now_us()) - entry.accepted_at) / 1e6))
    return Lag(waiting, 0.0)


def router(context: Context) -> APIRouter:
    """The paths for operators."""
    routes = APIRouter(tags=["operation"])

    @routes.get("/", **answers(200, LinksMessage))
    async def links() -> Response:
        """Where to go from here."""
        return answer(_LINKS)

    @routes.get("/healthz", **answers(200, HealthMessage))
    async def healthz() -> Response:
        """The process answers."""
        healthy: HealthMessage = {"status": "ok"}
        return answer(healthy)

    @routes.get("/readyz", **answers(200, ReadinessMessage, others={503: ReadinessMessage}))
    async def readyz() -> Response:
        """Publications are stored, matched and delivered; and how far matching is behind."""
        document = await context.pools.read(readiness)
        return answer(document, 200 if document["ready"] else 503)

    def readiness() -> ReadinessMessage:
        pipeline = context.pipeline
        problem, lag = pipeline.problem, Lag(0, 0.0)
        is_ready = pipeline.is_running and not context.stopping.is_set()
        try:
            context.core.check()
            lag = lag_of(context.core.store)
            if context.core.problem is not None:
                is_ready, problem = False, str(context.core.problem)
        except WherecastError as error:
            is_ready, problem = False, str(error)
        return {
            "ready": is_ready,
            "pipeline": {
                "phase": pipeline.phase,
                "restarts": pipeline.restarts,
                "problem": problem or None,
            },
            "lag": {"publications": lag.publications, "seconds": lag.seconds},
        }

    return routes
