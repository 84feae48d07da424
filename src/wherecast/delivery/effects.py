"""The effects that a queue asks its shell to perform, and the figures of a queue."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueuedNotification:
    """What a subscriber receives for a publication.

    Attributes:
        sequence: names the publication.
        subscription_ids: the subscriptions that matched the publication, sorted.
        redelivered: whether the subscriber may have received it before.
    """

    sequence: int
    subscription_ids: tuple[str, ...]
    redelivered: bool


@dataclass(frozen=True, slots=True)
class LoadNotifications:
    """Read the first notifications from a sequence on, and answer with `loaded`.

    Each load is answered, by `load_failed` if need be; until then the queue asks for no other.
    """

    start: int
    limit: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send notifications over a connection, in this order."""

    connection: int
    notifications: tuple[QueuedNotification, ...]


@dataclass(frozen=True, slots=True)
class Close:
    """Close a connection and tell it why; the queue has already forgotten it."""

    connection: int
    reason: str


@dataclass(frozen=True, slots=True)
class SaveCursor:
    """Store the `cursor` of the queue; an acknowledgement is safe only after that.

    The effect does not carry the cursor: to copy it for each acknowledgement would cost more than
    the acknowledgement. One write may serve several effects.
    """


Effect = LoadNotifications | Send | Close | SaveCursor


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """What one queue has done since it was opened.

    Attributes:
        queued: number of notifications in memory that are not acknowledged, in flight or not.
        in_flight: number of notifications sent over the connection and not acknowledged.
        delivered: number of notifications handed out for the first time.
        redelivered: number of notifications handed out with the mark.
        acknowledged: number of notifications that were acknowledged while in memory.
        lost: number of notifications that were ever removed before they were acknowledged.
    """

    queued: int
    in_flight: int
    delivered: int
    redelivered: int
    acknowledged: int
    lost: int
