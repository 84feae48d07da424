"""Notifications as their receivers get them: JSON, each publication with what matched it."""

from collections.abc import Sequence
from typing import Any

import orjson

from wherecast.delivery import Notification, encode_cursor
from wherecast.gateway.http.desk import Desk
from wherecast.gateway.received import Received


def objects_of(desk: Desk, name: str, handed: Sequence[Notification]) -> list[bytes]:
    """What a queue handed out, each with its publication, as JSON.

    One whose publication is damaged in the log is lost: it is left out, and counted.
    """
    received = desk.received([one.sequence for one in handed])
    lost = [one.sequence for one, got in zip(handed, received, strict=True) if got is None]
    if lost:
        desk.courier.lose(name, lost)
    return [
        orjson.dumps(_object(one, got), option=orjson.OPT_UTC_Z)
        for one, got in zip(handed, received, strict=True)
        if got is not None
    ]


def joined(objects: Sequence[bytes]) -> bytes:
    """The JSON of several: `{"notifications": […]}`."""
    return b'{"notifications":[' + b",".join(objects) + b"]}"


def _object(one: Notification, got: Received) -> dict[str, Any]:
    return {
        "cursor": encode_cursor(one.sequence),
        "stream": got.stream,
        "offset": got.offset,
        "publication": got.publication.to_dict(),
        "subscription_ids": one.subscription_ids,
        "redelivered": one.redelivered,
    }
