"""The limits of a broker: what subscribers and their queues may grow to."""

from dataclasses import dataclass, field
from datetime import timedelta

from wherecast.delivery import QueueLimits

SUBSCRIPTIONS_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class Retention:
    """How large and how old a queue may grow, and how often that is enforced.

    Attributes:
        queue_age: a notification that is older is lost to its subscriber.
        queue_bytes_max: approximate size of the publications in a queue; beyond it the oldest
            are lost.
        every: the time between two rounds in which limits are enforced.
    """

    queue_age: timedelta = timedelta(days=7)
    queue_bytes_max: int = 1 << 30
    every: timedelta = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class CoreLimits:
    """What each subscriber of a broker may take.

    Attributes:
        retention: how large and how old stored queues may grow.
        queues: what a queue may hold in memory and send.
        subscriptions_max: number of subscriptions of one subscriber.
    """

    retention: Retention = field(default_factory=Retention)
    queues: QueueLimits = field(default_factory=QueueLimits)
    subscriptions_max: int = SUBSCRIPTIONS_MAX


DEFAULT_CORE_LIMITS = CoreLimits()
