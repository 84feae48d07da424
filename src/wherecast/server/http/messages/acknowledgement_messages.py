"""Acknowledgements, as they are posted and as they come over a connection."""

from typing import Annotated, Any, NotRequired

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from wherecast.server.http.messages.declaration import message

_CURSORS_MAX = 10_000
_EXAMPLE = "0000000011ffffff"
# Whether a cursor is one is decided where cursors are read, with an error of its own.
_CursorText = Annotated[Any, WithJsonSchema({"type": "string", "examples": [_EXAMPLE]})]


@message
class AcknowledgementRequest(TypedDict):
    """Either `through` a cursor, everything before it included, or just some `cursors`."""

    through: NotRequired[_CursorText]
    cursors: NotRequired[Annotated[list[_CursorText], Field(min_length=1, max_length=_CURSORS_MAX)]]


@message
class ConfirmationMessage(TypedDict):
    """Over a connection that asked for confirmation: what was acknowledged is on disk."""

    acknowledged: AcknowledgementRequest
