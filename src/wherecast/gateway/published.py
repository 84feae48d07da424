"""What became of publications that were handed in."""

from dataclasses import dataclass

from wherecast.columns import Rejection
from wherecast.gateway.intake import Prepared
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


def published(prepared: Prepared, receipt: Receipt | None) -> Published:
    """What became of publications that were prepared, by the receipt of the good ones."""
    if receipt is None:
        return Published(0, 0, prepared.rejected)
    ids = prepared.good.envelopes.column("id")
    conflicts = [
        Rejection(
            int(prepared.rows[place]),
            "conflict",
            f"id {ids[place].as_py()} came before with another body",
            key="id",
        )
        for place in receipt.conflicts.nonzero()[0].tolist()
    ]
    offsets = receipt.offsets[receipt.offsets >= 0]
    return Published(
        len(offsets),
        int(receipt.duplicates.sum()),
        tuple(sorted((*prepared.rejected, *conflicts), key=lambda bad: bad.row)),
        int(offsets[0]) if len(offsets) else None,
        int(offsets[-1]) if len(offsets) else None,
    )
