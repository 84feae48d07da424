"""`POST /v1/streams/{stream}/explain`: why a publication matches a filter or not."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wherecast.broker.intake.json_bodies import KEYS
from wherecast.language import Filter
from wherecast.model import PublicationError, Schema
from wherecast.model.values import describe
from wherecast.server.http.context import Context
from wherecast.server.http.messages import examples, messages
from wherecast.server.http.messages.answers import Refused, answer, pointer_to
from wherecast.server.http.messages.documents import object_of, string_of
from wherecast.server.http.routes.lookups import stream_schema
from wherecast.server.http.transport.body import JSON, content_type


def router(context: Context) -> APIRouter:
    """The path of explanations."""
    routes = APIRouter(tags=["streams"])

    @routes.post(
        "/v1/streams/{stream}/explain",
        response_model=messages.Explanation,
        responses=messages.answers(400, 404, 408, 413, 415, 422, 503),
        openapi_extra=examples.body(examples.EXPLAIN),
    )
    async def explain(stream: str, request: Request) -> Response:
        """Why a publication would match a filter or not, predicate by predicate."""
        content_type(request, (JSON,))
        async with context.bodies.read(request) as body:
            return answer(await context.threads.read(_explained, stream, body))

    def _explained(stream: str, body: bytes) -> dict[str, Any]:
        schema = stream_schema(context.core, stream)
        given = object_of(body, ("filter", "publication"), ("filter", "publication"))
        return explained(string_of(given, "filter"), given["publication"], schema)

    return routes


def explained(text: str, publication: Any, schema: Schema) -> dict[str, Any]:
    """The explanation of a filter's verdict on a publication."""
    if not isinstance(publication, dict):
        told = f"publication is an object, not {describe(publication)}"
        raise Refused(422, "wrong_type", told, "/publication")
    attributes = publication.get("attributes")
    is_enveloped = isinstance(attributes, dict) and publication.keys() <= set(KEYS)
    read = Filter(text, schema)
    try:
        found = read.explain(attributes if is_enveloped and attributes is not None else publication)
    except PublicationError as error:
        first = error.problems[0]
        keys = ["publication", *(["attributes"] if is_enveloped else [])]
        keys += [] if first.attribute is None else [first.attribute]
        raise Refused(422, first.code, str(error), pointer_to(*keys)) from None
    return {
        "matched": found.matched,
        "sentence": found.sentence,
        "reasons": [
            {"predicate": one.predicate, "verdict": one.verdict, "seen": one.seen}
            for one in found.reasons
        ],
        "warnings": list(read.warnings),
    }
