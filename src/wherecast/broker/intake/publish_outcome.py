"""The outcome of publishing: what was accepted, and what was refused for which reason."""

import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wherecast.broker.door.door_calls import RowReceipt
from wherecast.broker.intake.intake import PreparedPublications
from wherecast.broker.intake.single_publication import SinglePublication
from wherecast.columns import Rejection
from wherecast.model import Problem, PublicationError
from wherecast.store.records import Receipt


@dataclass(frozen=True, slots=True)
class PublishOutcome:
    """The outcome of one call to publish.

    Attributes:
        accepted: number of publications that are new in the log; durable where the broker is.
        duplicates: number of publications that were accepted before, by their ids.
        rejections: problems of the other publications, sorted by their rows in the call.
        first: the offset of the first accepted publication; None where none was accepted.
        last: the offset of the last accepted publication.
    """

    accepted: int
    duplicates: int
    rejections: tuple[Rejection, ...] = ()
    first: int | None = None
    last: int | None = None

    @property
    def errors(self) -> tuple[tuple[int, PublicationError], ...]:
        """The rows of refused publications in the call, each with its problems."""
        found: dict[int, list[Problem]] = {}
        for bad in self.rejections:
            problem = Problem(bad.code, bad.message, bad.attribute, bad.element)
            found.setdefault(bad.row, []).append(problem)
        return tuple((row, PublicationError(problems)) for row, problems in found.items())

    @property
    def rejected(self) -> int:
        """Number of refused publications."""
        return len({bad.row for bad in self.rejections})


def outcome_of(
    prepared: PreparedPublications, receipt: Receipt | None, start: int = 0, end: int = sys.maxsize
) -> PublishOutcome:
    """The outcome for publications that were prepared, or for some of them.

    Args:
        prepared: the publications.
        receipt: the receipt of the log for the good ones; None where none is good.
        start: the first row of interest; rows in the outcome count from it.
        end: the row after the last one of interest.
    """
    rejections = _between(prepared.rejected, start, end)
    first, last = np.searchsorted(prepared.rows, (start, end)).tolist()
    if receipt is None or first == last:
        return PublishOutcome(0, 0, tuple(rejections))
    if receipt.conflicts.any():
        ids = prepared.good.headers.column("id")
        for place in (first + receipt.conflicts[first:last].nonzero()[0]).tolist():
            text = _conflict(ids[place].as_py())
            row = int(prepared.rows[place]) - start
            rejections.append(Rejection(row, "conflict", text, key="id"))
        rejections.sort(key=lambda bad: bad.row)
    offsets = receipt.offsets[first:last]
    offsets = offsets[offsets >= 0]
    return PublishOutcome(
        len(offsets),
        int(receipt.duplicates[first:last].sum()),
        tuple(rejections),
        int(offsets[0]) if len(offsets) else None,
        int(offsets[-1]) if len(offsets) else None,
    )


def singles_outcome(
    given: Sequence[SinglePublication], receipts: Sequence[RowReceipt]
) -> PublishOutcome:
    """The outcome for publications of one call that were handed in one by one."""
    offsets = [one.offset for one in receipts if one.offset >= 0]
    conflicts = tuple(
        Rejection(row, "conflict", _conflict(given[row].id), key="id")
        for row, one in enumerate(receipts)
        if one.is_conflict
    )
    return PublishOutcome(
        len(offsets),
        sum(one.is_duplicate for one in receipts),
        conflicts,
        offsets[0] if offsets else None,
        offsets[-1] if offsets else None,
    )


def _conflict(id: str | None) -> str:
    return f"id {id} came before with another body"


def _between(rejected: Sequence[Rejection], start: int, end: int) -> list[Rejection]:
    """The rejections of a range of rows; rows count from its start."""
    first = bisect_left(rejected, start, key=lambda bad: bad.row)
    last = bisect_left(rejected, end, first, key=lambda bad: bad.row)
    some = list(rejected[first:last])
    return [replace(bad, row=bad.row - start) for bad in some] if start else some
