"""The ids of recent publications: their hashes and places, in sorted runs.

Ten million ids as Python strings would take more than a gigabyte; as two numbers each they take
160 MB. A hash says where an id may have come before; whoever asks looks there and compares.

Concurrency: immutable. A transaction makes a new one and installs it once it is committed.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.matching.run_tiers import due
from wherecast.store.ids.publication_ids import Hashes

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class IdWindow:
    """For how long an id is unique: the shorter of two limits counts.

    Attributes:
        age_us: for so long after it was accepted.
        publications: number of later publications for which an id counts.
    """

    age_us: int = 24 * 3600 * 1_000_000
    publications: int = 10_000_000

    def has(self, accepted_at: int, place: int, at: int, end: int) -> bool:
        """Whether the id of a publication at a place is still taken for one at the end."""
        return at - accepted_at < self.age_us and end - place < self.publications


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """Ids that came one after the other.

    Attributes:
        hashes: ascending; uint64, shape (n,).
        places: of each; int64, shape (n,).
        newest: the last place.
        newest_at: when that one was accepted.
    """

    hashes: Hashes
    places: Places
    newest: int
    newest_at: int


class RecentIds:
    """The ids of a window, each by its hash and its place: its number among all publications."""

    def __init__(self, window: IdWindow | None = None, runs: Iterable[_Run] = ()) -> None:
        self.window = window or IdWindow()
        self._runs = tuple(runs)

    def __len__(self) -> int:
        return sum(len(run.hashes) for run in self._runs)

    def find(self, hashes: Hashes) -> tuple[Places, Places]:
        """The places of recent publications with these hashes.

        Returns:
            Two arrays of one length: a row of `hashes`, and a place. A row may have several.

        Cost: a search in each run, of which there are about as many as three times the logarithm
        to base 4.
        """
        given = np.flatnonzero(hashes)
        given = given[np.argsort(hashes[given], kind="stable")]  # neighbours in a run stay close
        wanted = hashes[given]
        rows, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for run in self._runs:
            starts = np.searchsorted(run.hashes, wanted)
            found = np.flatnonzero(run.hashes[np.minimum(starts, len(run.hashes) - 1)] == wanted)
            if len(found):
                counts = np.searchsorted(run.hashes, wanted[found], "right") - starts[found]
                rows.append(np.repeat(given[found], counts))
                places.append(run.places[_spread(starts[found], counts)])
        return np.concatenate(rows), np.concatenate(places)

    def adding(self, hashes: Hashes, places: Places, at: int) -> "RecentIds":
        """These ids and newer ones, without ids that the window has passed.

        Args:
            hashes: of publications at successive places; 0 is none.
            places: where they are; int64, ascending.
            at: when they were accepted.
        """
        given = np.flatnonzero(hashes)
        if not len(given):
            return self
        order = given[np.argsort(hashes[given], kind="stable")]
        floor = int(places[-1]) + 1 - self.window.publications
        runs = [run for run in self._runs if self._counts(run, floor, at)]
        runs.append(_Run(hashes[order], places[order], int(places[-1]), at))
        while (joined := due([(len(run.hashes), 0) for run in runs])) is not None:
            runs[joined] = [_joined(runs[joined], floor)]
        return RecentIds(self.window, runs)

    def _counts(self, run: _Run, floor: int, at: int) -> bool:
        is_recent = at - run.newest_at < self.window.age_us
        return is_recent and run.newest >= floor


def _joined(runs: list[_Run], floor: int) -> _Run:
    """One run of several, without places before the floor."""
    hashes = np.concatenate([run.hashes for run in runs])
    places = np.concatenate([run.places for run in runs])
    kept = np.flatnonzero(places >= floor)
    order = kept[np.argsort(hashes[kept], kind="stable")]
    return _Run(hashes[order], places[order], runs[-1].newest, max(run.newest_at for run in runs))


def _spread(starts: Places, counts: Places) -> Places:
    """The numbers from each start on, as many as its count."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(counts.sum())
