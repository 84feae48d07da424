"""commit: what the stage made of the ranges of a plan → a batch that the store records.

With one share the task that matched also commits. Where several tasks cut a micro-batch, each waits
for the commit of the task before its own: the store refuses a batch that does not continue the
progress, and leaves one alone that is committed already. So a task may be tried again at any point.
"""

from collections.abc import Sequence

from wherecast.model import StoreError
from wherecast.pipeline.live.batch_plan import BatchPlan
from wherecast.pipeline.live.stage.match_range import MatchedRange
from wherecast.store.contracts import Batches
from wherecast.store.records import Batch


def batch_of(planned: BatchPlan, matched: Sequence[MatchedRange], at: int) -> Batch:
    """The batch of a plan, whose ranges were all matched; not committed yet."""
    segments = tuple(one.segment for one in matched)
    letters = tuple(letter for one in matched for letter in one.dead_letters)
    return Batch(planned.start, planned.end, planned.changes, segments, letters, at)


def await_turn(batches: Batches, first: int, within_s: float) -> None:
    """Waits until everything before an offset is committed.

    Raises:
        StoreError: that takes too long.
    """
    if not batches.wait(first - 1, within_s):
        raise StoreError(f"what lies before publication {first} was not committed in time")
