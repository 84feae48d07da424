"""Streams: their schemas, positions and counts."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from wherecast.server.http.messages.declaration import message

_Attributes = Annotated[
    dict[str, Any],
    Field(
        description="The types by name, perhaps with a domain: `int`, `float`, `decimal`, `bool`,"
        " `string`, `timestamp`, `timestamp_ntz`, `date`, `array<string>`, `array<int>`,"
        " `array<float>`.",
        examples=[{"no2": {"type": "float", "min": 0}}],
    ),
]
_Keep = Annotated[
    str | None,
    Field(
        description="How long the log is kept beyond what queues need; null: no longer.",
        examples=["1h"],
    ),
]
_Offsets = Annotated[dict[str, int], Field(examples=[{"0": 19}])]
_EXAMPLE = {"attributes": {"no2": {"type": "float", "min": 0}}, "open": False}


@message
class StreamRequest(TypedDict):
    """The definition of a stream."""

    schema: Annotated[
        dict[str, Any],
        Field(
            description="`attributes` and whether it is `open`; or the attributes alone.",
            examples=[_EXAMPLE],
        ),
    ]
    keep: NotRequired[
        Annotated[
            str,
            Field(
                description="How long the log is kept beyond what queues need; `0s`: no longer."
                " Not given, it stays as it is.",
                examples=["1h"],
            ),
        ]
    ]


@message
class SchemaMessage(TypedDict):
    """The schema of a stream."""

    open: Annotated[
        bool, Field(description="Whether other attributes are accepted.", examples=[False])
    ]
    attributes: _Attributes


@message
class NamedSchemaMessage(TypedDict):
    """A stream, its schema, and how long its log is kept."""

    name: Annotated[str, Field(examples=["default"])]
    schema: SchemaMessage
    keep: _Keep


@message
class StreamsMessage(TypedDict):
    """All streams."""

    streams: list[NamedSchemaMessage]


@message
class PositionsMessage(TypedDict):
    """Offsets by partition. All streams share the log."""

    starts: Annotated[
        dict[str, int], Field(description="The first offsets in the log.", examples=[{"0": 0}])
    ]
    ends: _Offsets
    matched: _Offsets


@message
class CountsMessage(TypedDict):
    """Numbers of streams, subscribers and subscriptions of the server."""

    streams: Annotated[int, Field(examples=[1])]
    subscribers: Annotated[int, Field(examples=[1])]
    subscriptions: Annotated[int, Field(examples=[2])]


@message
class StreamMessage(TypedDict):
    """A stream, its schema, and how far its log and matching have come."""

    name: Annotated[str, Field(examples=["default"])]
    schema: SchemaMessage
    keep: _Keep
    positions: PositionsMessage
    counts: CountsMessage
