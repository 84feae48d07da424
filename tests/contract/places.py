"""Where the contract tests of batches, mailboxes and cursors open their stores."""

from collections.abc import Callable
from dataclasses import dataclass

from wherecast.store.contracts import Batches, Cursors, Mailboxes
from wherecast.store.memory.batches import MemoryBatches
from wherecast.store.memory.committed import Committed
from wherecast.store.memory.cursors import MemoryCursors
from wherecast.store.memory.mailboxes import MemoryMailboxes


@dataclass
class Opened:
    batches: Batches
    mailboxes: Mailboxes
    cursors: Cursors
    partitions: int
    reopen: Callable[[], "Opened"] | None = None


def in_memory(partitions: int) -> Opened:
    committed = Committed()
    return Opened(MemoryBatches(committed), MemoryMailboxes(committed), MemoryCursors(), partitions)
