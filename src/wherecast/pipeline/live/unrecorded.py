"""Matches that were notified and have no batch record yet: one record for all since the last."""

from dataclasses import dataclass, field

import numpy as np

from wherecast.pipeline.live.stage.join_shares import JoinedMatches
from wherecast.pipeline.live.stage.match_range import MatchedRange
from wherecast.store.records import DeadLetter, RecordRun


@dataclass(slots=True)
class Unrecorded:
    """The matches of successive records of a log of one partition.

    Attributes:
        first: offset of the first record.
        end: offset after the last one.
        matches: number of matches.
        parts: matches of ranges.
        rows: offsets of publications that were matched one by one, with the versions that matched.
        dead_letters: publications that could not be matched.
    """

    first: int
    end: int
    matches: int = 0
    parts: list[JoinedMatches] = field(default_factory=list)
    rows: list[tuple[int, list[int]]] = field(default_factory=list)
    dead_letters: list[DeadLetter] = field(default_factory=list)

    def __len__(self) -> int:
        """Number of records."""
        return self.end - self.first

    def add_row(self, offset: int, versions: list[int]) -> None:
        """Adds the publication at the end."""
        self.end = offset + 1
        if versions:
            self.rows.append((offset, versions))
            self.matches += len(versions)

    def add_range(self, matched: MatchedRange) -> None:
        """Adds the range at the end."""
        self.end = matched.range.end
        self.parts.append(matched.matches)
        self.matches += len(matched.matches.offsets)
        self.dead_letters += matched.dead_letters

    @property
    def runs(self) -> tuple[RecordRun, ...]:
        """The records: a log whose rows are matched at the append has no holes."""
        return (RecordRun(self.first, len(self)),)

    def joined(self) -> JoinedMatches:
        """All matches, in any order."""
        counts = [len(versions) for _, versions in self.rows]
        offsets = np.repeat(np.array([offset for offset, _ in self.rows], np.int64), counts)
        flat = [version for _, versions in self.rows for version in versions]
        return JoinedMatches(
            np.concatenate([offsets, *(part.offsets for part in self.parts)]),
            np.concatenate([np.array(flat, np.int64), *(part.versions for part in self.parts)]),
        )
