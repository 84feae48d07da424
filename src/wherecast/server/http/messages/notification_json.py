"""Notifications as their receivers get them: JSON, each publication with what matched it."""

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from wherecast.broker.broker_core import BrokerCore
from wherecast.broker.dispatch.publication_cache import Received
from wherecast.delivery import Notification, encode_cursor

_READ_AT_ONCE = 100  # publications: what is read and then does not fit is read again
_FEW = 16


@dataclass(frozen=True, slots=True)
class Objects:
    """Some notifications as JSON.

    Attributes:
        each: of those that can be delivered.
        used: how many of the notifications that were given these are, with those that were lost.
    """

    each: list[bytes]
    used: int


def objects_within(
    core: BrokerCore, name: str, handed: Sequence[Notification], bytes_max: int
) -> Objects:
    """The first ones of what a queue handed out, each with its publication, up to a size.

    It is one at least. One whose publication is damaged in the log is lost: it is left out, and
    counted.
    """
    each: list[bytes] = []
    size = 0
    for start in range(0, len(handed), _READ_AT_ONCE):
        some = handed[start : start + _READ_AT_ONCE]
        received = core.received([one.sequence for one in some])
        lost = [one.sequence for one, got in zip(some, received, strict=True) if got is None]
        if lost:
            core.courier.lose(name, lost)
        for place, (one, got) in enumerate(zip(some, received, strict=True)):
            if got is not None:
                each.append(_written(one, got))
                size += len(each[-1])
                if size >= bytes_max:
                    return Objects(each, start + place + 1)
    return Objects(each, len(handed))


def objects_at_hand(
    core: BrokerCore, handed: Sequence[Notification], bytes_max: int
) -> Objects | None:
    """The same where they are few and nothing is to be read for them; else None."""
    if not 0 < len(handed) <= _FEW:
        return None
    received = core.at_hand([one.sequence for one in handed])
    if received is None:
        return None
    each: list[bytes] = []
    size = 0
    for one, got in zip(handed, received, strict=True):
        each.append(_written(one, got))
        size += len(each[-1])
        if size >= bytes_max:
            break
    return Objects(each, len(each))


def joined(objects: Sequence[bytes]) -> bytes:
    """The JSON of several: `{"notifications": […]}`."""
    return b'{"notifications":[' + b",".join(objects) + b"]}"


def _written(one: Notification, got: Received) -> bytes:
    document = {
        "cursor": encode_cursor(one.sequence),
        "stream": got.stream,
        "offset": got.offset,
        "publication": got.publication.to_dict(),
        "subscription_ids": one.subscription_ids,
        "redelivered": one.redelivered,
    }
    return orjson.dumps(document, option=orjson.OPT_UTC_Z)
