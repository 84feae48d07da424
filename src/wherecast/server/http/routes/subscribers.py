"""`/v1/subscribers`: registering, looking, and forgetting."""

from fastapi import APIRouter
from fastapi.responses import Response

from wherecast.delivery import encode_cursor
from wherecast.server.http.context import Context
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.openapi import answers
from wherecast.server.http.messages.subscriber_messages import SubscriberMessage, SubscribersMessage
from wherecast.server.http.routes.lookups import name_of, open_queue
from wherecast.server.http.routes.route_parameters import After, Limit, SubscriberName
from wherecast.server.http.transport.answers import answer


def router(context: Context) -> APIRouter:
    """The paths of subscribers."""
    routes = APIRouter(tags=["subscribers"])
    core, pools = context.core, context.pools

    @routes.get("/v1/subscribers", **answers(200, SubscribersMessage, 422, 503))
    async def list_subscribers(after: After = "", limit: Limit = 1000) -> Response:
        """The names of subscribers in their order, a page at a time."""
        names = await pools.read(core.store.registry.subscribers, after, limit)
        page: SubscribersMessage = {
            "subscribers": names,
            "after": names[-1] if len(names) == limit else None,
        }
        return answer(page)

    @routes.put(
        "/v1/subscribers/{name}",
        **answers(201, SubscriberMessage, 404, 422, 503, others={200: SubscriberMessage}),
    )
    async def register(name: SubscriberName) -> Response:
        """Register a subscriber. One that is registered stays as it is."""
        is_new = await pools.write(core.register, name_of("subscriber", name))
        return answer(await pools.read(shown, name), 201 if is_new else 200)

    @routes.get("/v1/subscribers/{name}", **answers(200, SubscriberMessage, 404, 422, 503))
    async def show_subscriber(name: SubscriberName) -> Response:
        """Whether a subscriber is connected, and what is queued for it."""
        return answer(await pools.read(shown, name))

    @routes.delete("/v1/subscribers/{name}", **answers(204, None, 404, 422, 503))
    async def unregister(name: SubscriberName) -> Response:
        """End a subscriber with its subscriptions and its queue."""
        await pools.write(forget, name_of("subscriber", name))
        return Response(status_code=204)

    def forget(name: str) -> None:
        if not core.forget(name):
            raise Refused(404, "unknown_subscriber", f"subscriber {name} is not registered")

    def shown(name: str) -> SubscriberMessage:
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
