"""The inline runner of the live pipeline: the stage in this process, batch after batch.

Concurrency: one thread at a time.
"""

from collections.abc import Callable

from wherecast.pipeline.live.keeper import Keeper
from wherecast.pipeline.live.plan import PUBLICATIONS_MAX, plan
from wherecast.pipeline.live.stage import match_range
from wherecast.store.contracts import Store
from wherecast.store.records import Batch, Progress


class InlinePipeline:
    """Batches of a store's log, each made by `next_batch` and then committed.

    Attributes:
        progress: what was committed.
    """

    def __init__(
        self, store: Store, clock: Callable[[], int], publications_max: int = PUBLICATIONS_MAX
    ) -> None:
        self.progress = store.batches.progress()
        self._store = store
        self._clock = clock
        self._publications_max = publications_max
        self._epoch = store.batches.begin()
        self._keeper = Keeper(store.log, store.snapshots)

    def next_batch(self) -> Batch | None:
        """The batch of what is new in the log, matched but not committed; None if nothing is."""
        log, start = self._store.log, self.progress.position
        planned = plan(log, start, self._publications_max)
        if planned is None:
            return None
        known = self._keeper.at(start, planned.changes)
        now = self._clock()
        matched = [
            match_range(part, log.read(part.partition, part.first, part.end), known, now)
            for part in planned.ranges
        ]
        segments = tuple(one.segment for one in matched)
        dead_letters = tuple(letter for one in matched for letter in one.dead_letters)
        return Batch(start, planned.end, planned.changes, segments, dead_letters, now)

    def commit(self, batch: Batch) -> Progress:
        """Commits the batch that `next_batch` gave.

        Raises:
            ConflictError: another pipeline has taken over.
            StoreError: it could not be written; `next_batch` gives it again.
        """
        self.progress = self._store.batches.commit(batch, self._epoch)
        return self.progress
