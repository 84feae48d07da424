"""`/v1/subscribers/{name}/subscriptions`: one, many at once, or the whole set."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from wherecast.broker.registrar.registrar import DEFAULT_STREAM, Subscribed
from wherecast.broker.registrar.subscribe_all import Wanted, put_all
from wherecast.columns.json import read_ndjson
from wherecast.language import Filter
from wherecast.model import Subscription
from wherecast.model.times import format_time, time_micros
from wherecast.server.http.context import Context
from wherecast.server.http.messages import examples, messages
from wherecast.server.http.messages.answers import Refused, answer
from wherecast.server.http.messages.documents import checked_object, object_of, string_of
from wherecast.server.http.routes.lookups import name_of, open_queue, stream_schema
from wherecast.server.http.routes.subscribers import After, Limit
from wherecast.server.http.transport.body import JSON, NDJSON, content_type
from wherecast.store.clock import now_us

_KEYS = ("filter", "stream", "valid_for")
_BULK_KEYS = ("id", *_KEYS)
_PATH = "/v1/subscribers/{name}/subscriptions"


def router(context: Context) -> APIRouter:
    """The paths of subscriptions."""
    routes = APIRouter(tags=["subscriptions"])
    _add_many(routes, context)
    _add_one(routes, context)
    return routes


def _add_many(routes: APIRouter, context: Context) -> None:
    """The paths of all subscriptions of a subscriber."""
    core, threads = context.core, context.threads

    @routes.get(
        _PATH, response_model=messages.Subscriptions, responses=messages.answers(404, 422, 503)
    )
    async def list_subscriptions(name: str, after: After = "", limit: Limit = 1000) -> Response:
        """The subscriptions of a subscriber in the order of their ids, a page at a time."""

        def page() -> list[Subscription]:
            open_queue(core, name)
            return core.store.registry.subscriptions(name, after, limit)

        found = await threads.read(page)
        last = found[-1].id if len(found) == limit else None
        return answer({"subscriptions": [_written(one) for one in found], "after": last})

    @routes.put(
        _PATH,
        response_model=messages.Verdicts,
        responses=messages.answers(400, 404, 408, 413, 415, 422, 503),
        openapi_extra=examples.body(examples.SUBSCRIBE_ALL),
    )
    async def subscribe_all(
        name: str,
        request: Request,
        replace: Annotated[bool, Query(description="Make it the whole set.")] = False,
    ) -> Response:
        """Add or replace many subscriptions, an object per line; each gets its verdict."""
        content_type(request, (NDJSON,))
        async with context.bodies.read(request) as body:
            return answer(await threads.write(_put_all, name, body, replace))

    def _put_all(name: str, body: bytes, replace: bool) -> dict[str, Any]:
        open_queue(core, name)
        if not body.strip():
            text = "the body is empty; it needs a subscription per line"
            raise Refused(400, "malformed", text)
        wanted = Wanted()
        for given in read_ndjson(body):
            try:
                one = checked_object(given, _BULK_KEYS, ("id", "filter"))
                wanted.add(_subscription(name, string_of(one, "id"), one))
            except Refused as error:
                wanted.refuse({"code": error.code, "message": error.message}, given)
        is_strict = context.settings.limits.strict_filters
        return put_all(core.registrar, name, wanted, replace, now_us(), is_strict)


def _add_one(routes: APIRouter, context: Context) -> None:
    """The paths of one subscription."""
    core, threads = context.core, context.threads

    @routes.put(
        _PATH + "/{id:path}",
        status_code=201,
        response_model=messages.Subscription,
        responses=messages.answers(
            200, 400, 404, 408, 413, 415, 422, 503, same=messages.Subscription
        ),
        openapi_extra=examples.body(examples.SUBSCRIBE),
    )
    async def subscribe(name: str, id: str, request: Request) -> Response:
        """Add a subscription, or replace the one of this id.

        It acts on everything that is published after the answer.
        """
        content_type(request, (JSON,))
        async with context.bodies.read(request) as body:
            document = await threads.write(_put, name, name_of("subscription id", id), body)
        return answer(document, 201 if document["verdict"] == "created" else 200)

    @routes.get(
        _PATH + "/{id:path}",
        response_model=messages.Subscription,
        responses=messages.answers(404, 422, 503),
    )
    async def show_subscription(name: str, id: str) -> Response:
        """A subscription."""

        def shown() -> dict[str, Any]:
            open_queue(core, name)
            found = core.store.registry.subscription(name, id)
            if found is None:
                raise _unknown(name, id)
            return _written(found)

        return answer(await threads.read(shown))

    @routes.delete(_PATH + "/{id:path}", status_code=204, responses=messages.answers(404, 422, 503))
    async def unsubscribe(name: str, id: str) -> Response:
        """End a subscription; what it queued stays."""

        def ended() -> None:
            open_queue(core, name)
            if not core.registrar.unsubscribe(name, id, now_us()):
                raise _unknown(name, id)

        await threads.write(ended)
        return Response(status_code=204)

    def _put(name: str, id: str, body: bytes) -> dict[str, Any]:
        given = object_of(body, _KEYS, ("filter",))
        wanted = _subscription(name, id, given)
        open_queue(core, name)
        schema = stream_schema(core, wanted.stream)
        if context.settings.limits.strict_filters:
            _refuse_warnings(Filter(wanted.filter, schema))
        return _put_answer(wanted, core.registrar.subscribe(wanted, now_us()))


def _subscription(name: str, id: str, given: dict[str, Any]) -> Subscription:
    if given.get("valid_for") is not None:
        text = "valid_for is not supported yet; leave it out"
        raise Refused(422, "not_supported", text, "/valid_for")
    stream = string_of(given, "stream", DEFAULT_STREAM)
    return Subscription(name_of("subscription id", id), string_of(given, "filter"), name, stream)


def _refuse_warnings(read: Filter) -> None:
    if read.warnings:
        raise Refused(422, "never_matches", read.warnings[0], "/filter")


def _unknown(name: str, id: str) -> Refused:
    return Refused(404, "unknown_subscription", f"subscriber {name} has no subscription {id}")


def _put_answer(wanted: Subscription, done: Subscribed) -> dict[str, Any]:
    document = _written(wanted) | {
        "verdict": done.verdict,
        "warnings": list(done.filter.warnings),
    }
    if done.acts_from is not None:
        document["acts_from"] = {"0": 0} | done.acts_from.to_dict()
    return document


def _written(one: Subscription) -> dict[str, Any]:
    found: dict[str, Any] = {"id": one.id, "filter": one.filter, "stream": one.stream}
    if one.starts_at is not None:
        found["since"] = format_time(time_micros(one.starts_at))
    return found
