"""The OpenAPI description of an operation: its request, its answers, an example of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

from wherecast.server.http.messages.declaration import example_of, schema_of
from wherecast.server.http.messages.error_messages import ErrorMessage

JSON = "application/json"
NDJSON = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"


@dataclass(frozen=True, slots=True)
class _Refusal:
    """An answer that refuses a request: what it means, and its error as an example."""

    meaning: str
    code: str
    message: str


_REFUSALS = {
    400: _Refusal("The body cannot be read.", "malformed", "the body is empty; it needs an object"),
    403: _Refusal(
        "The request names another host, or comes from a page of another site.",
        "forbidden",
        "a page of another site may not call this server",
    ),
    404: _Refusal(
        "A name in the path is unknown.",
        "unknown_subscriber",
        "subscriber ana is not registered; PUT /v1/subscribers/ana does it",
    ),
    408: _Refusal(
        "The body took too long to arrive.",
        "too_slow",
        "the body took too long to arrive; the limit is limits.body_wait",
    ),
    409: _Refusal(
        "The request conflicts with what is stored.",
        "other_schema",
        "stream air has another schema",
    ),
    413: _Refusal(
        "The body is too large.",
        "too_large",
        "the body is larger than the limit limits.body_bytes_max of 16777216 bytes",
    ),
    415: _Refusal(
        "The body is of another type.",
        "content_type",
        "the content type is missing; it should be application/json",
    ),
    422: _Refusal(
        "A part of the request cannot be accepted.",
        "unknown_key",
        "unknown key filtre; did you mean filter?",
    ),
    503: _Refusal(
        "The server cannot do this now; try again.",
        "store",
        "the disk is full; nothing was stored",
    ),
}


_OTHERS = {
    200: "The same was stored before, or what was stored was changed.",
    503: "Publications are not matched at the moment.",
}


def answers(
    status: int,
    kind: type[Any] | None,
    *refusals: int,
    others: Mapping[int, type[Any]] | None = None,
) -> dict[str, Any]:
    """The answers of an operation, as arguments of its route.

    Args:
        status: where the operation succeeds.
        kind: the message of that answer; None where it has no body.
        refusals: the statuses of errors; any request may also be refused with 403.
        others: further answers with messages of their own, or of the same kind as an error.
    """
    found: dict[int | str, dict[str, Any]] = {}
    if kind is not None:
        found[status] = _content(example_of(kind))
    for refusal in (*refusals, 403):
        known = _REFUSALS[refusal]
        example = {"error": {"code": known.code, "message": known.message}}
        found[refusal] = {"model": ErrorMessage, "description": known.meaning, **_content(example)}
    for other, its_kind in (others or {}).items():
        example = example_of(its_kind)
        if other in found:
            found[other] |= {"model": Union[its_kind, ErrorMessage]}  # noqa: UP007
        else:
            described: dict[str, Any] = {"model": its_kind, "description": _OTHERS[other]}
            found[other] = described | _content(example)
    return {"status_code": status, "response_model": kind, "responses": found}


def request(content: dict[str, Any]) -> dict[str, Any]:
    """The description of a request's body, by content type, as arguments of its route."""
    return {"openapi_extra": {"requestBody": {"required": True, "content": content}}}


def body(kind: type[Any], **examples: Any) -> dict[str, Any]:
    """The description of a JSON body; without examples the message's own is shown."""
    shown = {name: {"value": value} for name, value in examples.items()}
    return {"schema": schema_of(kind), **({"examples": shown} if shown else _example(kind))}


def lines(*documents: str) -> dict[str, Any]:
    """The description of a body with a JSON object per line."""
    return {"schema": {"type": "string"}, "example": "".join(f"{one}\n" for one in documents)}


def _example(kind: type[Any]) -> dict[str, Any]:
    return {"example": example_of(kind)}


def _content(example: Any) -> dict[str, Any]:
    return {"content": {JSON: {"example": example}}}
