"""`POST /v1/streams/{stream}/publications`: accepted means on disk."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wherecast.broker.intake.publish_outcome import PublishOutcome
from wherecast.broker.registrar.names import checked_name
from wherecast.model import WherecastError
from wherecast.server.http.context import Context
from wherecast.server.http.messages.declaration import example_of
from wherecast.server.http.messages.error_messages import Refused
from wherecast.server.http.messages.openapi import ARROW, JSON, NDJSON, answers, lines, request
from wherecast.server.http.messages.publication_messages import (
    PUBLISH_SCHEMA,
    PublicationRequest,
    PublishedMessage,
    error_of_row,
)
from wherecast.server.http.routes.route_parameters import PublisherName, StreamName
from wherecast.server.http.transport.answers import answer
from wherecast.server.http.transport.body import content_type

_TYPES = (JSON, NDJSON, ARROW)
_ERRORS_MAX = 10_000  # in one answer: one for each publication that a body may have
_ONE = example_of(PublicationRequest)
_BODIES = {
    JSON: {
        "schema": PUBLISH_SCHEMA,
        "examples": {"one": {"value": _ONE}, "several": {"value": [_ONE]}},
    },
    NDJSON: lines('{"attributes": {"no2": 45.0}}', '{"attributes": {"no2": 12.5}}'),
    ARROW: {"schema": {"type": "string", "format": "binary"}},
}


def router(context: Context) -> APIRouter:
    """The paths of publications."""
    routes = APIRouter(tags=["publications"])

    @routes.post(
        "/v1/streams/{stream}/publications",
        **answers(
            202,
            PublishedMessage,
            *(400, 404, 408, 409, 413, 415, 422, 503),
            others=dict.fromkeys((200, 409, 422), PublishedMessage),
        ),
        **request(_BODIES),
    )
    async def publish_all(
        stream: StreamName, request: Request, publisher: PublisherName = None
    ) -> Response:
        """Publish one object, an array, an object per line, or an Arrow stream.

        The answer comes when all that is accepted is on disk. Each that is refused has its errors.
        """
        return await publish(context, stream, request)

    return routes


async def publish(context: Context, stream: str, request: Request) -> Response:
    """The answer to a request to publish, once all that is accepted is on disk.

    Raises:
        Refused: the request as a whole is refused.
        WherecastError: its body as a whole is refused, or could not be stored.
    """
    try:
        kind, publisher = content_type(request, _TYPES), _publisher(request)
        async with context.bodies.read(request) as body:
            done = await context.publishing.publish(stream, kind, body, publisher)
    except (Refused, WherecastError) as error:
        context.counters.refused(error)
        raise
    context.counters.published(done)
    if done.accepted:
        context.append_signal.send()
    return answered(done)


def _publisher(request: Request) -> str:
    """The publisher that a request names; empty where it names none.

    Raises:
        ConfigError: that is no name.
    """
    if not request.scope["query_string"]:  # as of most
        return ""
    name = request.query_params.get("publisher")
    if name is None:
        return ""
    checked_name("publisher", name)
    return name


def answered(done: PublishOutcome) -> Response:
    """The answer to a publisher."""
    rejected = done.rejected
    document: PublishedMessage = {
        "accepted": done.accepted,
        "rejected": rejected,
        "duplicates": done.duplicates,
        "first": done.first,
        "last": done.last,
        "errors": [error_of_row(bad) for bad in done.rejections[:_ERRORS_MAX]],
        "errors_left_out": max(0, len(done.rejections) - _ERRORS_MAX),
    }
    status = _status(done, rejected)
    if status >= 400:
        first = document["errors"][0]
        document["error"] = {"code": first["code"], "message": first["message"]}
        if "pointer" in first:
            document["error"]["pointer"] = first["pointer"]
    return answer(document, status)


def _status(done: PublishOutcome, rejected: int) -> int:
    if done.accepted or (rejected and done.duplicates):
        return 202
    if not rejected:
        return 200 if done.duplicates == 1 else 202
    first = done.rejections[0]
    is_conflict = rejected == 1 and (first.code, first.key) == ("conflict", "id")
    return 409 if is_conflict else 422
