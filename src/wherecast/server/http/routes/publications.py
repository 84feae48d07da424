"""`POST /v1/streams/{stream}/publications`: accepted means on disk."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wherecast.broker.intake.published import Published
from wherecast.columns import Rejection
from wherecast.model import WherecastError
from wherecast.server.http.context import Context
from wherecast.server.http.messages import examples, messages
from wherecast.server.http.messages.answers import Refused, answer, pointer_to
from wherecast.server.http.transport.body import ARROW, JSON, NDJSON, content_type

_TYPES = (JSON, NDJSON, ARROW)
_ERRORS_MAX = 10_000  # in one answer: one for each publication that a body may have


def router(context: Context) -> APIRouter:
    """The paths of publications."""
    routes = APIRouter(tags=["publications"])

    @routes.post(
        "/v1/streams/{stream}/publications",
        status_code=202,
        response_model=messages.Published,
        responses=messages.answers(
            200, 400, 404, 408, 409, 413, 415, 422, 503, same=messages.Published
        ),
        openapi_extra=examples.body(examples.PUBLISH),
    )
    async def publish_all(stream: str, request: Request) -> Response:
        """Publish one object, an array, an object per line, or an Arrow stream.

        The answer comes when all that is accepted is on disk. Each that is refused has its errors.
        """
        return await publish(context, stream, request)

    return routes


async def publish(context: Context, stream: str, request: Request) -> Response:
    """The answer to a request to publish, once all that is accepted is on disk.

    Raises:
        Refused: the request as a whole.
        WherecastError: its body as a whole, or it could not be stored.
    """
    try:
        kind = content_type(request, _TYPES)
        async with context.bodies.read(request) as body:
            done = await context.joint.publish(stream, kind, body)
    except (Refused, WherecastError) as error:
        context.counters.refused(error)
        raise
    context.counters.published(done)
    if done.accepted:
        context.appended.tell()
    return answered(done)


def answered(done: Published) -> Response:
    """The answer to a publisher."""
    rejected = done.rejected
    document: dict[str, Any] = {
        "accepted": done.accepted,
        "rejected": rejected,
        "duplicates": done.duplicates,
        "first": done.first,
        "last": done.last,
        "errors": [_error(bad) for bad in done.rejections[:_ERRORS_MAX]],
        "errors_left_out": max(0, len(done.rejections) - _ERRORS_MAX),
    }
    status = _status(done, rejected)
    if status >= 400:
        document["error"] = {k: v for k, v in document["errors"][0].items() if k != "index"}
    return answer(document, status)


def _status(done: Published, rejected: int) -> int:
    if done.accepted or (rejected and done.duplicates):
        return 202
    if not rejected:
        return 200 if done.duplicates == 1 else 202
    first = done.rejections[0]
    is_conflict = rejected == 1 and (first.code, first.key) == ("conflict", "id")
    return 409 if is_conflict else 422


def _error(bad: Rejection) -> dict[str, Any]:
    found: dict[str, Any] = {"index": bad.row, "code": bad.code, "message": bad.message}
    if bad.attribute is not None:
        found["pointer"] = pointer_to("attributes", bad.attribute)
    elif bad.key is not None:
        found["pointer"] = pointer_to(bad.key)
    return found
