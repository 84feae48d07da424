"""Answers: JSON, and errors as `{"error": {"code", "message", "pointer"?, "position"?}}`."""

import logging
from typing import Any

import orjson
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from wherecast.model import (
    AcknowledgementError,
    ConfigError,
    ConflictError,
    FilterError,
    PublicationError,
    SchemaError,
    StoreError,
    WherecastError,
)

_log = logging.getLogger("wherecast.http")
_RETRY_AFTER = {"Retry-After": "1"}
_CODES = {404: "not_found", 405: "method_not_allowed"}


class Refused(Exception):
    """A request that is answered with an error.

    Attributes:
        status: of the answer.
        code: a stable word for programs.
        message: a sentence.
        pointer: to the place in the body, or the name of the parameter, if it is about one.
    """

    def __init__(self, status: int, code: str, message: str, pointer: str | None = None) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.pointer = pointer
        super().__init__(status, code, message, pointer)

    def __str__(self) -> str:
        return self.message


def answer(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer with a JSON document."""
    content = orjson.dumps(document, option=orjson.OPT_UTC_Z)
    return Response(content, status, headers, "application/json")


def pointer_to(*keys: str | int) -> str:
    """The JSON pointer to a place."""
    return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keys)


def refused_of(error: WherecastError) -> tuple[int, dict[str, Any]]:
    """The status and the error object of an error."""
    match error:
        case FilterError():
            told = error.message if error.hint is None else f"{error.message}; {error.hint}"
            found: dict[str, Any] = {"code": error.code, "message": told, "pointer": "/filter"}
            return 422, found | ({} if error.position is None else {"position": error.position})
        case PublicationError() | SchemaError():
            first = error.problems[0]
            is_body = isinstance(error, PublicationError) and first.code == "malformed"
            return (400 if is_body else 422), {"code": first.code, "message": str(error)}
        case AcknowledgementError():
            return (422 if error.code == "bad_cursor" else 409), {
                "code": error.code,
                "message": error.message,
            }
        case ConfigError():
            return 422, {"code": "bad_request", "message": str(error)}
        case StoreError() | ConflictError():
            return 503, {"code": "store", "message": str(error)}
        case _:
            return 503, {"code": "unavailable", "message": str(error)}


async def on_refused(_: Request, error: Exception) -> Response:
    """Answers a refused request."""
    assert isinstance(error, Refused)
    found = {"code": error.code, "message": error.message}
    if error.pointer is not None:
        found["pointer"] = error.pointer
    headers = _RETRY_AFTER if error.status == 503 else None
    return answer({"error": found}, error.status, headers)


async def on_error(_: Request, error: Exception) -> Response:
    """Answers an error that Wherecast raised on purpose."""
    assert isinstance(error, WherecastError)
    status, found = refused_of(error)
    return answer({"error": found}, status, _RETRY_AFTER if status == 503 else None)


async def on_parameter(_: Request, error: Exception) -> Response:
    """Answers a parameter that cannot be read."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    name = str(first["loc"][-1])
    found = {"code": "bad_parameter", "message": f"{name}: {first['msg'].lower()}", "pointer": name}
    return answer({"error": found}, 422)


async def on_http(_: Request, error: Exception) -> Response:
    """Answers what the framework refuses: an unknown path, a wrong method."""
    assert isinstance(error, HTTPException)
    found = {"code": _CODES.get(error.status_code, "refused"), "message": error.detail}
    return answer({"error": found}, error.status_code, dict(error.headers or {}))


async def on_bug(request: Request, error: Exception) -> Response:
    """Answers what must not happen."""
    _log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    found = {"code": "internal", "message": "the server failed at this; its log says more"}
    return answer({"error": found}, 500)


HANDLERS: dict[int | type[Exception], Any] = {
    Refused: on_refused,
    WherecastError: on_error,
    RequestValidationError: on_parameter,
    HTTPException: on_http,
    Exception: on_bug,
}
