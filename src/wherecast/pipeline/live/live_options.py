"""How a live pipeline on Spark matches the log."""

from dataclasses import dataclass
from typing import Literal

from wherecast.pipeline.live.batch_plan import PUBLICATIONS_MAX
from wherecast.pipeline.live.subscriptions.live_subscriptions import DEFAULT_INDEX

Trigger = Literal["auto", "slices", "batches"]


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """How the log is matched.

    Attributes:
        tasks: how many tasks share a large batch.
        publications_max: in one batch.
        index: the kind of index.
        trigger: what starts a batch: a task that stays and waits, or Spark, which starts a job for
            each. `auto` is `slices` where Spark has a slot to spare.
        slice_s: how long a task stays.
        backlog: number of waiting publications that several tasks share; with one task it does not
            matter.
        stall_s: how long publications may wait without any commit before the query is started
            again.
    """

    tasks: int = 1
    publications_max: int = PUBLICATIONS_MAX
    index: str = DEFAULT_INDEX.kind
    trigger: Trigger = "auto"
    slice_s: float = 600.0
    backlog: int = PUBLICATIONS_MAX
    stall_s: float = 120.0


DEFAULT_OPTIONS = LiveOptions()
