"""A micro-batch of Spark, as an offset describes it, and what its tasks read."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql.datasource import InputPartition

from wherecast.pipeline.live.batch_plan import BatchPlan, Range
from wherecast.store.position import Position


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """A micro-batch of Spark, which the offset at its end describes.

    Attributes:
        number: of it, in its query.
        plan: the range of the log that it covers; None for a slice, or before the first one.
    """

    number: int
    plan: BatchPlan | None = None

    def to_offset(self) -> dict[str, Any]:
        """The offset as JSON carries it."""
        if self.plan is None:
            return {"number": self.number}
        start, end = self.plan.start.to_dict(), self.plan.end.to_dict()
        return {"number": self.number, "start": start, "end": end, "changes": self.plan.changes}

    @classmethod
    def from_offset(cls, given: dict[str, Any]) -> "MicroBatch":
        """The micro-batch that ends at an offset."""
        if "end" not in given:
            return cls(given["number"])
        start, end = Position.from_dict(given["start"]), Position.from_dict(given["end"])
        return cls(given["number"], BatchPlan(start, end, given["changes"]))


@dataclass(frozen=True)
class TaskRange(InputPartition):
    """What one task reads of a range that is planned."""

    range: Range
    start: str
    changes: int


class SliceTask(InputPartition):
    """The task of a slice."""

    def __init__(self) -> None:
        super().__init__(None)
