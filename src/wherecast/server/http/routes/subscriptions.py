"""`/v1/subscribers/{name}/subscriptions`: one, many at once, or the whole set."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from wherecast.broker.registrar.registrar import DEFAULT_STREAM
from wherecast.broker.registrar.subscribe_all import SubscriptionBatch, put_all
from wherecast.broker.registrar.subscribe_outcome import SubscribeOutcome
from wherecast.columns.json import read_ndjson
from wherecast.language import Filter
from wherecast.model import Subscription
from wherecast.model.times import format_time, time_micros
from wherecast.server.http.context import Context
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.openapi import JSON, NDJSON, answers, body, lines, request
from wherecast.server.http.messages.reading import check_request, read_request
from wherecast.server.http.messages.subscription_messages import (
    SubscriptionLine,
    SubscriptionMessage,
    SubscriptionRequest,
    SubscriptionsMessage,
    VerdictsMessage,
)
from wherecast.server.http.routes.lookups import name_of, open_queue, stream_schema
from wherecast.server.http.routes.route_parameters import (
    After,
    Limit,
    SubscriberName,
    SubscriptionId,
)
from wherecast.server.http.routes.streams import offsets_of
from wherecast.server.http.transport.answers import answer
from wherecast.server.http.transport.body import content_type
from wherecast.store.clock import now_us

_PATH = "/v1/subscribers/{name}/subscriptions"
_LINES = ('{"id": "s1", "filter": "no2 > 40"}', '{"id": "s2", "filter": "no2 > 80"}')


def router(context: Context) -> APIRouter:
    """The paths of subscriptions."""
    routes = APIRouter(tags=["subscriptions"])
    _add_many(routes, context)
    _add_one(routes, context)
    return routes


def _add_many(routes: APIRouter, context: Context) -> None:
    """The paths of all subscriptions of a subscriber."""
    core, pools = context.core, context.pools

    @routes.get(_PATH, **answers(200, SubscriptionsMessage, 404, 422, 503))
    async def list_subscriptions(
        name: SubscriberName, after: After = "", limit: Limit = 1000
    ) -> Response:
        """The subscriptions of a subscriber in the order of their ids, a page at a time."""
        return answer(await pools.read(page, name, after, limit))

    @routes.put(
        _PATH,
        **answers(200, VerdictsMessage, 400, 404, 408, 413, 415, 422, 503),
        **request({NDJSON: lines(*_LINES)}),
    )
    async def subscribe_all(
        name: SubscriberName,
        request: Request,
        replace: Annotated[bool, Query(description="Make it the whole set.")] = False,
    ) -> Response:
        """Add or replace many subscriptions, an object per line; each gets its verdict."""
        content_type(request, (NDJSON,))
        async with context.bodies.read(request) as content:
            return answer(await pools.write(put_lines, name, content, replace))

    def page(name: str, after: str, limit: int) -> SubscriptionsMessage:
        open_queue(core, name)
        found = core.store.registry.subscriptions(name, after, limit)
        last = found[-1].id if len(found) == limit else None
        return {"subscriptions": [_message(one) for one in found], "after": last}

    def put_lines(name: str, content: bytes, replace: bool) -> dict[str, Any]:
        open_queue(core, name)
        if not content.strip():
            text = "the body is empty; it needs a subscription per line"
            raise Refused(400, "malformed", text)
        batch = SubscriptionBatch()
        for given in read_ndjson(content):
            try:
                line = check_request(SubscriptionLine, given)
                batch.add(_subscription(name, line["id"], line))
            except Refused as error:
                batch.refuse({"code": error.code, "message": error.message}, given)
        is_strict = context.settings.limits.strict_filters
        return put_all(core.registrar, name, batch, replace, now_us(), is_strict)


def _add_one(routes: APIRouter, context: Context) -> None:
    """The paths of one subscription."""
    core, pools = context.core, context.pools
    path = _PATH + "/{id:path}"

    @routes.put(
        path,
        **answers(
            201,
            SubscriptionMessage,
            *(400, 404, 408, 413, 415, 422, 503),
            others={200: SubscriptionMessage},
        ),
        **request({JSON: body(SubscriptionRequest)}),
    )
    async def subscribe(name: SubscriberName, id: SubscriptionId, request: Request) -> Response:
        """Add a subscription, or replace the one of this id.

        It acts on everything that is published after the answer.
        """
        content_type(request, (JSON,))
        async with context.bodies.read(request) as content:
            done = await pools.write(put, name, name_of("subscription id", id), content)
        return answer(done, 201 if done["verdict"] == "created" else 200)

    @routes.get(path, **answers(200, SubscriptionMessage, 404, 422, 503))
    async def show_subscription(name: SubscriberName, id: SubscriptionId) -> Response:
        """A subscription."""
        return answer(await pools.read(shown, name, id))

    @routes.delete(path, **answers(204, None, 404, 422, 503))
    async def unsubscribe(name: SubscriberName, id: SubscriptionId) -> Response:
        """End a subscription; what it queued stays."""
        await pools.write(end, name, id)
        return Response(status_code=204)

    def put(name: str, id: str, content: bytes) -> SubscriptionMessage:
        wanted = _subscription(name, id, read_request(SubscriptionRequest, content))
        open_queue(core, name)
        schema = stream_schema(core, wanted.stream)
        if context.settings.limits.strict_filters:
            _refuse_warnings(Filter(wanted.filter, schema))
        return _put_message(wanted, core.registrar.subscribe(wanted, now_us()))

    def shown(name: str, id: str) -> SubscriptionMessage:
        open_queue(core, name)
        found = core.store.registry.subscription(name, id)
        if found is None:
            raise _unknown(name, id)
        return _message(found)

    def end(name: str, id: str) -> None:
        open_queue(core, name)
        if not core.registrar.unsubscribe(name, id, now_us()):
            raise _unknown(name, id)


def _subscription(
    name: str, id: str, given: SubscriptionRequest | SubscriptionLine
) -> Subscription:
    if "valid_for" in given:
        text = "valid_for is not supported yet; leave it out"
        raise Refused(422, "not_supported", text, "/valid_for")
    stream = given.get("stream", DEFAULT_STREAM)
    return Subscription(name_of("subscription id", id), given["filter"], name, stream)


def _refuse_warnings(read: Filter) -> None:
    if read.warnings:
        raise Refused(422, "never_matches", read.warnings[0], "/filter")


def _unknown(name: str, id: str) -> Refused:
    return Refused(404, "unknown_subscription", f"subscriber {name} has no subscription {id}")


def _put_message(wanted: Subscription, done: SubscribeOutcome) -> SubscriptionMessage:
    message = _message(wanted)
    message["verdict"] = done.verdict
    message["warnings"] = list(done.filter.warnings)
    if done.acts_from is not None:
        message["acts_from"] = offsets_of(done.acts_from)
    return message


def _message(one: Subscription) -> SubscriptionMessage:
    message: SubscriptionMessage = {"id": one.id, "filter": one.filter, "stream": one.stream}
    if one.starts_at is not None:
        message["since"] = format_time(time_micros(one.starts_at))
    return message
