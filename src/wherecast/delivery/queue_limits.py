"""The limits of one queue."""

from dataclasses import dataclass

_HELD_MAX = 2_000


@dataclass(frozen=True, slots=True)
class QueueLimits:
    """The limits in force.

    Attributes:
        held_max: notifications in memory. 0 stands for as many as can be in flight and as many
            again behind them, but not less than 2,000.
        in_flight_max: notifications sent over a connection and not acknowledged.
        acknowledgements_max: single acknowledgements beyond the cursor.
    """

    held_max: int = 0
    in_flight_max: int = 1_000
    acknowledgements_max: int = 10_000

    def __post_init__(self) -> None:
        if not self.held_max:
            object.__setattr__(self, "held_max", max(_HELD_MAX, 2 * self.in_flight_max))


DEFAULT_QUEUE_LIMITS = QueueLimits()
