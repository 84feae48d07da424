"""The inline runner of the live pipeline: the stage in this process, batch after batch.

Concurrency: one thread at a time.
"""

from collections.abc import Callable
from contextlib import suppress

from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import PUBLICATIONS_MAX, Range, plan
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.repair.attempts import Attempts
from wherecast.pipeline.live.stage.commit_batch import batch_of
from wherecast.pipeline.live.stage.match_range import match_range
from wherecast.pipeline.live.stage.read_range import read_range
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.pipeline.live.subscriptions.subscription_cache import SubscriptionCache
from wherecast.store.contracts import Store
from wherecast.store.records import Batch, Progress

FindPoison = Callable[[Range, int], list[int]]
"""The offsets of publications of a range, with a version of changes, that end the process."""


class InlinePipeline:
    """Batches of a store's log, each made by `next_batch` and then committed.

    Args:
        store: what it works on.
        clock: gives the time.
        find_poison: asked where an earlier process ended at the place where this one begins.
        publications_max: in one batch.
        index: makes the index of the subscriptions.

    Attributes:
        progress: what was committed.
        figures: what was done so far.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], int],
        find_poison: FindPoison | None = None,
        publications_max: int = PUBLICATIONS_MAX,
        index: IndexFactory = DEFAULT_INDEX,
    ) -> None:
        self._store = store
        self._clock = clock
        self._find_poison = find_poison
        self._publications_max = publications_max
        self._epoch = store.batches.begin()
        self.progress = store.batches.progress()  # an earlier one cannot add to it any more
        self._turn = 0  # the partition that comes first, where several have something new
        self.figures = PipelineFigures()
        self._subscriptions = SubscriptionCache(store.log, store.snapshots, index)
        # Looked at before the first batch, and of no use after it.
        self._attempts = None if store.snapshots is None else Attempts(store.snapshots)
        self._poison: dict[int, list[int]] = {}

    def next_batch(self) -> Batch | None:
        """A batch of what is new in the log, matched but not committed; None if nothing is.

        Where several partitions have something new, they take turns.
        """
        log, start = self._store.log, self.progress.position
        planned = plan(log, start, self._publications_max, self._turn)
        if planned is None:
            return None
        range_ = min(planned.ranges, key=lambda one: (one.partition < self._turn, one.partition))
        if self._attempts is not None and self._attempts.begin(self.progress.sequence):
            self._look_for_poison(range_, planned.changes)
        with self.figures.timed("subscriptions"):
            known = self._subscriptions.at(start, planned.changes)
        # Never before the last batch, whatever the clock says: ages are looked up by these times.
        now = max(self.progress.at, log.time(self._clock()))
        poison = self._poison.get(range_.partition, ())
        matched = match_range(range_, read_range(log, range_), known, now, poison)
        self.figures.add(matched.figures)
        self.figures.holds([matched.figures])
        return batch_of(matched, planned.changes, now)

    def commit(self, batch: Batch) -> Progress:
        """Commits the batch that `next_batch` gave.

        Raises:
            ConflictError: another pipeline has taken over.
            StoreError: it could not be written; `next_batch` gives it again.
        """
        with self.figures.timed("commit"):
            self.progress = self._store.batches.commit(batch, self._epoch)
        self._turn = batch.partition + 1
        self.figures.batches += 1
        if self._attempts is not None:
            self._attempts.passed()
            self._attempts, self._poison = None, {}
        return self.progress

    def _look_for_poison(self, range_: Range, changes: int) -> None:
        if self._find_poison is not None and not self._poison:
            with suppress(StoreError):  # then it is matched as if there were none
                self._poison[range_.partition] = self._find_poison(range_, changes)
