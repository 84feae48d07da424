"""The receivers that wait at one queue."""

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition


@dataclass(slots=True, eq=False)
class Waiters:
    """Threads that wait at a queue, and functions that are called for it.

    Attributes:
        changed: wakes the threads; its lock guards the queue.
        listeners: called whenever the threads are woken.
    """

    changed: Condition
    listeners: list[Callable[[], None]] = field(default_factory=list)

    def wake(self) -> None:
        """Wakes all who wait; the lock is held."""
        self.changed.notify_all()
        for listener in self.listeners:
            listener()
