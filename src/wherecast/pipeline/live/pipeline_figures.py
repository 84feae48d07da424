"""Figures of a live pipeline: batches, matches, errors of rows, the seconds of each stage."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from wherecast.store.clock import timed
from wherecast.store.records import ShareFigures

_COUNTS = ("batches", "publications", "matches", "candidates")
_LEVELS = ("filters", "index_bytes")
_SECONDS = "seconds."  # before the name of a stage
_ERRORS = "row_errors."  # before a reason


@dataclass(slots=True)
class PipelineFigures:
    """Figures since a pipeline began, of one process or of several.

    Attributes:
        batches: number of batches committed.
        publications: number of publications matched.
        matches: number of pairs of a publication and a subscription.
        candidates: number of filters that were tried one by one.
        filters: number of filters in the largest index.
        index_bytes: bytes of the largest index.
        seconds: the time of each stage, by its name.
        row_errors: number of results that are unknown since Spark would fail on them, by reason.
    """

    batches: int = 0
    publications: int = 0
    matches: int = 0
    candidates: int = 0
    filters: int = 0
    index_bytes: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    row_errors: dict[str, int] = field(default_factory=dict)

    def took(self, stage: str, seconds: float) -> None:
        """Adds seconds to a stage."""
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds

    def timed(self, stage: str) -> AbstractContextManager[None]:
        """A context whose duration is added to a stage."""
        return timed(self.took, stage)

    def add(self, other: "PipelineFigures") -> None:
        """Adds the counts and seconds of other figures."""
        self.batches += other.batches
        self.publications += other.publications
        self.matches += other.matches
        self.candidates += other.candidates
        for stage, seconds in other.seconds.items():
            self.took(stage, seconds)
        for reason, count in other.row_errors.items():
            self.row_errors[reason] = self.row_errors.get(reason, 0) + count

    def holds(self, others: list["PipelineFigures"]) -> None:
        """Takes over the size of the largest index of other figures."""
        self.filters = max((other.filters for other in others), default=self.filters)
        self.index_bytes = max((other.index_bytes for other in others), default=self.index_bytes)

    def of_part(self, part: str) -> ShareFigures:
        """The figures as a store keeps them, for one part of a pipeline."""
        counts = {name: getattr(self, name) for name in _COUNTS}
        counts |= {f"{_SECONDS}{stage}": seconds for stage, seconds in self.seconds.items()}
        counts |= {f"{_ERRORS}{reason}": count for reason, count in self.row_errors.items()}
        return ShareFigures(part, counts, {name: getattr(self, name) for name in _LEVELS})

    @classmethod
    def of_parts(cls, parts: Iterable[ShareFigures]) -> "PipelineFigures":
        """The figures of all parts together; what they hold is that of the largest."""
        total = cls()
        for part in parts:
            one = cls()
            for name in _COUNTS:
                setattr(one, name, int(part.counts.get(name, 0)))
            for name in _LEVELS:
                setattr(one, name, int(part.levels.get(name, 0)))
            for name, value in part.counts.items():
                if name.startswith(_SECONDS):
                    one.took(name.removeprefix(_SECONDS), value)
                elif name.startswith(_ERRORS):
                    one.row_errors[name.removeprefix(_ERRORS)] = int(value)
            total.add(one)
            total.holds([total, one])
        return total

    def to_dict(self) -> dict[str, Any]:
        """As JSON takes it; whoever counts may go on meanwhile."""
        held = replace(self, seconds=dict(self.seconds), row_errors=dict(self.row_errors))
        return asdict(held)
