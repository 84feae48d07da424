"""The items of one transaction of a store: records, changes and cursors."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from wherecast.store.records import Accepted, Cursor, LinkMark, Publications, Receipt, Withdrawals

CursorWrites = Mapping[str, Cursor | None]
"""New cursors by subscriber; None deletes a cursor."""


@dataclass(frozen=True, slots=True, eq=False)
class PendingPublications:
    """Publications that wait to be appended; see `Log.append`."""

    publications: Publications
    at: int
    mark: LinkMark | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PendingWithdrawals:
    """Withdrawals that wait to be appended; see `Log.withdraw`."""

    withdrawals: Withdrawals
    at: int
    mark: LinkMark | None = None


@dataclass(frozen=True, slots=True)
class PendingTick:
    """A tick that waits to be appended; see `Log.tick`."""

    at: int


@dataclass(frozen=True, slots=True, eq=False)
class PendingChanges:
    """Changes (a batch of `CHANGES`) that wait to be appended; see `Log.change`."""

    changes: pa.RecordBatch
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class PendingCursors:
    """Cursors that wait to be written; see `Cursors.write`."""

    cursors: CursorWrites


PendingRecords = PendingPublications | PendingWithdrawals | PendingTick
StoreItem = PendingRecords | PendingChanges | PendingCursors
StoreResult = Receipt | Accepted | None
"""The result of an item: a receipt of records, the acceptance of changes, None for cursors."""
