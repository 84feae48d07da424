"""A group of calls as items of one transaction, and the results back to the calls.

Successive publications of one stream that came one by one become one entry of the log.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from wherecast.broker.door.door_calls import DoorCall, PendingRow, PendingSave, RowReceipt
from wherecast.broker.intake.single_publication import SinglePublication, joined
from wherecast.store.records import Receipt
from wherecast.store.store_items import (
    CursorWrites,
    PendingCursors,
    PendingPublications,
    StoreItem,
    StoreResult,
)


@dataclass(frozen=True, slots=True)
class AppendedRow:
    """A publication that was appended just now."""

    publication: SinglePublication
    offset: int
    accepted_at: int


@dataclass(slots=True)
class WrittenGroup:
    """The records that a transaction added.

    Attributes:
        first: the first offset; -1 where nothing was added.
        end: the offset after the last one.
        rows: the records that came as single publications, in order.
    """

    first: int = -1
    end: int = -1
    rows: list[AppendedRow] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether all records are among the rows."""
        return len(self.rows) == self.end - self.first


@dataclass(frozen=True, slots=True, eq=False)
class DoorWrite:
    """One item of a transaction, with the calls that it serves.

    Attributes:
        item: what is written.
        calls: who gets the result.
        is_collected: whether these are the cursors that had changed, which nobody handed in.
    """

    item: StoreItem
    calls: Sequence[DoorCall]
    is_collected: bool = False

    def settle(self, result: StoreResult, written: WrittenGroup) -> None:
        """Gives its calls their results, and adds the new records to what was written."""
        if isinstance(result, Receipt):
            _note(result, written)
        first = self.calls[0].item if self.calls else None
        if isinstance(first, PendingRow):
            assert isinstance(result, Receipt)
            self._settle_rows(result, written)
            return
        for call in self.calls:
            call.result = result
            call.is_done = True

    def fail(self, error: Exception) -> None:
        """Gives its calls an error."""
        for call in self.calls:
            call.error = error
            call.is_done = True

    def _settle_rows(self, receipt: Receipt, written: WrittenGroup) -> None:
        offsets = receipt.offsets.tolist()
        duplicates, conflicts = receipt.duplicates.tolist(), receipt.conflicts.tolist()
        for call, offset, is_duplicate, is_conflict in zip(
            self.calls, offsets, duplicates, conflicts, strict=True
        ):
            assert isinstance(call.item, PendingRow)
            if offset >= 0:
                row = AppendedRow(call.item.publication, offset, receipt.at)
                written.rows.append(row)
            call.result = RowReceipt(offset, is_duplicate, is_conflict)
            call.is_done = True


def writes_of(calls: Sequence[DoorCall], cursors: CursorWrites) -> list[DoorWrite]:
    """The items of a transaction.

    Args:
        calls: in the order in which they were handed in.
        cursors: the cursors that have changed; calls that wait for them share one item.
    """
    writes: list[DoorWrite] = []
    saves = [call for call in calls if isinstance(call.item, PendingSave)]
    if cursors:
        writes.append(DoorWrite(PendingCursors(cursors), saves, is_collected=True))
    else:
        for call in saves:  # an earlier transaction has stored what they wait for
            call.is_done = True
    for stream, run in groupby(calls, _stream_of_row):
        if stream is not None:
            own = list(run)
            items = [call.item for call in own]
            rows = [item.publication for item in items if isinstance(item, PendingRow)]
            at = max(item.at for item in items if isinstance(item, PendingRow))
            writes.append(DoorWrite(PendingPublications(joined(rows), at), own))
            continue
        writes += [
            DoorWrite(call.item, [call])
            for call in run
            if not isinstance(call.item, PendingRow | PendingSave)
        ]
    return writes


def _stream_of_row(call: DoorCall) -> str | None:
    """The stream of a single publication; None for any other item."""
    return call.item.publication.stream if isinstance(call.item, PendingRow) else None


def _note(receipt: Receipt, written: WrittenGroup) -> None:
    """Adds the offsets of new records, which follow those of the group before them."""
    offsets = [offset for offset in receipt.offsets.tolist() if offset >= 0]
    if offsets:
        if written.first < 0:
            written.first = offsets[0]
        written.end = offsets[-1] + 1
