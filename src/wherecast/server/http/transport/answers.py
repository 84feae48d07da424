"""Answers of HTTP: messages as JSON, and what each exception is answered with."""

import logging
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from wherecast.model import WherecastError
from wherecast.server.http.messages.declaration import write
from wherecast.server.http.messages.error_messages import Refused, error_of

_log = logging.getLogger("wherecast.http")
_RETRY_AFTER = {"Retry-After": "1"}
_CODES = {404: "not_found", 405: "method_not_allowed"}


def answer(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer with a JSON document."""
    return Response(write(document), status, headers, "application/json")


async def on_refused(_: Request, error: Exception) -> Response:
    """Answers a request that is refused, or an error that Wherecast raised on purpose."""
    assert isinstance(error, Refused | WherecastError)
    return refusal(error)


def refusal(error: Refused | WherecastError) -> Response:
    """The answer to a request that is refused."""
    status, detail = error_of(error)
    return answer({"error": detail}, status, _RETRY_AFTER if status == 503 else None)


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
    WherecastError: on_refused,
    RequestValidationError: on_parameter,
    HTTPException: on_http,
    Exception: on_bug,
}
