"""`/v1/streams`: which there are, their schemas, positions and counts."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wherecast.model import ConfigError, Schema, SchemaError
from wherecast.model.values import describe
from wherecast.server.http.context import Context
from wherecast.server.http.messages import examples, messages
from wherecast.server.http.messages.answers import Refused, answer
from wherecast.server.http.messages.documents import object_of
from wherecast.server.http.routes.lookups import name_of, stream_schema
from wherecast.server.http.transport.body import JSON, content_type
from wherecast.store.clock import now_us
from wherecast.store.position import Position


def router(context: Context) -> APIRouter:
    """The paths of streams."""
    routes = APIRouter(tags=["streams"])
    core, threads = context.core, context.threads

    @routes.get("/v1/streams", response_model=messages.Streams, responses=messages.answers(503))
    async def list_streams() -> Response:
        """The streams, each with its schema."""
        return answer(await threads.read(_listed))

    @routes.get(
        "/v1/streams/{stream}",
        response_model=messages.Stream,
        responses=messages.answers(404, 422, 503),
    )
    async def show_stream(stream: str) -> Response:
        """The schema of a stream, where it is, and how far matching has come."""
        return answer(await threads.read(_shown, stream))

    @routes.put(
        "/v1/streams/{stream}",
        status_code=201,
        response_model=messages.Stream,
        responses=messages.answers(
            200, 400, 404, 408, 409, 413, 415, 422, 503, same=messages.Stream
        ),
        openapi_extra=examples.body(examples.STREAM),
    )
    async def define_stream(stream: str, request: Request) -> Response:
        """Make a stream. One that is there with the same schema stays as it is."""
        content_type(request, (JSON,))
        async with context.bodies.read(request) as body:
            is_new = await threads.write(_defined, name_of("stream", stream), body)
        shown = await threads.read(_shown, stream)
        return answer(shown, 201 if is_new else 200)

    def _listed() -> dict[str, Any]:
        streams = core.store.registry.streams()
        return {"streams": [{"name": name, "schema": _written(s)} for name, s in streams.items()]}

    def _shown(stream: str) -> dict[str, Any]:
        schema = stream_schema(core, stream)
        store = core.store
        return {
            "name": stream,
            "schema": _written(schema),
            "positions": {
                "starts": _offsets(store.log.starts()),
                "ends": _offsets(store.log.ends()),
                "matched": _offsets(store.batches.progress().position),
            },
            "counts": store.registry.counts(),
        }

    def _defined(stream: str, body: bytes) -> bool:
        given = object_of(body, ("schema",), ("schema",))["schema"]
        if not isinstance(given, dict):
            text = f"schema is an object, not {describe(given)}"
            raise Refused(422, "wrong_type", text, "/schema")
        schema = _schema(given)
        is_new = stream not in core.store.registry.streams()
        try:
            core.registrar.define(stream, schema, now_us())
        except ConfigError as error:
            raise Refused(409, "other_schema", str(error)) from None
        return is_new

    return routes


def _schema(given: dict[str, Any]) -> Schema:
    """The schema of an object: `{"attributes": {…}, "open": …}`, or the attributes alone."""
    is_open, attributes = False, given
    if isinstance(given.get("attributes"), dict) and given.keys() <= {"attributes", "open"}:
        is_open, attributes = given.get("open", False), given["attributes"]
    if not isinstance(is_open, bool):
        raise Refused(422, "wrong_type", "open is true or false", "/schema/open")
    try:
        return Schema.from_dict(attributes, is_open)
    except SchemaError as error:
        raise Refused(422, error.problems[0].code, str(error), "/schema") from None


def _written(schema: Schema) -> dict[str, Any]:
    return {"open": schema.open, "attributes": schema.to_dict()}


def _offsets(position: Position) -> dict[str, int]:
    return {"0": 0} | position.to_dict()
