"""Matching a batch: candidates by one kernel, the exact check by another, then the leaves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.matching.trees.exact_kernels import confirm
from wherecast.matching.trees.filter_store import FilterStore
from wherecast.matching.trees.key_batch import BatchKeys, KeyBatch
from wherecast.matching.trees.row_layout import COST, Extra

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
_ROOM = 1 << 16
_EXTRA_MAX = 1 << 22  # candidates with leaves that wait for a decision, where one row has no more


@dataclass(frozen=True, slots=True, eq=False)
class EntryMatches:
    """The matches of a batch as entries of the filter store, and the cost of finding them.

    Attributes:
        offsets: int64 [publications + 1].
        entries: int32, within a publication in no order.
        checked: number of filters tried.
        visited: number of nodes visited.
    """

    offsets: Ints
    entries: Numbers
    checked: int
    visited: int


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What a kernel fills: the filters that publications are tried on.

    Attributes:
        found: int64, twice the entries, plus one where nothing is left to check.
        ends: int64 [rows of a chunk + 1].
        counts: int64 [2], filters tried and nodes visited.
        most: the most that one publication may have.
    """

    found: Ints
    ends: Ints
    counts: Ints
    most: int


# finds the candidates of a chunk from a row on, as far as there is room; gives the next row
Finder = Callable[[KeyBatch, int, Candidates], int]


class Search:
    """One batch on its way through the kernels, with the arrays that they fill."""

    def __init__(self, batch: BatchKeys, store: FilterStore, find: Finder) -> None:
        self._batch, self._store, self._find = batch, store, find
        self._candidates = Candidates(
            np.empty(_ROOM + store.count, np.int64), np.zeros(batch.chunk_rows + 1, np.int64),
            np.zeros(2, np.int64), store.count,
        )  # fmt: skip
        self._out = np.empty(_ROOM + store.count, np.int32)
        self._ends = np.zeros(batch.rows + 1, np.int64)
        room = 2 * store.leaf_rows + 16
        self._extra = Extra(
            np.empty((room, 2), np.int64), np.empty((room, 2), np.int64), np.zeros(2, np.int64)
        )
        self._more: list[Ints] = []  # what leaves decided, int64 [matches, 2]: rows and entries

    def run(self) -> EntryMatches:
        """The matches of the batch."""
        for first in range(0, self._batch.rows, self._batch.chunk_rows):
            last = min(first + self._batch.chunk_rows, self._batch.rows)
            keys, at = self._batch.chunk(first, last), 0
            while at < last - first:
                end = self._find(keys, at, self._candidates)
                self._confirm(keys, first, at, end)
                at = end
        counts = self._candidates.counts
        total = int(self._ends[-1])
        ends, entries = self._ends, self._out[:total]
        if total < len(self._out) // 2:
            entries = entries.copy()  # and the rest is not held
        self._decide()
        if self._more:
            ends, entries = self._with_more(entries)
        return EntryMatches(ends, entries, int(counts[COST.CHECKED]), int(counts[COST.VISITED]))

    def _confirm(self, keys: KeyBatch, first: int, at: int, end: int) -> None:
        """Checks the candidates of some rows, making room where it is needed."""
        candidates, store = self._candidates, self._store
        while True:
            at = confirm(
                store.rows, keys.keys, keys.there, first, at, end, candidates.found,
                candidates.ends, self._out, self._ends, self._extra, store.leaf_rows,
            )  # fmt: skip
            if at == end:
                return
            used = int(self._ends[first + at])
            if used + int(np.diff(candidates.ends[at : at + 2])[0]) > len(self._out):
                self._out = self._larger(used, first + at)
            if int(self._extra.used.max()) + store.leaf_rows > len(self._extra.groups):
                self._make_room()

    def _larger(self, used: int, rows: int) -> Numbers:
        """The matches so far, with room for as many as the rows so far make expect."""
        expected = used * self._batch.rows // max(1, rows)
        larger = np.empty(max(expected + expected // 8, used) + self._store.count + _ROOM, np.int32)
        larger[:used] = self._out[:used]
        return larger

    def _make_room(self) -> None:
        """Room for more candidates with leaves: longer arrays, or those so far are decided."""
        if len(self._extra.groups) >= _EXTRA_MAX:
            self._decide()
            return
        groups, tests = (np.concatenate([a, np.empty_like(a)]) for a in self._extra[:2])
        self._extra = Extra(groups, tests, self._extra.used)

    def _decide(self) -> None:
        """Decides the candidates with leaves so far; each filter counts once per publication.

        They come publication by publication, the conjunctions of one filter side by side.
        """
        store, used = self._store, self._extra.used
        if not used[0]:
            return
        groups, tests = self._extra.groups[: used[0]], self._extra.tests[: used[1]]
        holds = np.ones(len(groups), bool)
        verdicts = store.leaves.decide(
            store.slots, self._batch.columns, groups[tests[:, 0], 0], tests[:, 1]
        )
        holds[tests[~verdicts, 0]] = False
        held = groups[holds]
        is_new = np.ones(len(held), bool)
        is_new[1:] = (held[1:] != held[:-1]).any(axis=1)
        self._more.append(held[is_new])
        used[:] = 0

    def _with_more(self, entries: Numbers) -> tuple[Ints, Numbers]:
        """The matches, joined with the matches that leaves decided."""
        more = np.concatenate(self._more)
        owners, places = more[:, 0], np.arange(len(more))
        sizes, counts = np.diff(self._ends), np.bincount(more[:, 0], minlength=self._batch.rows)
        ends = np.concatenate([[0], np.cumsum(sizes + counts)])
        joined = np.empty(int(ends[-1]), np.int32)
        is_more = np.zeros(len(joined), bool)
        is_more[ends[owners] + sizes[owners] + places - (np.cumsum(counts) - counts)[owners]] = True
        joined[is_more], joined[~is_more] = more[:, 1], entries
        return ends, joined


def side_by_side(found: Sequence[EntryMatches], rows: int) -> tuple[Ints, Numbers]:
    """The offsets and entries of several matches of one batch; no filter is in two of them."""
    counts = np.concatenate([np.diff(matches.offsets) for matches in found])
    publications = np.repeat(np.tile(np.arange(rows), len(found)), counts)
    entries = np.concatenate([matches.entries for matches in found])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(publications, minlength=rows))])
    return offsets, entries[np.argsort(publications, kind="stable")]
