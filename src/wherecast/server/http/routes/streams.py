"""`/v1/streams`: which there are, their schemas, positions and counts."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wherecast.broker.registrar.keep_duration import read_keep, write_keep
from wherecast.model import ConfigError, Schema, SchemaError
from wherecast.server.http.context import Context
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.openapi import JSON, answers, body, request
from wherecast.server.http.messages.reading import read_request
from wherecast.server.http.messages.stream_messages import (
    SchemaMessage,
    StreamMessage,
    StreamRequest,
    StreamsMessage,
)
from wherecast.server.http.routes.lookups import name_of, stream_schema
from wherecast.server.http.routes.route_parameters import StreamName
from wherecast.server.http.transport.answers import answer
from wherecast.server.http.transport.body import content_type
from wherecast.store.clock import now_us
from wherecast.store.position import Position


def router(context: Context) -> APIRouter:
    """The paths of streams."""
    routes = APIRouter(tags=["streams"])
    core, pools = context.core, context.pools

    @routes.get("/v1/streams", **answers(200, StreamsMessage, 503))
    async def list_streams() -> Response:
        """The streams, each with its schema and how long its log is kept."""
        return answer(await pools.read(listed))

    @routes.get("/v1/streams/{stream}", **answers(200, StreamMessage, 404, 422, 503))
    async def show_stream(stream: StreamName) -> Response:
        """The schema of a stream, where it is, and how far matching has come."""
        return answer(await pools.read(shown, stream))

    @routes.put(
        "/v1/streams/{stream}",
        **answers(
            201,
            StreamMessage,
            *(400, 404, 408, 409, 413, 415, 422, 503),
            others={200: StreamMessage},
        ),
        **request({JSON: body(StreamRequest)}),
    )
    async def define_stream(stream: StreamName, request: Request) -> Response:
        """Make a stream, or change how long its log is kept; its schema stays as it is."""
        content_type(request, (JSON,))
        async with context.bodies.read(request) as content:
            is_new = await pools.write(define, name_of("stream", stream), content)
        return answer(await pools.read(shown, stream), 201 if is_new else 200)

    def listed() -> StreamsMessage:
        streams = core.store.registry.stream_specs()
        return {
            "streams": [
                {"name": name, "schema": _message(spec.schema), "keep": write_keep(spec.keep_us)}
                for name, spec in streams.items()
            ]
        }

    def shown(stream: str) -> StreamMessage:
        schema = stream_schema(core, stream)
        store = core.store
        counts: Any = store.registry.counts()
        return {
            "name": stream,
            "schema": _message(schema),
            "keep": write_keep(store.registry.stream_specs()[stream].keep_us),
            "positions": {
                "starts": offsets_of(store.log.starts()),
                "ends": offsets_of(store.log.ends()),
                "matched": offsets_of(store.batches.progress().position),
            },
            "counts": counts,
        }

    def define(stream: str, content: bytes) -> bool:
        given = read_request(StreamRequest, content)
        schema, keep = _schema(given["schema"]), given.get("keep")
        if keep is not None:
            _check_keep(keep)
        is_new = stream not in core.store.registry.streams()
        try:
            core.registrar.define(stream, schema, now_us(), keep)
        except ConfigError as error:
            raise Refused(409, "other_schema", str(error)) from None
        return is_new

    return routes


def offsets_of(position: Position) -> dict[str, int]:
    """A position as messages have it."""
    return {"0": 0} | position.to_dict()


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


def _check_keep(keep: str) -> None:
    """Raises Refused unless the log can be kept for so long."""
    try:
        read_keep(keep)
    except ConfigError as error:
        raise Refused(422, "bad_duration", str(error), "/keep") from None


def _message(schema: Schema) -> SchemaMessage:
    return {"open": schema.open, "attributes": schema.to_dict()}
