"""A snapshot: a column of filters, immutable, matched against batches of publications.

Little work is done on whole columns, as `plain` does. For more, the forest is built on first use,
where numba can be imported.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language.table import PredicateTable
from wherecast.matching.columnar.circles import with_boxes
from wherecast.matching.columnar.entries import entries_of, exact_predicates
from wherecast.matching.columnar.forest import Forest, build
from wherecast.matching.columnar.later import LaterRows, decide, later_rows
from wherecast.matching.columnar.layout import Header, Pointers
from wherecast.matching.columnar.plain import candidates
from wherecast.matching.columnar.plan import whole_sets
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.slots import Column, columns_of

Ints = npt.NDArray[np.int64]
_ROOM = 1 << 16
_PLAIN_MAX = 1_000_000  # publications times predicates that whole columns do sooner than trees


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The matches of a batch as filter numbers, with what they cost.

    Attributes:
        offsets: int64 [publications + 1].
        numbers: int32, within a publication in no order.
        inner, leaf: blocks read.
        checked: entries decided on exact keys or later.
    """

    offsets: Ints
    numbers: npt.NDArray[np.int32]
    inner: int = 0
    leaf: int = 0
    checked: int = 0


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Filters as a predicate table, and as a forest where that pays.

    Attributes:
        table: the filters.
        plain: their predicates in key space.
        boxed: the same with the boxes around circles.
        later: what remains to be decided after that.
        filters: int64 [conjunctions], the filter of each.
    """

    table: PredicateTable
    plain: Predicates
    boxed: Predicates
    later: LaterRows
    filters: Ints

    @staticmethod
    def of(table: PredicateTable) -> "Snapshot":
        """The snapshot of a table."""
        plain = exact_predicates(table)
        filters = np.repeat(np.arange(len(table)), np.diff(table.conjunction_offsets))
        return Snapshot(table, plain, with_boxes(table, plain), later_rows(table), filters)

    @cached_property
    def is_float(self) -> npt.NDArray[np.uint8]:
        """Which slots hold doubles, uint8 [slots]; at least one slot, so that a row has one."""
        types = [attribute.type == "float" for attribute in self.table.attributes]
        return np.array(types or [False], np.uint8)

    @cached_property
    def forest(self) -> Forest:
        """The trees, built on first use."""
        boxed = self.boxed
        if not len(boxed.least):
            boxed = replace(boxed, least=np.zeros(1, np.int64), most=np.zeros(1, np.int64))
        whole = whole_sets(boxed)
        counts = np.diff(self.table.conjunction_offsets)
        extra = (counts[self.filters] > 1) | (np.diff(self.later.offsets) > 0)
        entries = entries_of(boxed, whole)
        return build(entries, boxed, self.is_float, self.filters, extra, whole)

    @property
    def has_trees(self) -> bool:
        """Whether there is a forest, or one could be built."""
        return "forest" in self.__dict__ or find_spec("numba") is not None

    @property
    def forest_bytes(self) -> int:
        """The bytes of the trees, 0 where they were not needed yet."""
        return self.forest.nbytes if "forest" in self.__dict__ else 0

    def match(self, batch: pa.RecordBatch) -> Found:
        """The filters that each publication of a batch satisfies."""
        columns = columns_of(batch, self.table.attributes, self.table.strings)
        rows = batch.num_rows
        work = rows * len(self.plain.kinds)
        if work <= _PLAIN_MAX or find_spec("numba") is None or self._is_odd(columns):
            return self._match_plain(columns, rows)
        return self._match_forest(columns, rows)

    def _is_odd(self, columns: list[Column]) -> bool:
        """Whether a position lies off the globe, where the boxes around circles do not hold."""
        given = self.table.distances
        for slots, most in ((given.latitudes, 90.0), (given.longitudes, 180.0)):
            for slot in np.unique(slots).tolist():
                with np.errstate(invalid="ignore"):
                    if (np.abs(columns[slot].values) > most).any():
                        return True
        return False

    def _match_plain(self, columns: list[Column], rows: int) -> Found:
        publications, conjunctions = candidates(self.plain, columns, rows)
        empty = np.zeros(rows + 1, np.int64), np.zeros(0, np.int32)
        offsets, numbers = self._joined(columns, *empty, publications, conjunctions)
        return Found(offsets, numbers, checked=rows * (len(self.plain.offsets) - 1))

    def _match_forest(self, columns: list[Column], rows: int) -> Found:
        columns = columns or [Column(np.zeros(rows, np.int64), np.zeros(rows, np.uint8))]
        cells = self._cells(columns, rows)
        ends, numbers, extra, counters = self._run(cells, columns)
        inner, leaf, checked = counters.tolist()
        if not len(extra):
            return Found(ends, numbers, inner, leaf, checked)
        publications = extra[:, 0].astype(np.int64)
        conjunctions = self.forest.sources[extra[:, 1]].astype(np.int64)
        ends, numbers = self._joined(columns, ends, numbers, publications, conjunctions)
        return Found(ends, numbers, inner, leaf, checked + len(extra))

    def _cells(self, columns: list[Column], rows: int) -> npt.NDArray[np.uint16]:
        from wherecast.matching.columnar import kernels

        width = len(self.is_float)
        cells = np.empty((rows, width), np.uint16)
        flat = cells.reshape(-1)
        for slot, (column, quantiser) in enumerate(
            zip(columns, self.forest.quantisers, strict=True)
        ):
            kernels.cells_of(
                column.values, column.valid, quantiser.bounds, quantiser.table, quantiser.origin,
                quantiser.scale, int(quantiser.exact), flat, width, slot,
            )  # fmt: skip
        return cells

    def _run(
        self, cells: npt.NDArray[np.uint16], columns: list[Column]
    ) -> tuple[Ints, npt.NDArray[np.int32], npt.NDArray[np.int32], Ints]:
        """Calls the kernel until all publications are done, making room where it stops."""
        from wherecast.matching.columnar import kernels

        forest, exact = self.forest, self.boxed
        room = int(forest.headers[:, Header.SIZE].max(initial=0)) + 128
        half = room // 64 + 64
        out = np.empty(max(_ROOM, 2 * room), np.int32)
        extra = np.empty((max(_ROOM, 2 * room), 2), np.int32)
        ends, counts = np.zeros(len(cells) + 1, np.int64), np.zeros(4, np.int64)
        held = (
            np.array([column.values.ctypes.data for column in columns], np.int64), self.is_float,
            forest.headers, forest.blocks, forest.numbers, forest.sources, exact.offsets,
            exact.slots, exact.kinds, exact.lows, exact.highs, exact.keys,
            np.empty(2 * half, np.int32),
        )  # fmt: skip
        assert len(held) == len(Pointers)
        pointers = np.array([array.ctypes.data for array in held], np.int64)
        at = 0
        while True:
            before = at
            at = kernels.match_rows(
                cells, at, pointers, forest.directory, forest.groups, half, out, ends, extra, counts
            )
            if at == len(cells):
                return ends, out[: ends[at]], extra[: counts[3]], counts[:3]
            stuck = at == before  # one publication needs more than there is
            if stuck or ends[at] + 2 * room > len(out):
                out = np.concatenate([out, np.empty(len(out), np.int32)])
            if stuck or counts[3] + 2 * room > len(extra):
                extra = np.concatenate([extra, np.empty_like(extra)])

    def _joined(
        self,
        columns: list[Column],
        ends: Ints,
        numbers: npt.NDArray[np.int32],
        publications: Ints,
        conjunctions: Ints,
    ) -> tuple[Ints, npt.NDArray[np.int32]]:
        """The matches with those candidates that hold, each filter once per publication."""
        holds = decide(self.table, self.later, columns, publications, conjunctions)
        found = self.filters[conjunctions[holds]]
        pairs = np.unique(publications[holds] * max(1, len(self.table)) + found)
        publications, found = np.divmod(pairs, max(1, len(self.table)))
        counts = np.bincount(publications, minlength=len(ends) - 1)
        joined = np.concatenate([[0], np.cumsum(np.diff(ends) + counts)])
        result = np.empty(int(joined[-1]), np.int32)
        rows = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        result[joined[rows] + np.arange(len(numbers)) - ends[rows]] = numbers
        within = np.arange(len(pairs)) - np.repeat(np.cumsum(counts) - counts, counts)
        result[joined[publications] + np.diff(ends)[publications] + within] = found
        return joined, result
