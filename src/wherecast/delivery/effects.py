"""What a queue asks its shell to do, and what it tells about itself."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notification:
    """What a subscriber receives for a publication.

    Attributes:
        sequence: which publication.
        subscription_ids: the subscriptions that matched it, sorted.
        redelivered: whether it may have been received before.
    """

    sequence: int
    subscription_ids: tuple[str, ...]
    redelivered: bool


@dataclass(frozen=True, slots=True)
class LoadNotifications:
    """Read the first notifications at a sequence and beyond, and answer with `loaded`.

    Every one is answered, by `load_failed` if need be; until then the queue asks for no other.
    """

    start: int
    limit: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send notifications over a connection, in this order."""

    connection: int
    notifications: tuple[Notification, ...]


@dataclass(frozen=True, slots=True)
class Close:
    """Close a connection and tell it why; the queue has already forgotten it."""

    connection: int
    reason: str


@dataclass(frozen=True, slots=True)
class SaveCursor:
    """Write the `cursor` of the queue; what was acknowledged is safe only after that.

    The cursor is not in here: to copy it for each acknowledgement would cost more than the
    acknowledgement. Several of these may be done by one write.
    """


Effect = LoadNotifications | Send | Close | SaveCursor


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """What one queue has done since it was opened.

    Attributes:
        queued: notifications in memory that are not acknowledged, those in flight too.
        in_flight: those sent over the connection and not acknowledged.
        delivered: how many were handed out for the first time.
        redelivered: how many were handed out with the mark.
        acknowledged: how many were acknowledged, as far as they were in memory.
        lost: how many were ever removed before they were acknowledged.
    """

    queued: int
    in_flight: int
    delivered: int
    redelivered: int
    acknowledged: int
    lost: int
