"""A subscription: a filter with an id, on a stream, of a subscriber."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Subscription:
    """What a subscriber registers.

    Attributes:
        id: unique within its subscriber.
        filter: the text of the filter.
        subscriber: whose it is.
        stream: the flow it listens to.
        starts_at: when it was accepted.
        valid_for: how long after `starts_at` it acts; None is without end.
        warnings: what is odd about its filter, where that was just read.
    """

    id: str
    filter: str
    subscriber: str = ""
    stream: str = "default"
    starts_at: datetime | None = None
    valid_for: timedelta | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)

    def is_active(self, now: datetime) -> bool:
        """Whether it acts at a time: from its start on, up to but without its end."""
        if self.starts_at is None:
            return True
        if now < self.starts_at:
            return False
        return self.valid_for is None or now - self.starts_at < self.valid_for
