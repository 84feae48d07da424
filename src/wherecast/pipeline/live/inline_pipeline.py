"""The inline runner of the live pipeline: the stage in this process, batch after batch.

Concurrency: one thread at a time.
"""

from collections.abc import Callable
from contextlib import suppress

from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import PUBLICATIONS_MAX, Range
from wherecast.pipeline.live.log_matching import LogMatching, NextBatch
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.repair.attempts import Attempts
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
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], int],
        find_poison: FindPoison | None = None,
        publications_max: int = PUBLICATIONS_MAX,
        index: IndexFactory = DEFAULT_INDEX,
    ) -> None:
        self._find_poison = find_poison
        epoch = store.batches.begin()  # an earlier one cannot add to the progress any more
        subscriptions = SubscriptionCache(store.log, store.snapshots, index)
        self._matching = LogMatching(store, epoch, clock, subscriptions, publications_max)
        # Looked at before the first batch, and of no use after it.
        self._attempts = None if store.snapshots is None else Attempts(store.snapshots)
        self._poison: dict[int, list[int]] = {}

    @property
    def progress(self) -> Progress:
        """What was committed."""
        return self._matching.progress

    @property
    def figures(self) -> PipelineFigures:
        """What was done so far."""
        return self._matching.figures

    def next_batch(self) -> Batch | None:
        """A batch of what is new in the log, matched but not committed; None if nothing is.

        Where several partitions have something new, they take turns.
        """
        wanted = self._matching.plan()
        if wanted is None:
            return None
        if self._attempts is not None and self._attempts.begin(self.progress.sequence):
            self._look_for_poison(wanted)
        return self._matching.match(wanted, self._poison.get(wanted.range.partition, ()))

    def commit(self, batch: Batch) -> Progress:
        """Commits the batch that `next_batch` gave.

        Raises:
            ConflictError: another pipeline has taken over.
            StoreError: it could not be written; `next_batch` gives it again.
        """
        progress = self._matching.commit(batch)
        if self._attempts is not None:
            self._attempts.passed()
            self._attempts, self._poison = None, {}
        return progress

    def _look_for_poison(self, wanted: NextBatch) -> None:
        if self._find_poison is not None and not self._poison:
            with suppress(StoreError):  # then it is matched as if there were none
                found = self._find_poison(wanted.range, wanted.changes)
                self._poison[wanted.range.partition] = found
