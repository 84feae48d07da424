"""`/v1/subscribers`: registering, looking, and forgetting."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from wherecast.delivery import encode_cursor
from wherecast.server.http.context import Context
from wherecast.server.http.messages import messages
from wherecast.server.http.messages.answers import Refused, answer
from wherecast.server.http.routes.lookups import name_of, open_queue

After = Annotated[str, Query(description="Those after this one.", max_length=256)]
Limit = Annotated[int, Query(description="How many at most.", ge=1, le=10_000)]


def router(context: Context) -> APIRouter:
    """The paths of subscribers."""
    routes = APIRouter(tags=["subscribers"])
    core, threads = context.core, context.threads

    @routes.get(
        "/v1/subscribers", response_model=messages.Subscribers, responses=messages.answers(422, 503)
    )
    async def list_subscribers(after: After = "", limit: Limit = 1000) -> Response:
        """The names of subscribers in their order, a page at a time."""
        names = await threads.read(core.store.registry.subscribers, after, limit)
        return answer({"subscribers": names, "after": names[-1] if len(names) == limit else None})

    @routes.put(
        "/v1/subscribers/{name}",
        status_code=201,
        response_model=messages.Subscriber,
        responses=messages.answers(200, 404, 422, 503, same=messages.Subscriber),
    )
    async def register(name: str) -> Response:
        """Register a subscriber. One that is registered stays as it is."""
        is_new = await threads.write(core.register, name_of("subscriber", name))
        return answer(await threads.read(_shown, name), 201 if is_new else 200)

    @routes.get(
        "/v1/subscribers/{name}",
        response_model=messages.Subscriber,
        responses=messages.answers(404, 422, 503),
    )
    async def show_subscriber(name: str) -> Response:
        """Whether a subscriber is connected, and what is queued for it."""
        return answer(await threads.read(_shown, name))

    @routes.delete(
        "/v1/subscribers/{name}", status_code=204, responses=messages.answers(404, 422, 503)
    )
    async def unregister(name: str) -> Response:
        """End a subscriber with its subscriptions and its queue."""
        await threads.write(_forgotten, name_of("subscriber", name))
        return Response(status_code=204)

    def _forgotten(name: str) -> None:
        if not core.forget(name):
            raise Refused(404, "unknown_subscriber", f"subscriber {name} is not registered")

    def _shown(name: str) -> dict[str, Any]:
        open_queue(core, name)
        figures = core.courier.figures(name)
        cursor = core.store.cursors.read(name)
        return {
            "name": name,
            "connected": context.connections.is_connected(name),
            "queued": core.queued(name),
            "in_flight": figures.in_flight,
            "lost": figures.lost,
            "cursor": encode_cursor(0 if cursor is None else cursor.through),
        }

    return routes
