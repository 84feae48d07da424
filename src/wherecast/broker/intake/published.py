"""What became of publications that were handed in."""

import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wherecast.broker.intake.intake import PreparedPublications
from wherecast.columns import Rejection
from wherecast.model import Problem, PublicationError
from wherecast.store.records import Receipt


@dataclass(frozen=True, slots=True)
class Published:
    """What became of publications.

    Attributes:
        accepted: how many are in the log; they are durable where the broker is.
        duplicates: how many were accepted before, by their ids.
        rejections: what is wrong with the others, sorted by their places in the call.
        first: the offset of the first one that is new in the log, if one is.
        last: the offset of the last one.
    """

    accepted: int
    duplicates: int
    rejections: tuple[Rejection, ...] = ()
    first: int | None = None
    last: int | None = None

    @property
    def errors(self) -> tuple[tuple[int, PublicationError], ...]:
        """The places of those that were refused in the call, each with its problems."""
        found: dict[int, list[Problem]] = {}
        for bad in self.rejections:
            found.setdefault(bad.row, []).append(Problem(bad.code, bad.message, bad.attribute))
        return tuple((row, PublicationError(problems)) for row, problems in found.items())

    @property
    def rejected(self) -> int:
        """How many were refused."""
        return len({bad.row for bad in self.rejections})


def published(
    prepared: PreparedPublications, receipt: Receipt | None, start: int = 0, end: int = sys.maxsize
) -> Published:
    """What became of publications that were prepared, by the receipt of the good ones.

    Args:
        prepared: the publications.
        receipt: of the good ones; None where none is.
        start: the place of the first one that is asked for; the outcome counts from it.
        end: the place after the last one.
    """
    rejections = _between(prepared.rejected, start, end)
    first, last = np.searchsorted(prepared.rows, (start, end)).tolist()
    if receipt is None or first == last:
        return Published(0, 0, tuple(rejections))
    if receipt.conflicts.any():
        ids = prepared.good.envelopes.column("id")
        for place in (first + receipt.conflicts[first:last].nonzero()[0]).tolist():
            text = f"id {ids[place].as_py()} came before with another body"
            row = int(prepared.rows[place]) - start
            rejections.append(Rejection(row, "conflict", text, key="id"))
        rejections.sort(key=lambda bad: bad.row)
    offsets = receipt.offsets[first:last]
    offsets = offsets[offsets >= 0]
    return Published(
        len(offsets),
        int(receipt.duplicates[first:last].sum()),
        tuple(rejections),
        int(offsets[0]) if len(offsets) else None,
        int(offsets[-1]) if len(offsets) else None,
    )


def _between(rejected: Sequence[Rejection], start: int, end: int) -> list[Rejection]:
    """Those of some places, which are counted from the first of them."""
    first = bisect_left(rejected, start, key=lambda bad: bad.row)
    last = bisect_left(rejected, end, first, key=lambda bad: bad.row)
    some = list(rejected[first:last])
    return [replace(bad, row=bad.row - start) for bad in some] if start else some
