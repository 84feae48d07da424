"""What a live pipeline has done: batches, matches, candidates, and the time of each stage."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from wherecast.store.clock import timed


@dataclass(slots=True)
class PipelineFigures:
    """What was done so far, by one process or by several.

    Attributes:
        batches: committed.
        publications: matched.
        matches: pairs of a publication and a subscription.
        candidates: filters that were looked at beyond the index.
        filters: that the index holds now, in the process that has most.
        index_bytes: what they take there.
        seconds: by stage.
    """

    batches: int = 0
    publications: int = 0
    matches: int = 0
    candidates: int = 0
    filters: int = 0
    index_bytes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def took(self, stage: str, seconds: float) -> None:
        """Adds to a stage."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """Counts what is done meanwhile as a stage."""
        return timed(self.took, stage)

    def add(self, other: "PipelineFigures") -> None:
        """Adds what another one did."""
        self.batches += other.batches
        self.publications += other.publications
        self.matches += other.matches
        self.candidates += other.candidates
        for stage, seconds in other.seconds.items():
            self.took(stage, seconds)

    def holds(self, others: list["PipelineFigures"]) -> None:
        """Takes over how large the index is by now."""
        self.filters = max((other.filters for other in others), default=self.filters)
        self.index_bytes = max((other.index_bytes for other in others), default=self.index_bytes)

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it; whoever counts may go on meanwhile."""
        return asdict(replace(self, seconds=dict(self.seconds)))

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> "PipelineFigures":
        """What `to_dict` gave."""
        return cls(**given)
