"""The log of a store, batch after batch, in one process: planned, matched, committed.

Concurrency: one thread at a time.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

from wherecast.pipeline.live.batch_plan import PUBLICATIONS_MAX, Range, plan
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.stage.commit_batch import batch_of
from wherecast.pipeline.live.stage.match_range import MatchedRange, match_range
from wherecast.pipeline.live.stage.read_range import read_range
from wherecast.pipeline.live.subscriptions.live_subscriptions import LiveSubscriptions
from wherecast.pipeline.live.subscriptions.subscription_cache import SubscriptionCache
from wherecast.store.contracts import Store
from wherecast.store.records import Batch, Progress


@dataclass(frozen=True, slots=True)
class NextBatch:
    """What the next batch covers.

    Attributes:
        range: its publications.
        changes: it knows the changes before this version.
    """

    range: Range
    changes: int


class LogMatching:
    """Successive batches of a store, of one pipeline.

    Args:
        store: what is matched, and where batches are committed.
        epoch: of the pipeline.
        clock: gives the time.
        subscriptions: the subscriptions of this process.
        publications_max: in one batch.

    Attributes:
        progress: what was committed.
        figures: what was done so far; whoever takes them away sets new ones.
    """

    def __init__(
        self,
        store: Store,
        epoch: int,
        clock: Callable[[], int],
        subscriptions: SubscriptionCache,
        publications_max: int = PUBLICATIONS_MAX,
    ) -> None:
        self._store = store
        self._epoch = epoch
        self._clock = clock
        self._subscriptions = subscriptions
        self._publications_max = publications_max
        self._turn = 0  # the partition that comes first, where several have something new
        self.progress = store.batches.progress()
        self.figures = PipelineFigures()

    def plan(self) -> NextBatch | None:
        """What the next batch covers; None if nothing was published since the last one.

        Where several partitions have something new, they take turns.
        """
        log, start = self._store.log, self.progress.position
        planned = plan(log, start, self._publications_max, self._turn)
        if planned is None:
            return None
        range_ = min(planned.ranges, key=lambda one: (one.partition < self._turn, one.partition))
        return NextBatch(range_, planned.changes)

    def match(self, wanted: NextBatch, poison: Collection[int] = ()) -> Batch:
        """The next batch, matched but not committed.

        Args:
            wanted: what `plan` gave.
            poison: the offsets of publications that are left out, since they end the process.
        """
        known = self.subscriptions(wanted.changes)
        matched = self.match_range(wanted.range, known, poison)
        return batch_of(matched, wanted.changes, self.now())

    def subscriptions(self, changes: int) -> LiveSubscriptions:
        """The subscriptions for all that is not committed, with the changes before a version."""
        with self.figures.timed("subscriptions"):
            return self._subscriptions.at(self.progress.position, changes)

    def match_range(
        self, range_: Range, known: LiveSubscriptions, poison: Collection[int] = ()
    ) -> MatchedRange:
        """A range of the log, matched but not committed."""
        entries = read_range(self._store.log, range_)
        matched = match_range(range_, entries, known, self.now(), poison)
        self.figures.add(matched.figures)
        self.figures.holds([matched.figures])
        return matched

    def now(self) -> int:
        """The time of the log; never before the last batch: ages are looked up by these times."""
        return max(self.progress.at, self._store.log.time(self._clock()))

    def commit(self, batch: Batch) -> Progress:
        """Commits the batch that `match` gave.

        Raises:
            ConflictError: another pipeline has taken over.
            StoreError: it could not be written; `plan` gives its range again.
        """
        with self.figures.timed("commit"):
            self.progress = self._store.batches.commit(batch, self._epoch)
        self._turn = batch.partition + 1
        self.figures.batches += 1
        return self.progress
