"""`POST /v1/streams/{stream}/explain`: why a publication matches a filter or not."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from wherecast.broker.intake.json_bodies import KEYS
from wherecast.language import Filter
from wherecast.model import PublicationError, Schema
from wherecast.server.http.context import Context
from wherecast.server.http.messages.error_messages import Refused, pointer_to
from wherecast.server.http.messages.explanation_messages import ExplainRequest, ExplanationMessage
from wherecast.server.http.messages.openapi import JSON, answers, body, request
from wherecast.server.http.messages.reading import read_request
from wherecast.server.http.routes.lookups import stream_schema
from wherecast.server.http.routes.route_parameters import StreamName
from wherecast.server.http.transport.answers import answer
from wherecast.server.http.transport.body import content_type


def router(context: Context) -> APIRouter:
    """The path of explanations."""
    routes = APIRouter(tags=["streams"])

    @routes.post(
        "/v1/streams/{stream}/explain",
        **answers(200, ExplanationMessage, 400, 404, 408, 413, 415, 422, 503),
        **request({JSON: body(ExplainRequest)}),
    )
    async def explain(stream: StreamName, request: Request) -> Response:
        """Why a publication would match a filter or not, predicate by predicate."""
        content_type(request, (JSON,))
        async with context.bodies.read(request) as content:
            return answer(await context.pools.read(explained, stream, content))

    def explained(stream: str, content: bytes) -> ExplanationMessage:
        schema = stream_schema(context.core, stream)
        return explanation_of(read_request(ExplainRequest, content), schema)

    return routes


def explanation_of(given: ExplainRequest, schema: Schema) -> ExplanationMessage:
    """The explanation of a filter's verdict on a publication.

    Raises:
        Refused: the schema refuses the publication.
        FilterError: the filter cannot be read.
    """
    publication = given["publication"]
    attributes = publication.get("attributes")
    is_enveloped = isinstance(attributes, dict) and publication.keys() <= set(KEYS)
    read = Filter(given["filter"], schema)
    try:
        found = read.explain(attributes if is_enveloped and attributes is not None else publication)
    except PublicationError as error:
        first = error.problems[0]
        keys: list[str | int] = ["publication", *(["attributes"] if is_enveloped else [])]
        keys += [key for key in (first.attribute, first.element) if key is not None]
        raise Refused(422, first.code, str(error), pointer_to(*keys)) from None
    document: Any = found.to_dict() | {"warnings": list(read.warnings)}
    message: ExplanationMessage = document
    return message
