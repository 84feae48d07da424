"""Errors: `{"error": {"code", "message", "pointer"?, "position"?}}`."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

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
from wherecast.server.http.messages.declaration import message


@message
class OtherProblem(TypedDict):
    """A further problem of the same filter."""

    message: Annotated[str, Field(description="A sentence.", examples=["unknown attribute no3"])]
    position: NotRequired[
        Annotated[int, Field(description="The place in the filter, in characters from 0.")]
    ]


@message
class ErrorDetail(TypedDict):
    """What is wrong."""

    code: Annotated[
        str, Field(description="A stable word for programs.", examples=["unknown_attribute"])
    ]
    message: Annotated[str, Field(description="A sentence.", examples=["unknown attribute no3"])]
    pointer: NotRequired[
        Annotated[
            str,
            Field(description="The JSON pointer to the place in the body, or a parameter's name."),
        ]
    ]
    position: NotRequired[
        Annotated[int, Field(description="The place in a filter, in characters from 0.")]
    ]
    others: NotRequired[
        Annotated[list[OtherProblem], Field(description="Further problems of the same filter.")]
    ]


@message
class ErrorMessage(TypedDict):
    """A request that was refused; nothing was changed."""

    error: ErrorDetail


class Refused(Exception):
    """A request that is answered with an error.

    Attributes:
        status: of the answer.
        code: a stable word for programs.
        message: a sentence.
        pointer: the JSON pointer to a place in the body, or the name of a parameter.
    """

    def __init__(self, status: int, code: str, message: str, pointer: str | None = None) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.pointer = pointer
        super().__init__(status, code, message, pointer)

    def __str__(self) -> str:
        return self.message


def pointer_to(*keys: str | int) -> str:
    """The JSON pointer to a place."""
    return "".join(f"/{str(key).replace('~', '~0').replace('/', '~1')}" for key in keys)


def error_of(error: Refused | WherecastError) -> tuple[int, ErrorDetail]:
    """The status and the error object that answer an error."""
    match error:
        case Refused():
            detail: ErrorDetail = {"code": error.code, "message": error.message}
            if error.pointer is not None:
                detail["pointer"] = error.pointer
            return error.status, detail
        case FilterError():
            detail = {"code": error.code, "message": _sentence(error), "pointer": "/filter"}
            if error.position is not None:
                detail["position"] = error.position
            if error.others:
                detail["others"] = list(map(_other, error.others))
            return 422, detail
        case PublicationError() | SchemaError():
            first = error.problems[0]
            is_body = isinstance(error, PublicationError) and first.code == "malformed"
            return (400 if is_body else 422), {"code": first.code, "message": str(error)}
        case AcknowledgementError():
            status = 422 if error.code == "bad_cursor" else 409
            return status, {"code": error.code, "message": error.message}
        case ConfigError():
            return 422, {"code": "bad_request", "message": str(error)}
        case StoreError() | ConflictError():
            return 503, {"code": "store", "message": str(error)}
        case _:
            return 503, {"code": "unavailable", "message": str(error)}


def _other(error: FilterError) -> OtherProblem:
    if error.position is None:
        return {"message": _sentence(error)}
    return {"message": _sentence(error), "position": error.position}


def _sentence(error: FilterError) -> str:
    return error.message if error.hint is None else f"{error.message}; {error.hint}"
