"""What the check of a store tells, piece by piece."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """Something that was looked at.

    Attributes:
        place: the file or folder it is in.
        noun: what it is; empty for a file as a whole.
        count: how many they are.
        problem: what is wrong with it, if something is.
        sequences: the range of sequences of a segment that can be made again from the log.
    """

    place: str
    noun: str
    count: int
    problem: str | None = None
    sequences: range | None = None
