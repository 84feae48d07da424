"""Publications: as publishers send them, as receivers get them, and what became of them."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from wherecast.columns import Rejection
from wherecast.server.http.messages.declaration import message, schema_of
from wherecast.server.http.messages.error_messages import ErrorDetail, pointer_to

_Offset = Annotated[int, Field(description="The offset in the log.", examples=[17])]
_Stream = Annotated[str, Field(examples=["default"])]


@message
class PublicationRequest(TypedDict):
    """A publication as publishers send it. One without an id gets one."""

    attributes: Annotated[
        dict[str, Any],
        Field(
            description="Values by name: numbers, strings, booleans, times as strings, arrays.",
            examples=[{"no2": 45.0, "city": "Zagreb", "tags": ["urban", "traffic"]}],
        ),
    ]
    id: NotRequired[
        Annotated[str, Field(min_length=1, max_length=256, examples=["station-7-0001"])]
    ]
    payload: NotRequired[
        Annotated[str, Field(description="Bytes, in base64.", json_schema_extra={"format": "byte"})]
    ]
    published_at: NotRequired[Annotated[str, Field(json_schema_extra={"format": "date-time"})]]


@message
class PublicationMessage(TypedDict):
    """A publication as receivers get it."""

    attributes: Annotated[
        dict[str, Any],
        Field(
            description="Values by name; a decimal is a string. An array may have null elements.",
            examples=[{"no2": 45.0}],
        ),
    ]
    id: Annotated[str, Field(examples=["station-7-0001"])]
    payload: NotRequired[Annotated[str, Field(description="Bytes, in base64.")]]
    published_at: Annotated[str, Field(examples=["2026-05-01T12:30:00Z"])]
    publisher: NotRequired[
        Annotated[str, Field(description="Who published it, where a name was given.")]
    ]


@message
class PublicationErrorDetail(TypedDict):
    """The problem of one publication of a request."""

    index: Annotated[int, Field(description="The place of the publication, from 0.", examples=[1])]
    code: Annotated[
        str, Field(description="A stable word for programs.", examples=["unknown_attribute"])
    ]
    message: Annotated[str, Field(description="A sentence.", examples=["unknown attribute no3"])]
    pointer: NotRequired[
        Annotated[str, Field(description="The JSON pointer to the place in the publication.")]
    ]


@message
class PublishedMessage(TypedDict):
    """What became of the publications of a request."""

    accepted: Annotated[int, Field(description="Stored, on disk.", examples=[2])]
    rejected: Annotated[int, Field(examples=[0])]
    duplicates: Annotated[int, Field(description="Stored before, by their ids.", examples=[0])]
    first: Annotated[int | None, Field(description="The first new offset.", examples=[17])]
    last: Annotated[int | None, Field(description="The last new offset.", examples=[18])]
    errors: Annotated[list[PublicationErrorDetail], Field(examples=[[]])]
    errors_left_out: Annotated[
        int, Field(description="Number of errors that the answer leaves out.", examples=[0])
    ]
    error: NotRequired[
        Annotated[ErrorDetail, Field(description="The first error, where all were refused.")]
    ]


@message
class LoggedPublicationMessage(TypedDict):
    """A publication and where it is in the log."""

    stream: _Stream
    offset: _Offset
    publication: PublicationMessage


@message
class LoggedPublicationsMessage(TypedDict):
    """Publications of a stream."""

    publications: list[LoggedPublicationMessage]
    next: Annotated[int, Field(description="The offset to go on from.", examples=[18])]


def error_of_row(bad: Rejection) -> PublicationErrorDetail:
    """The error of one publication of a request."""
    found: PublicationErrorDetail = {"index": bad.row, "code": bad.code, "message": bad.message}
    if bad.attribute is not None:
        place = () if bad.element is None else (bad.element,)
        found["pointer"] = pointer_to("attributes", bad.attribute, *place)
    elif bad.key is not None:
        found["pointer"] = pointer_to(bad.key)
    return found


PUBLISH_SCHEMA = {
    "anyOf": [
        schema_of(PublicationRequest),
        {"type": "array", "items": schema_of(PublicationRequest)},
    ]
}
"""The JSON schema of a body with publications: one, or an array."""
