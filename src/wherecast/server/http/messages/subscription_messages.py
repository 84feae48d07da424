"""Subscriptions: as they are wanted, as they are stored, and what became of them."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from wherecast.server.http.messages.declaration import message
from wherecast.server.http.messages.error_messages import ErrorDetail
from wherecast.server.http.messages.subscriber_messages import NextPage

_Id = Annotated[str, Field(examples=["s1"])]
_Filter = Annotated[str, Field(description="A WHERE clause.", examples=["no2 > 40"])]
_StreamName = Annotated[str, Field(description="The default stream, if not given.")]
_Validity = Annotated[Any, Field(description="Not supported yet; leave it out.")]
_Warnings = Annotated[list[str], Field(description="Why the filter can never match, for instance.")]
_Count = Annotated[int, Field(examples=[0])]


@message
class SubscriptionRequest(TypedDict):
    """A subscription that is wanted."""

    filter: _Filter
    stream: NotRequired[_StreamName]
    valid_for: NotRequired[_Validity]


@message
class SubscriptionLine(TypedDict):
    """A subscription that is wanted, one of many."""

    id: _Id
    filter: _Filter
    stream: NotRequired[_StreamName]
    valid_for: NotRequired[_Validity]


@message
class SubscriptionMessage(TypedDict):
    """A subscription."""

    id: _Id
    filter: _Filter
    stream: Annotated[str, Field(examples=["default"])]
    since: NotRequired[
        Annotated[
            str, Field(description="When it was accepted.", examples=["2026-05-01T12:30:00Z"])
        ]
    ]
    verdict: NotRequired[Literal["created", "changed", "unchanged"]]
    warnings: NotRequired[_Warnings]
    acts_from: NotRequired[
        Annotated[
            dict[str, int],
            Field(description="The first offsets on which it acts, by partition."),
        ]
    ]


@message
class SubscriptionsMessage(TypedDict):
    """A page of subscriptions."""

    subscriptions: list[SubscriptionMessage]
    after: NextPage


@message
class VerdictMessage(TypedDict):
    """What became of one subscription."""

    id: Annotated[str | None, Field(examples=["s1"])]
    verdict: Annotated[
        Literal["created", "changed", "unchanged", "rejected", "left_alone"],
        Field(examples=["created"]),
    ]
    error: NotRequired[ErrorDetail]
    warnings: NotRequired[_Warnings]


@message
class VerdictsMessage(TypedDict):
    """What became of many subscriptions."""

    created: Annotated[int, Field(examples=[1])]
    changed: _Count
    unchanged: _Count
    rejected: _Count
    removed: _Count
    verdicts: list[VerdictMessage]
