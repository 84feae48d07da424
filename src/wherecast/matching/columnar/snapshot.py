"""A snapshot: a column of filters, immutable, matched against batches of publications.

Little work is done on whole columns (`column_scan`). For more, packed trees are built on first use,
where numba can be imported.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib.util import find_spec
from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from wherecast.language.meaning.element import Element
from wherecast.language.meaning.row_errors import counting
from wherecast.language.table.predicate_table import PredicateTable
from wherecast.matching.columnar.layout import SLOTS_MAX, Exact
from wherecast.matching.columnar.packed import PackedTrees
from wherecast.matching.columnar.packing.build_trees import Conjunctions, build
from wherecast.matching.columnar.packing.circles import with_boxes
from wherecast.matching.columnar.packing.entries import entries_of, exact_predicates
from wherecast.matching.columnar.packing.planner import whole_sets
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.search import flat_scan
from wherecast.matching.columnar.search.candidate_tests import CandidateTests
from wherecast.matching.columnar.search.column_scan import candidates
from wherecast.matching.columnar.search.compiled_programs import CompiledRun
from wherecast.matching.columnar.search.programs import Programs
from wherecast.matching.columnar.search.residual_checks import LaterRows, decide, later_rows
from wherecast.matching.columnar.search.tree_matching import (
    TreeInputs,
    TreeSearch,
    add_decided,
    match_trees,
)
from wherecast.matching.columnar.slot_batch import SlotBatch
from wherecast.matching.columnar.slots import SlotColumn

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]
_PLAIN_MAX = 1_000_000  # publications times predicates that whole columns do sooner than trees
_AT_HAND = 50  # times fewer, where the trees are there already


def compiles() -> bool:
    """Whether numba can be imported."""
    return sys.modules.get("numba") is not None or _can_be_found()


@cache
def _can_be_found() -> bool:  # the search takes longer than a match
    return find_spec("numba") is not None


@dataclass(frozen=True, slots=True, eq=False)
class SnapshotMatches:
    """The matches of a batch as filter numbers, and the cost of finding them.

    Attributes:
        offsets: int64 [publications + 1].
        numbers: int32, the filters, within a publication in no order.
        inner, leaf: numbers of inner and leaf blocks read.
        checked: number of entries decided on exact keys or on residual predicates.
    """

    offsets: Ints
    numbers: npt.NDArray[np.int32]
    inner: int = 0
    leaf: int = 0
    checked: int = 0


@dataclass(eq=False)
class Snapshot:
    """Filters as a predicate table, and as packed trees where these pay.

    Attributes:
        table: the filters.
        programs: what decides the candidates of some; None where nothing does.
        plain: the predicates in key space.
        boxed: the same predicates, and a box around each circle.
        later: the predicates that neither boxes nor keys can decide.
        filters: int64 [conjunctions], the filter of each.
        search: how batches go through the trees; None for the default.
    """

    table: PredicateTable
    programs: Programs | None
    plain: Predicates
    boxed: Predicates
    later: LaterRows
    filters: Ints
    search: TreeSearch | None = None
    _packed: PackedTrees | None = None
    _inputs: TreeInputs | None = None
    _tests: tuple[PackedTrees | None, CandidateTests] | None = None
    _work: int = 0
    _lock: Lock = field(default_factory=Lock)  # so that trees are built once

    @staticmethod
    def of(table: PredicateTable) -> "Snapshot":
        """The snapshot of a table."""
        covers = table.covers
        plain = exact_predicates(covers)
        filters = np.repeat(np.arange(len(table)), np.diff(covers.conjunction_offsets))
        programs = programs_of(table)
        boxed = with_boxes(covers, plain)
        return Snapshot(table, programs, plain, boxed, later_rows(covers), filters)

    @cached_property
    def is_float(self) -> npt.NDArray[np.uint8]:
        """Which slots hold doubles, uint8 [slots]; at least one slot, so that a row has one."""
        eager = self.table.attributes[: self.table.eager]
        types = [attribute.type == "float" for attribute in eager]
        return np.array(types or [False], np.uint8)

    @cached_property
    def element_slots(self) -> list[int]:
        """The slots of elements of arrays that conjunctions ask for."""
        attributes, used = self.table.attributes, np.unique(self.plain.slots).tolist()
        return [slot for slot in used if isinstance(attributes[slot], Element)]

    def _ask_elements(self) -> tuple[Bools, Bools]:
        """Which conjunctions are of filters that ask for elements, and which for one of several.

        Shapes: bool [conjunctions] each.
        """
        asking = np.zeros(len(self.table), bool)
        rows = np.flatnonzero(np.isin(self.plain.slots, self.element_slots))
        conjunctions = np.searchsorted(self.plain.offsets, rows, side="right") - 1
        asking[self.filters[conjunctions]] = True
        is_point = (self.plain.kinds == Exact.RANGE) & (self.plain.lows == self.plain.highs)
        for_several = np.zeros(len(self.filters), bool)
        for_several[conjunctions[~is_point[rows]]] = True
        return asking[self.filters], for_several

    def packed_trees(self, samples: Sequence[pa.RecordBatch] = ()) -> PackedTrees:
        """The trees, built on first use.

        Args:
            samples: of publications, from which the planner learns where the trees are built now.
        """
        with self._lock:
            if self._packed is None:
                self._packed = self._build(samples)
            return self._packed

    @counting(None)  # the samples were counted when they were matched
    def _build(self, samples: Sequence[pa.RecordBatch]) -> PackedTrees:
        eager = max(1, self.table.eager)
        least, most = np.resize(self.boxed.least, eager), np.resize(self.boxed.most, eager)
        boxed = replace(self.boxed, least=least, most=most)
        whole = whole_sets(boxed)
        counts = np.diff(self.table.covers.conjunction_offsets)
        extra, several = np.diff(self.later.offsets) > 0, counts[self.filters] > 1
        if self.programs is not None:
            extra |= self.programs.starts[self.filters] >= 0
        entries = entries_of(boxed, whole)
        columns = [
            SlotBatch(batch, self.table).probes(self.element_slots).columns for batch in samples
        ]
        asking, for_several = self._ask_elements()
        repeated = for_several | (asking & several)
        conjunctions = Conjunctions(self.filters, extra, several, whole, asking, repeated)
        return build(entries, boxed, self.is_float, conjunctions, columns)

    @property
    def has_trees(self) -> bool:
        """Whether trees are built or can be: with numba, and not too many attributes."""
        few = self.table.eager <= SLOTS_MAX
        return self._packed is not None or (few and compiles())

    @property
    def tree_bytes(self) -> int:
        """The bytes of the trees, 0 before they are built."""
        return 0 if self._packed is None else self._packed.nbytes

    @property
    def groups(self) -> int:
        """The number of trees, 0 before they are built."""
        return 0 if self._packed is None else len(self._packed.headers)

    def match(
        self, batch: pa.RecordBatch, samples: Sequence[pa.RecordBatch] = ()
    ) -> SnapshotMatches:
        """The filters that each publication of a batch satisfies.

        Args:
            batch: valid publications.
            samples: of publications, from which the planner learns where the trees are built now.
        """
        slots, rows = SlotBatch(batch, self.table), batch.num_rows
        if not self.takes_trees(rows * len(self.plain.kinds)):
            return self._match_plain(slots, np.arange(rows))
        odd = np.flatnonzero(self._odd(slots.columns, rows))
        if len(odd):
            return self._match_mixed(slots, odd, samples)
        return self._match_trees(slots, samples)

    def takes_trees(self, work: int) -> bool:
        """Whether to use trees: they are built already, or pay after so much work without them."""
        if not compiles():
            return False
        if self._packed is not None and work > _PLAIN_MAX // _AT_HAND:
            return True
        self._work += work
        return self._work > _PLAIN_MAX and self.has_trees

    def _odd(self, columns: list[SlotColumn], rows: int) -> npt.NDArray[np.bool_]:
        """The positions off the globe, where the boxes around circles do not hold."""
        given, odd = self.table.distances, np.zeros(rows, bool)
        if not len(given.latitudes):
            return odd
        for slots, most in ((given.latitudes, 90.0), (given.longitudes, 180.0)):
            for slot in np.unique(slots).tolist():
                with np.errstate(invalid="ignore"):
                    place = np.abs(columns[slot].values.astype(np.float64))
                    odd |= (place > most) & columns[slot].present()
        return odd

    def _match_plain(self, batch: SlotBatch, chosen: Ints) -> SnapshotMatches:
        """Matches some publications on whole columns; the others find nothing."""
        probes, rows = batch.probes(self.element_slots), batch.rows
        own = probes.columns
        searched = np.arange(len(own[0].values))
        if len(chosen) < rows:
            searched, own = probes.some(chosen)
        if flat_scan.is_loaded():
            found = flat_scan.candidates(self.plain, own, self.is_float, len(searched))
        else:
            found = candidates(self.plain, own, len(searched))
        places, conjunctions = found
        asked = probes.publications(searched[places])
        publications, filters = self._decided(batch, asked, conjunctions)
        if self.element_slots:  # several probes may have found a filter
            order = np.lexsort((filters, publications))
            publications, filters = publications[order], filters[order]
        is_new = np.ones(len(filters), bool)  # conjunctions of one filter are neighbours
        is_new[1:] = (np.diff(publications) != 0) | (np.diff(filters) != 0)
        counts = np.bincount(publications[is_new], minlength=rows)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        checked = len(chosen) * (len(self.plain.offsets) - 1)
        return SnapshotMatches(offsets, filters[is_new].astype(np.int32), checked=checked)

    def _match_mixed(
        self, batch: SlotBatch, odd: Ints, samples: Sequence[pa.RecordBatch]
    ) -> SnapshotMatches:
        """Matches odd publications on whole columns, and the others with trees."""
        rows = batch.rows
        others = np.setdiff1d(np.arange(rows), odd, assume_unique=True)
        some = self._match_plain(batch, odd)
        most = self._match_trees(batch.take(others), samples)
        counts = np.diff(some.offsets)
        counts[others] = np.diff(most.offsets)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        numbers = np.empty(int(offsets[-1]), np.int32)
        is_odd = np.repeat(np.isin(np.arange(rows), odd), counts)
        numbers[is_odd], numbers[~is_odd] = some.numbers, most.numbers
        return SnapshotMatches(offsets, numbers, most.inner, most.leaf, most.checked + some.checked)

    def tree_inputs(self, samples: Sequence[pa.RecordBatch] = ()) -> TreeInputs:
        """What the kernels take of the trees, which are built on first use."""
        if self._inputs is None:
            packed = self.packed_trees(samples)
            self._inputs = TreeInputs.of(packed, self.boxed, self.is_float)
        return self._inputs

    def _match_trees(self, batch: SlotBatch, samples: Sequence[pa.RecordBatch]) -> SnapshotMatches:
        inputs = self.tree_inputs(samples)
        packed = inputs.packed
        trees = match_trees(inputs, batch.probes(self.element_slots), self.search)
        ends, numbers, checked = trees.ends, trees.numbers, trees.checked
        if trees.extra.size:
            decided = self._decided_entries(batch, packed, *trees.extra)
            ends, numbers = add_decided(inputs, trees, *decided)
            checked += trees.extra.shape[1]
        return SnapshotMatches(ends, numbers, trees.inner, trees.leaf, checked)

    def _decided(
        self, batch: SlotBatch, publications: Ints, conjunctions: Ints
    ) -> tuple[Ints, Ints]:
        """The candidates that hold, as publications and filters, in the order that they have."""
        if self.programs is not None and flat_scan.is_loaded():
            tests = self.candidate_tests(self.programs)
            run = CompiledRun(self.programs, tests, batch)
            given = publications.astype(np.int32), conjunctions.astype(np.int32)
            chosen = np.flatnonzero(run.holds(*given, tests.starts))
            return publications[chosen], self.filters[conjunctions[chosen]]
        holds = decide(self.table.covers, self.later, batch.columns, publications, conjunctions)
        publications, filters = publications[holds], self.filters[conjunctions[holds]]
        if self.programs is None:
            return publications, filters
        holds = self.programs.decide(batch, publications, filters)
        return publications[holds], filters[holds]

    def _decided_entries(
        self, batch: SlotBatch, packed: PackedTrees, publications: Numbers, positions: Numbers
    ) -> tuple[Ints, Ints]:
        """The same for the entries of trees."""
        if self.programs is None:
            found = packed.sources[positions].astype(np.int64)
            return self._decided(batch, publications.astype(np.int64), found)
        tests = self.candidate_tests(self.programs)
        run = CompiledRun(self.programs, tests, batch)
        chosen = np.flatnonzero(run.holds(publications, positions, tests.of_entries))
        conjunctions = packed.sources[positions[chosen]]
        return publications[chosen].astype(np.int64), self.filters[conjunctions]

    def candidate_tests(self, programs: Programs) -> CandidateTests:
        """The tests in the order of the trees, or of the conjunctions before there are trees."""
        with self._lock:
            packed, made = self._packed, self._tests
            if made is None or made[0] is not packed:
                sources = np.zeros(0, np.int32) if packed is None else packed.sources
                made = packed, CandidateTests.of(programs, self.later, self.filters, sources)
                self._tests = made
            return made[1]


def programs_of(table: PredicateTable) -> Programs | None:
    """The programs of a table, None where it has none."""
    if table.covers is table:
        return None
    return Programs.of(table, exact_predicates(table))
