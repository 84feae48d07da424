"""commit: what the stage made of a range → a batch that the store records.

With one share the task that matched also commits. Where several tasks cut a micro-batch, each waits
for the commit of the task before its own: the store refuses a batch that does not continue the
progress of its partition, and leaves one alone that is committed already. So a task may be tried
again at any point.
"""

from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import Range
from wherecast.pipeline.live.stage.match_range import MatchedRange
from wherecast.store.contracts import Batches
from wherecast.store.records import Batch


def batch_of(matched: MatchedRange, changes: int, at: int) -> Batch:
    """The batch of a range that was matched with the changes before a version; not committed."""
    range_ = matched.range
    return Batch(
        range_.partition,
        range_.first,
        range_.end,
        changes,
        matched.runs,
        matched.notifications,
        matched.dead_letters,
        at,
        is_sound=True,
    )


def await_turn(batches: Batches, range_: Range, within_s: float) -> None:
    """Waits until everything before a range of a partition is committed.

    Raises:
        StoreError: that takes too long.
    """
    partition, first = range_.partition, range_.first
    if not batches.wait(lambda progress: progress.position[partition] >= first, within_s):
        raise StoreError(f"what lies before publication {first} was not committed in time")
