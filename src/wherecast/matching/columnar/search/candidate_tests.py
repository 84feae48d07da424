"""The tests of candidates as records, in the order in which the kernel meets the candidates.

What decides a candidate are the residual predicates of its conjunction, then the program of its
filter. Both are runs of table rows; here each run lies in one piece of memory, beside those of the
entries of the same group.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import counting, spans
from wherecast.language.meaning.index_plan import FAILS, MATCHES
from wherecast.language.table.predicate_table import PredicateTable
from wherecast.matching.columnar.layout import RECORD_KIND_BITS, RECORD_SLOT_BITS
from wherecast.matching.columnar.search.programs import Programs
from wherecast.matching.columnar.search.residual_checks import LaterRows

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
_FALSE_SHIFT = RECORD_SLOT_BITS + RECORD_KIND_BITS
_TRUE_SHIFT = _FALSE_SHIFT + 16


@dataclass(frozen=True, slots=True, eq=False)
class CandidateTests:
    """The tests of all conjunctions.

    Attributes:
        records: int64 [tests, 3], the low and the high key of a test, and a word of the slot, the
            kind, and the ways on, counted from the test; `MATCHES` and `FAILS` decide.
        rows: int64 [tests], the row of the table of each test.
        starts: int32 [conjunctions], the first test of each; -1 where nothing is left to decide.
        of_entries: int32 [entries], those of the conjunctions of the entries of trees.
    """

    records: Ints
    rows: Ints
    starts: Numbers
    of_entries: Numbers

    @staticmethod
    def of(
        programs: Programs, later: LaterRows, filters: Ints, sources: Numbers
    ) -> "CandidateTests":
        """The tests of conjunctions.

        Args:
            programs: the programs of all filters.
            later: the residual predicates of each conjunction.
            filters: int64 [conjunctions], the filter of each.
            sources: int32 [entries], the conjunctions of the entries of trees, in whose order their
                tests lie; empty before there are trees.
        """
        order = np.concatenate([sources, np.arange(len(filters))])
        counts = np.diff(later.offsets)
        of_unit = np.where(counts > 0, len(programs.starts) + np.arange(len(filters)), filters)
        _, firsts, unit = np.unique(of_unit[order], return_index=True, return_inverse=True)
        places = np.argsort(firsts)
        unit = np.argsort(places)[unit]
        chosen = order[firsts[places]]  # a conjunction of each unit
        residual, tests = counts[chosen], programs.sizes[filters[chosen]]
        sizes = residual + tests
        offsets = np.cumsum(sizes) - sizes
        rows, jumps = np.empty(int(sizes.sum()), np.int64), np.empty(int(sizes.sum()), np.int64)
        at = spans(offsets, residual)
        rows[at] = cover_rows(programs.table)[later.rows[spans(later.offsets[chosen], residual)]]
        is_last = counting(residual) + 1 == np.repeat(sizes, residual)
        jumps[at] = np.where(is_last, MATCHES, 1) << 16 | FAILS
        at = spans(offsets + residual, tests)
        rows[at] = spans(programs.starts[filters[chosen]], tests)
        jumps[at] = _relative(programs.table.jumps[rows[at]].astype(np.int64), counting(tests))
        starts = np.full(len(filters), -1, np.int32)
        starts[order] = np.where(sizes > 0, offsets, -1)[unit]
        return CandidateTests(_records(programs, rows, jumps), rows, starts, starts[sources])

    @property
    def nbytes(self) -> int:
        """The bytes of the arrays."""
        return self.records.nbytes + self.rows.nbytes + self.starts.nbytes + self.of_entries.nbytes


def cover_rows(table: PredicateTable) -> Ints:
    """The rows of a table that its covers have, int64 [predicates of the covers]."""
    return np.flatnonzero(~np.repeat(table.are_programs(), np.diff(table.predicate_offsets)))


def _relative(jumps: Ints, places: Ints) -> Ints:
    """The jumps counted from their own tests, which have places in their programs."""
    ways = [jumps >> 16, jumps & 0xFFFF]
    yes, no = (np.where(way < MATCHES, way - places, way) for way in ways)
    return yes << 16 | no


def _records(programs: Programs, rows: Ints, jumps: Ints) -> Ints:
    exact = programs.exact
    slots, kinds = exact.slots[rows].astype(np.int64), programs.kernel_kinds[rows].astype(np.int64)
    words = slots | kinds << RECORD_SLOT_BITS
    words |= (jumps & 0xFFFF) << _FALSE_SHIFT | jumps >> 16 << _TRUE_SHIFT
    return np.stack([exact.lows[rows], exact.highs[rows], words], axis=1)
