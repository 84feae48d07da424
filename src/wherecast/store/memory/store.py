"""The store in memory."""

from collections.abc import Callable, Sequence

from typing_extensions import override

from wherecast.store.blobs.blobs import Blobs
from wherecast.store.changes.change_batches import check_changes
from wherecast.store.clock import boot_us
from wherecast.store.contracts import Batches, Cursors, Figures, Log, Mailboxes, Registry, Store
from wherecast.store.memory.batches import MemoryBatches
from wherecast.store.memory.committed import Committed
from wherecast.store.memory.cursors import MemoryCursors
from wherecast.store.memory.log import MemoryLog
from wherecast.store.memory.mailboxes import MemoryMailboxes
from wherecast.store.memory.share_figures import MemoryFigures
from wherecast.store.store_items import (
    PendingChanges,
    PendingCursors,
    PendingPublications,
    PendingTick,
    PendingWithdrawals,
    StoreItem,
    StoreResult,
)


class MemoryStore(Store):
    """A store that is gone with its process.

    Args:
        partitions: number of partitions of its log.
        identity: of its log; empty draws a random one.
        is_sparse: whether there are holes between the offsets of entries.
        monotonic: a clock that nobody sets, in microseconds.
    """

    def __init__(
        self,
        partitions: int = 1,
        identity: str = "",
        is_sparse: bool = False,
        monotonic: Callable[[], int] = boot_us,
    ) -> None:
        log = MemoryLog(partitions, identity=identity, is_sparse=is_sparse, monotonic=monotonic)
        committed = Committed(partitions)
        self.log: Log = log
        self.registry: Registry = log.registry
        self.batches: Batches = MemoryBatches(committed)
        self.mailboxes: Mailboxes = MemoryMailboxes(committed)
        self.cursors: Cursors = MemoryCursors()
        self.snapshots: Blobs | None = None
        self.figures: Figures = MemoryFigures()

    @override
    def write(self, items: Sequence[StoreItem]) -> list[StoreResult]:
        for item in items:
            if isinstance(item, PendingChanges):
                check_changes(item.changes)
        return [self._add(item) for item in items]

    def _add(self, item: StoreItem) -> StoreResult:
        match item:
            case PendingPublications():
                return self.log.append(item.publications, item.at, item.mark)
            case PendingWithdrawals():
                return self.log.withdraw(item.withdrawals, item.at, item.mark)
            case PendingTick():
                return self.log.tick(item.at)
            case PendingChanges():
                return self.log.change(item.changes, item.at)
            case PendingCursors():
                self.cursors.write(item.cursors)
                return None

    @override
    def close(self) -> None:
        """Does nothing: there is nothing to give back."""
