"""A subscription: a filter with an id, on a stream, of a subscriber."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a subscriber registers.

    Attributes:
        id: unique within its subscriber.
        filter: the text of the filter.
        subscriber: name of the subscriber.
        stream: name of the stream.
        starts_at: time of acceptance.
        valid_for: the subscription acts for so long after `starts_at`; None: without end.
        warnings: sentences about the filter, such as that it can never match; only on a
            subscription that was just accepted.
    """

    id: str
    filter: str
    subscriber: str = ""
    stream: str = "default"
    starts_at: datetime | None = None
    valid_for: timedelta | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def is_active(self, now: datetime) -> bool:
        """Whether the subscription acts at a time: from its start on, before its end."""
        if self.starts_at is None:
            return True
        if now < self.starts_at:
            return False
        return self.valid_for is None or now - self.starts_at < self.valid_for
