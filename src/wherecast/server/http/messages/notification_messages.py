"""Notifications: publications that matched, as a subscriber gets them."""

from collections.abc import Sequence
from typing import Annotated

import orjson
from pydantic import Field
from typing_extensions import TypedDict

from wherecast.model import Publication
from wherecast.server.http.messages.declaration import message, write
from wherecast.server.http.messages.publication_messages import PublicationMessage


@message
class NotificationMessage(TypedDict):
    """A publication that matched subscriptions of a subscriber."""

    cursor: Annotated[
        str, Field(description="What to acknowledge it by.", examples=["0000000011ffffff"])
    ]
    stream: Annotated[str, Field(examples=["default"])]
    offset: Annotated[int, Field(description="The offset in the log.", examples=[17])]
    publication: PublicationMessage
    subscription_ids: Annotated[list[str], Field(examples=[["s1"]])]
    redelivered: Annotated[
        bool, Field(description="Whether it may have been received before.", examples=[False])
    ]


@message
class NotificationsMessage(TypedDict):
    """The oldest notifications of a queue."""

    notifications: list[NotificationMessage]


# A publication goes to many subscribers. So its part of the JSON, `stream` to `publication`, is
# written once, and what differs is put around it.


def publication_part(stream: str, offset: int, publication: Publication) -> bytes:
    """The part of a notification that is the same for all subscribers.

    Raises:
        TypeError: JSON has no form for an attribute.
    """
    document = {"stream": stream, "offset": offset, "publication": publication.to_dict()}
    return write(document)[1:-1]


def notification_json(
    cursor: str, part: bytes, subscription_ids: Sequence[str], redelivered: bool
) -> bytes:
    """A `NotificationMessage` as JSON, made around the part of its publication."""
    return b'{"cursor":"%b",%b,"subscription_ids":%b,"redelivered":%b}' % (
        cursor.encode(),
        part,
        orjson.dumps(subscription_ids),
        b"true" if redelivered else b"false",
    )


def notifications_json(each: Sequence[bytes]) -> bytes:
    """A `NotificationsMessage` as JSON, of notifications as JSON."""
    return b'{"notifications":[' + b",".join(each) + b"]}"
