"""Subscribers and their queues."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from wherecast.server.http.messages.declaration import message

NextPage = Annotated[
    str | None,
    Field(description="The parameter `after` of the next page; null at the end.", examples=[None]),
]


@message
class SubscriberMessage(TypedDict):
    """A subscriber and its queue."""

    name: Annotated[str, Field(examples=["ana"])]
    connected: Annotated[
        bool, Field(description="Whether it has a push connection.", examples=[True])
    ]
    queued: Annotated[
        int, Field(description="Number of notifications that are not acknowledged.", examples=[2])
    ]
    in_flight: Annotated[int, Field(description="Number of those that were pushed.", examples=[1])]
    lost: Annotated[
        int,
        Field(
            description="Number of those that were dropped at a limit.",
            examples=[0],
        ),
    ]
    cursor: Annotated[
        str,
        Field(description="Everything before it is acknowledged.", examples=["0000000011ffffff"]),
    ]


@message
class SubscribersMessage(TypedDict):
    """A page of names."""

    subscribers: Annotated[list[str], Field(examples=[["ana"]])]
    after: NextPage
