"""What a subscriber acknowledges."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """Notifications that need not be delivered again.

    Attributes:
        through: everything up to this sequence, and that one; None where nothing is.
        sequences: just these.
    """

    through: int | None = None
    sequences: tuple[int, ...] = ()

    @staticmethod
    def joined(given: Iterable["Acknowledgement"]) -> "Acknowledgement":
        """One acknowledgement of what several ones acknowledge."""
        each = list(given)
        through = max((one.through for one in each if one.through is not None), default=None)
        return Acknowledgement(through, tuple(sorted({n for one in each for n in one.sequences})))
