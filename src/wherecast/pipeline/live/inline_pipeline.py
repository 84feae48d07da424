"""The inline runner of the live pipeline: the stage in this process.

What was just appended is matched at once, publication by publication (`match_rows`) or together
(`match_written`); what lies in the log is matched range by range (`next_batch`). Either way a batch
record follows: one for all that was matched since the last one.

Concurrency: one thread at a time matches, and one commits.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from wherecast.language.meaning.row_errors import RowErrors, counting
from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import PUBLICATIONS_MAX, Range
from wherecast.pipeline.live.log_matching import LogMatching, NextBatch
from wherecast.pipeline.live.pipeline_figures import PipelineFigures
from wherecast.pipeline.live.repair.attempts import Attempts
from wherecast.pipeline.live.stage.commit_batch import batch_of
from wherecast.pipeline.live.stage.match_row import LoggedRow, group_row, match_row
from wherecast.pipeline.live.subscriptions.live_subscriptions import (
    DEFAULT_INDEX,
    LiveSubscriptions,
)
from wherecast.pipeline.live.subscriptions.share_index import IndexFactory
from wherecast.pipeline.live.subscriptions.subscription_cache import SubscriptionCache
from wherecast.pipeline.live.unrecorded import OffsetItems, Unrecorded
from wherecast.store.contracts import Store
from wherecast.store.position import Position
from wherecast.store.records import Batch, DeadLetter, Progress, RecordRun
from wherecast.store.segments.segments import items_of

FindPoison = Callable[[Range, int], list[int]]
"""The offsets of publications of a range, with a version of changes, that end the process."""

NotifyItems = Callable[[int, int, OffsetItems], None]
"""Takes what the records from an offset to another notify."""


class InlinePipeline:
    """Batches of a store's log, each matched and then committed.

    Args:
        store: what it works on.
        clock: gives the time.
        find_poison: asked where an earlier process ended at the place where this one begins.
        publications_max: in one batch.
        index: makes the index of the subscriptions.

    Attributes:
        matched: what was matched; not before what was committed.
    """

    def __init__(
        self,
        store: Store,
        clock: Callable[[], int],
        find_poison: FindPoison | None = None,
        publications_max: int = PUBLICATIONS_MAX,
        index: IndexFactory = DEFAULT_INDEX,
    ) -> None:
        self._log = store.log
        self._find_poison = find_poison
        epoch = store.batches.begin()  # an earlier one cannot add to the progress any more
        subscriptions = SubscriptionCache(store.log, store.snapshots, index)
        self._matching = LogMatching(store, epoch, clock, subscriptions, publications_max)
        self.matched = self.progress.position
        self._known: LiveSubscriptions | None = None  # as of the last call
        self._changes = 0  # the version that matching knows
        self._unrecorded: Unrecorded | None = None
        self._aside: Unrecorded | None = None
        self._aside_changes = 0
        self._recording: Batch | None = None  # on its way to the store
        # Looked at before the first batch, and of no use after it.
        self._attempts = None if store.snapshots is None else Attempts(store.snapshots)
        self._poison: dict[int, list[int]] = {}

    @property
    def progress(self) -> Progress:
        """The end of the last committed batch."""
        return self._matching.progress

    @property
    def figures(self) -> PipelineFigures:
        """Figures since the pipeline began."""
        return self._matching.figures

    # What was just appended.

    @property
    def unrecorded(self) -> tuple[int, int]:
        """Numbers of records and of notifications since the last batch record."""
        waiting = self._unrecorded
        return (0, 0) if waiting is None else (len(waiting), waiting.notifications)

    @property
    def is_careful(self) -> bool:
        """Whether what an earlier process left is still to be matched, with care."""
        return self._attempts is not None

    def match_rows(self, rows: Sequence[LoggedRow], notify: NotifyItems) -> None:
        """Matches the publications after `matched`, one by one, and notifies them together.

        Raises:
            StoreError: the log cannot be read; nothing was notified.
        """
        known, errors = self._current(), RowErrors()
        dead: list[DeadLetter] = []
        items: OffsetItems = {}
        with self.figures.timed("match"), counting(errors):
            for row in rows:
                for name, ids in self._match_row(row, known, dead).items():
                    items.setdefault(name, []).append((row.offset, ids))
        self.figures.add(PipelineFigures(row_errors=errors.counts()))
        run = RecordRun(rows[0].offset, len(rows))  # a group has no holes
        self._notified(Range(0, run.offset, run.end), (run,), items, dead, notify)

    def match_written(self, first: int, end: int, notify: NotifyItems) -> None:
        """Matches records after `matched` that are in the log, and notifies them together.

        Raises:
            StoreError: the log cannot be read; nothing was notified.
        """
        range_ = Range(0, first, end)
        matched = self._matching.match_range(range_, self._current())
        items = items_of(matched.notifications)
        self._notified(range_, matched.runs, items, list(matched.dead_letters), notify)

    def _match_row(
        self, row: LoggedRow, known: LiveSubscriptions, dead: list[DeadLetter]
    ) -> Mapping[str, tuple[str, ...]]:
        """The ids that matched a publication, by subscriber; adds its dead letter."""
        versions = match_row(row, known)
        if versions is None:
            range_ = Range(0, row.offset, row.offset + 1)
            matched = self._matching.match_range(range_, known)
            dead += matched.dead_letters
            return {name: ids for name, [(_, ids)] in items_of(matched.notifications).items()}
        self.figures.publications += 1
        self.figures.matches += len(versions)
        return group_row(versions, known.roster) if versions else {}

    def _notified(
        self,
        range_: Range,
        runs: Sequence[RecordRun],
        items: OffsetItems,
        dead: list[DeadLetter],
        notify: NotifyItems,
    ) -> None:
        """Notifies the records of a range, and keeps them for their batch record."""
        with self.figures.timed("notify"):
            notify(range_.first, range_.end, items)
        if self._unrecorded is None:
            self._unrecorded = Unrecorded(range_.first, range_.first)
        self._unrecorded.add(range_.end, runs, items, dead)
        self.matched = Position({0: range_.end})

    def _current(self) -> LiveSubscriptions:
        """The subscriptions with all changes that the log has."""
        changes = self._log.changes_end()
        if self._known is None or changes != self._changes:
            self._known = self._subscriptions(changes)
            self.figures.filters = len(self._known)
            self.figures.index_bytes = self._known.index_bytes
        return self._known

    # Batches.

    def set_aside(self) -> bool:
        """Sets all aside that was matched and has no record yet, for `waiting_batch`.

        False where nothing waits for a record; a batch that could not be committed does.
        """
        if self._recording is None and self._aside is None:
            self._aside, self._unrecorded = self._unrecorded, None
            self._aside_changes = self._changes
        return self._recording is not None or self._aside is not None

    def waiting_batch(self) -> Batch | None:
        """The batch of what was set aside; None if nothing was. Others may match meanwhile."""
        waiting = self._aside
        if waiting is not None:
            with self.figures.timed("group"):
                grouped = waiting.segment()
            self._aside = None
            self._recording = Batch(
                0,
                waiting.first,
                waiting.end,
                self._aside_changes,
                tuple(waiting.runs),
                grouped,
                tuple(waiting.dead_letters),
                self._matching.now(),
                is_sound=True,
            )
        return self._recording

    def next_batch(self) -> Batch | None:
        """A batch that is matched but not committed; None if the log has nothing new.

        What was matched already comes first. Where several partitions have something new, they
        take turns.
        """
        return self.waiting_batch() if self.set_aside() else self.match_backlog()

    def match_backlog(self) -> Batch | None:
        """A batch of what is new in the log, matched but not committed; None if nothing is."""
        wanted = self._matching.plan()
        if wanted is None:
            return None
        if self._attempts is not None and self._attempts.begin(self.progress.sequence):
            self._look_for_poison(wanted)
        self._known = self._subscriptions(wanted.changes)
        poison = self._poison.get(wanted.range.partition, ())
        matched = self._matching.match_range(wanted.range, self._known, poison)
        self._recording = batch_of(matched, wanted.changes, self._matching.now())
        end = {wanted.range.partition: wanted.range.end}
        self.matched = Position({**self.progress.position, **end})
        return self._recording

    def commit(self, batch: Batch) -> Progress:
        """Commits the batch that was given last.

        Raises:
            ConflictError: another pipeline has taken over.
            StoreError: it could not be written; it is given again.
        """
        progress = self._matching.commit(batch)
        self._recording = None
        if self._attempts is not None:
            self._attempts.passed()
            self._attempts, self._poison = None, {}
        return progress

    def _subscriptions(self, changes: int) -> LiveSubscriptions:
        # From what is committed on: a batch that waits names versions that ended since.
        known = self._matching.subscriptions(changes)
        self._changes = changes
        return known

    def _look_for_poison(self, wanted: NextBatch) -> None:
        if self._find_poison is not None and not self._poison:
            with suppress(StoreError):  # then it is matched as if there were none
                found = self._find_poison(wanted.range, wanted.changes)
                self._poison[wanted.range.partition] = found
