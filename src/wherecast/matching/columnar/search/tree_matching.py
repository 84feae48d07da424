"""Matching with trees: the kernels take a batch chunk by chunk, and the result arrays grow."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.element_columns import Probes
from wherecast.matching.columnar.layout import GroupFlag, Header, Pointers, Stamps
from wherecast.matching.columnar.packed import PackedTrees
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.search.encoder import Encoder, Encoding, address, addresses
from wherecast.matching.columnar.search.spare_arrays import SpareArrays
from wherecast.matching.columnar.search.stamp_pool import StampPool

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
_CHUNK_ROWS = 4_096
_CHUNK_CELLS = 1 << 21
_ALL_FIRST = np.ones(_CHUNK_ROWS, np.uint8)


@dataclass(frozen=True, slots=True)
class TreeSearch:
    """How a batch goes through the trees; matches are the same with any values.

    Attributes:
        groups_max: with more groups, a group takes all publications, not a publication all groups.
        first_rows: of the first chunk, which tells how many matches to expect; a batch with fewer
            rows takes publication by publication.
        room: number of matches that there is room for at first, beside those of one group.
    """

    groups_max: int = 256
    first_rows: int = 256
    room: int = 1 << 14


TREE_SEARCH = TreeSearch()


@dataclass(frozen=True, slots=True, eq=False)
class TreeMatches:
    """The matches that the trees found.

    Attributes:
        ends: int64 [rows + 1].
        numbers: int32, the filters that match.
        extra: int32 [2, pairs], publications and positions whose entries are still to be decided.
        inner, leaf: numbers of inner and leaf blocks read.
        checked: number of entries compared beyond their boxes.
    """

    ends: Ints
    numbers: Numbers
    extra: Numbers
    inner: int
    leaf: int
    checked: int


@dataclass(frozen=True, slots=True, eq=False)
class TreeInputs:
    """The inputs of the kernels that are the same for every batch.

    Attributes:
        packed: the trees.
        encoding: how columns become cells.
        held: the arrays that `pointers` point to, held so that they stay in memory.
        pointers: int64, the addresses that the kernels take, but for those of a batch.
        most: the size of the largest group, with a margin.
        repeats: whether several entries may report one filter.
        stamps: by which each filter is reported once.
    """

    packed: PackedTrees
    encoding: Encoding
    held: tuple[npt.NDArray[Any], ...]
    pointers: Ints
    most: int
    repeats: bool
    stamps: StampPool

    @staticmethod
    def of(
        packed: PackedTrees, predicates: Predicates, is_float: npt.NDArray[np.uint8]
    ) -> "TreeInputs":
        """The inputs for packed trees over predicates."""
        of_batch = np.zeros(0, np.int64)
        held = (
            of_batch, is_float, packed.headers, packed.blocks, packed.numbers, packed.sources,
            predicates.offsets, predicates.slots, predicates.kinds, predicates.lows,
            predicates.highs, predicates.keys, packed.quantisers.exact, packed.rest_ends,
            packed.rests, packed.directory, packed.groups, packed.seconds, of_batch,
            of_batch, packed.outcomes,
        )  # fmt: skip
        assert len(held) == len(Pointers)
        most = int(packed.headers[:, Header.SIZE].max(initial=0)) + 128
        encoding = Encoding.of(packed.quantisers, is_float)
        flags = int(np.bitwise_or.reduce(packed.headers[:, Header.FLAGS], initial=0))
        asked = flags & (GroupFlag.ONCE | GroupFlag.EXTRA)
        stamps = StampPool(int(packed.numbers.max(initial=-1)) + 1 if asked else 0)
        repeats = bool(flags & GroupFlag.ONCE)
        return TreeInputs(packed, encoding, held, addresses(held), most, repeats, stamps)


def match_trees(
    inputs: TreeInputs,
    probes: Probes,
    search: TreeSearch | None = None,
) -> TreeMatches:
    """The entries that each publication satisfies."""
    search = search or TREE_SEARCH
    columns, rows = probes.columns, len(probes.columns[0].values)
    chunk = max(64, min(_CHUNK_ROWS, _CHUNK_CELLS // len(columns)))
    by_group = len(inputs.packed.headers) > search.groups_max and rows >= search.first_rows
    with inputs.stamps.borrow() as stamps:
        work, begin = _Work(inputs, probes, search.room, stamps), 0
        while begin < rows:
            count = min(chunk if begin else min(chunk, search.first_rows), rows - begin)
            count = _whole(probes, begin, count)
            if by_group:
                work.groups(begin, count)
            else:
                work.rows(begin, count)
            begin += count
    return work.result()


def _whole(probes: Probes, begin: int, count: int) -> int:
    """About so many rows from `begin` on, so that they end where a publication does."""
    if probes.starts is None:
        return count
    place = int(np.searchsorted(probes.starts, begin + count, side="right")) - 1
    end = int(probes.starts[place])
    return (end if end > begin else int(probes.starts[place + 1])) - begin


def add_decided(
    inputs: TreeInputs, trees: TreeMatches, publications: Ints, filters: Ints
) -> tuple[Ints, Numbers]:
    """The matches of trees and matches that were decided later, each filter once per publication.

    Shapes: publications, filters int64 [matches], in any order; result int64 [rows + 1] and int32.
    """
    from wherecast.matching.columnar import kernels

    out = _spare.take(len(trees.numbers) + len(filters) + 1)
    with inputs.stamps.borrow() as stamps:
        ends: Ints = kernels.add_matches(
            trees.ends, trees.numbers, publications, filters.astype(np.int32), stamps, out
        )
    return ends, _cut(out, int(ends[-1]))


def _cut(out: Numbers, found: int) -> Numbers:
    """The matches in an array, which is kept for later."""
    numbers = out[:found] if found > len(out) // 2 else out[:found].copy()
    _spare.give(out)
    return numbers


class _Work:
    """One batch on its way through the kernels, with the arrays that they fill."""

    def __init__(
        self,
        inputs: TreeInputs,
        probes: Probes,
        room: int,
        stamps: Stamps,
    ) -> None:
        columns, rows = probes.columns, len(probes.columns[0].values)
        self._packed, self._rows, self._room = inputs.packed, rows, room
        self._probes = probes
        self._repeats, self._stamps = inputs.repeats, stamps
        self._encoder = Encoder(columns, inputs.encoding)
        self._most = inputs.most
        self._half = self._most // 64 + 64
        self._out = _spare.take(room + 2 * self._most)
        self._extra = _pairs_in(_spare.take(2 * (room + 2 * self._most)))
        self._stream, self._parts = np.empty(0, np.int32), np.empty((0, 2), np.int32)
        self._ends, self._counts = np.zeros(rows + 1, np.int64), np.zeros(6, np.int64)
        self._scratch = np.empty(2 * self._half, np.int32)
        self._pointers = inputs.pointers.copy()
        self._pointers[Pointers.COLUMNS] = address(self._encoder.values)
        self._pointers[Pointers.SCRATCH] = address(self._scratch)
        self._pointers[Pointers.STAMPS] = address(stamps.marks)

    def rows(self, begin: int, count: int) -> None:
        """Matches a chunk publication by publication."""
        from wherecast.matching.columnar import kernels

        cells, _ = self._encoder.cells(begin, count)
        firsts = self._firsts(begin, count)
        self._expect(begin, count)
        at = 0
        while True:
            before = at
            at = kernels.match_rows(
                cells, firsts, at, begin, self._pointers, self._half, self._out, self._ends,
                self._extra, self._counts, self._stamps,
            )  # fmt: skip
            if at == count:
                return
            stuck = at == before  # one publication needs more than there is
            found, extra = int(self._ends[begin + at]), int(self._counts[3])
            if stuck or found + 2 * self._most > len(self._out):
                self._grow_out(found, 2 * len(self._out))
            if stuck or extra + 2 * self._most > len(self._extra):
                self._grow_extra(extra)

    def groups(self, begin: int, count: int) -> None:
        """Matches a chunk group by group."""
        from wherecast.matching.columnar import kernels

        groups, state = len(self._packed.headers), np.zeros(2, np.int64)
        firsts = self._firsts(begin, count)
        cells, there = self._encoder.cells(begin, count)
        if not len(self._stream):
            self._stream = np.empty(self._room + 2 * self._most, np.int32)
            self._parts = np.empty((self._room, 2), np.int32)
        self._counts[4:] = 0
        while not kernels.match_groups(
            cells, firsts, there, state, begin, self._pointers, groups, self._half,
            self._stream, self._parts, self._extra, self._counts,
        ):  # fmt: skip
            if self._counts[4] + self._most > len(self._stream):
                self._stream = np.concatenate([self._stream, np.empty_like(self._stream)])
            if self._counts[5] == len(self._parts):
                self._parts = np.concatenate([self._parts, np.empty_like(self._parts)])
            if self._counts[3] + self._most > len(self._extra):
                self._grow_extra(int(self._counts[3]))
        found, more = int(self._ends[begin]), int(self._counts[4])
        if found + more > len(self._out):
            wanted = (found + more) * self._rows // (begin + count)
            self._grow_out(found, wanted + wanted // 8)
        kernels.gather(
            self._parts, int(self._counts[5]), self._stream, begin, count, self._ends, self._out
        )
        if self._repeats:
            kernels.once(begin, count, firsts, self._ends, self._out, self._stamps)

    def _firsts(self, begin: int, count: int) -> npt.NDArray[np.uint8]:
        """Which rows of a chunk are the first of their publication, uint8 [rows]."""
        owners = self._probes.owners
        if owners is None:
            return _ALL_FIRST[:count]
        firsts = np.ones(count, np.uint8)
        firsts[1:] = owners[begin + 1 : begin + count] != owners[begin : begin + count - 1]
        return firsts

    def _expect(self, begin: int, count: int) -> None:
        """Makes room for the matches of a chunk; the first time, for those expected of all rows."""
        found = int(self._ends[begin])
        if not begin or found + found * count // begin + 2 * self._most <= len(self._out):
            return
        wanted = found * self._rows // begin
        self._grow_out(found, wanted + wanted // 8 + 3 * self._most)

    def _grow_out(self, used: int, size: int) -> None:
        larger = _spare.take(max(size, len(self._out) + 1))
        larger[:used] = self._out[:used]
        self._out = larger

    def _grow_extra(self, used: int) -> None:
        larger = _pairs_in(_spare.take(2 * self._extra.size))
        larger[:used] = self._extra[:used]
        self._extra = larger

    def result(self) -> TreeMatches:
        """The matches of the batch."""
        numbers = _cut(self._out, int(self._ends[-1]))
        inner, leaf, checked, found = self._counts[:4].tolist()
        ends, extra = self._ends, self._extra[:found].T.copy()
        _spare.give(self._extra.base)  # type: ignore[arg-type]
        if self._probes.owners is not None and self._probes.starts is not None:
            ends = ends[self._probes.starts]
            extra[0] = self._probes.owners[extra[0]]
        return TreeMatches(ends, numbers, extra, inner, leaf, checked)


def _pairs_in(array: Numbers) -> Numbers:
    """The array as pairs, int32 [pairs, 2]."""
    return array[: len(array) // 2 * 2].reshape(-1, 2)


_spare = SpareArrays()
