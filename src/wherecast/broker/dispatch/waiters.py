"""What the threads of one subscriber share, beside its queue."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition

from wherecast.delivery import Notification


@dataclass(slots=True, eq=False)
class Waiters:
    """Who waits at a queue, and what it was sent.

    Attributes:
        changed: wakes those that wait at the queue; its lock guards the rest.
        sent: what its connection was sent and has not taken.
        listeners: called whenever those that wait are woken.
        is_used: whether something was taken since idle queues were released last.
    """

    changed: Condition
    sent: deque[Notification] = field(default_factory=deque)
    listeners: list[Callable[[], None]] = field(default_factory=list)
    is_used: bool = True

    def wake(self) -> None:
        """Wakes whoever waits; the lock is held."""
        self.changed.notify_all()
        for listener in self.listeners:
            listener()
