"""The inline runner of the live pipeline: the stage in this process, batch after batch.

Concurrency: one thread at a time.
"""

from collections.abc import Callable
from contextlib import suppress

from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import PUBLICATIONS_MAX, BatchPlan, Range, plan
from wherecast.pipeline.live.batch_times import last_time
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.repair.attempts import Attempts
from wherecast.pipeline.live.stage.commit_batch import batch_of
from wherecast.pipeline.live.stage.match_range import match_range
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
        self._at = last_time(store.batches)
        self._epoch = store.batches.begin()
        self.progress = store.batches.progress()  # an earlier one cannot add to it any more
        self.figures = PipelineFigures()
        self._subscriptions = SubscriptionCache(store.log, store.snapshots, index)
        # Looked at before the first batch, and of no use after it.
        self._attempts = None if store.snapshots is None else Attempts(store.snapshots)
        self._poison: dict[int, list[int]] = {}

    def next_batch(self) -> Batch | None:
        """The batch of what is new in the log, matched but not committed; None if nothing is."""
        log, start = self._store.log, self.progress.position
        planned = plan(log, start, self._publications_max)
        if planned is None:
            return None
        if self._attempts is not None and self._attempts.begin(self.progress.sequence):
            self._look_for_poison(planned)
        with self.figures.timed("subscriptions"):
            known = self._subscriptions.at(start, planned.changes)
        # Never before the last batch, whatever the clock says: ages are looked up by these times.
        now = self._at = max(self._at, self._clock())
        matched = [
            match_range(
                part,
                log.read(part.partition, part.first, part.end),
                known,
                now,
                self._poison.get(part.partition, ()),
            )
            for part in planned.ranges
        ]
        for one in matched:
            self.figures.add(one.figures)
        self.figures.holds([one.figures for one in matched])
        return batch_of(planned, matched, now)

    def commit(self, batch: Batch) -> Progress:
        """Commits the batch that `next_batch` gave.

        Raises:
            ConflictError: another pipeline has taken over.
            StoreError: it could not be written; `next_batch` gives it again.
        """
        with self.figures.timed("commit"):
            self.progress = self._store.batches.commit(batch, self._epoch)
        self.figures.batches += 1
        if self._attempts is not None:
            self._attempts.passed()
            self._attempts, self._poison = None, {}
        return self.progress

    def _look_for_poison(self, planned: BatchPlan) -> None:
        if self._find_poison is not None and not self._poison:
            for part in planned.ranges:
                with suppress(StoreError):  # then it is matched as if there were none
                    self._poison[part.partition] = self._find_poison(part, planned.changes)
