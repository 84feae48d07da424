"""What one queue may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """The limits in force.

    Attributes:
        held_max: notifications in memory.
        in_flight_max: notifications sent over a connection and not acknowledged.
        acknowledgements_max: single acknowledgements beyond the cursor.
    """

    held_max: int = 2_000
    in_flight_max: int = 1_000
    acknowledgements_max: int = 10_000

    @staticmethod
    def for_window(in_flight_max: int) -> "QueueLimits":
        """The limits with which so many can be in flight, and as many wait behind them."""
        held_max = max(DEFAULT_QUEUE_LIMITS.held_max, 2 * in_flight_max)
        return QueueLimits(held_max=held_max, in_flight_max=in_flight_max)


DEFAULT_QUEUE_LIMITS = QueueLimits()
