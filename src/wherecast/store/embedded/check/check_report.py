"""The findings of a check of a store."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """Some records of one kind that were checked.

    Attributes:
        place: file or folder of the records.
        noun: kind of the records, such as `batch`; empty for a file as a whole.
        count: number of records.
        problem: what is wrong with them; None if nothing is.
        note: what should be known of them, though nothing is wrong; None if nothing.
        sequences: the range of sequences of a segment that can be made again from the log.
    """

    place: str
    noun: str
    count: int
    problem: str | None = None
    sequences: range | None = None
    note: str | None = None
