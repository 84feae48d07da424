"""A subscription: a filter with an id, on a stream, of a subscriber."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from wherecast.model.subscription_spec import SubscriptionSpec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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
        rank: as `SubscriptionSpec.rank`.
        priority: as `SubscriptionSpec.priority`.
        notices: as `SubscriptionSpec.notices`.
        owner: as `SubscriptionSpec.owner`.
    """

    id: str
    filter: str
    subscriber: str = ""
    stream: str = "default"
    starts_at: datetime | None = None
    valid_for: timedelta | None = None
    warnings: tuple[str, ...] = field(default=(), compare=False)
    rank: str = ""
    priority: int = 0
    notices: bool = False
    owner: str = ""

    @staticmethod
    def accepted(subscriber: str, id: str, spec: SubscriptionSpec, at: int) -> "Subscription":
        """The subscription of a spec that was accepted at a time in microseconds."""
        valid_for = None if spec.valid_until is None else (spec.valid_until - at) * _MICROSECOND
        return Subscription(
            id,
            spec.filter,
            subscriber,
            spec.stream,
            _EPOCH + at * _MICROSECOND,
            valid_for,
            rank=spec.rank,
            priority=spec.priority,
            notices=spec.notices,
            owner=spec.owner,
        )

    @property
    def accepted_at(self) -> int | None:
        """The time of acceptance in microseconds; None before it."""
        return None if self.starts_at is None else (self.starts_at - _EPOCH) // _MICROSECOND

    def spec(self, at: int) -> SubscriptionSpec:
        """What the subscription asks for, if it was accepted at a time in microseconds."""
        valid_until = None if self.valid_for is None else at + self.valid_for // _MICROSECOND
        return SubscriptionSpec(
            self.stream,
            self.filter,
            valid_until,
            self.rank,
            self.priority,
            self.notices,
            self.owner,
        )

    def is_active(self, now: datetime) -> bool:
        """Whether the subscription acts at a time: from its start on, before its end."""
        if self.starts_at is None:
            return True
        if now < self.starts_at:
            return False
        return self.valid_for is None or now - self.starts_at < self.valid_for
