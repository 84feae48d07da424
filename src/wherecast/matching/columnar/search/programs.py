"""Programs: the tests that decide the candidates of filters whose conjunctions do not.

All candidates go through their programs side by side. A test that keys cannot decide (a pattern, a
distance, a derived value that only programs look at) stops a candidate; the tests of all that
stopped are then decided together, and the candidates go on.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.language.meaning.element import Element
from wherecast.language.meaning.index_plan import FAILS, MATCHES
from wherecast.language.table.predicate_table import Kind, PredicateTable
from wherecast.matching.columnar.element_columns import ElementColumn
from wherecast.matching.columnar.layout import ArrayState, Exact
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.search.pattern_memory import PatternMemory
from wherecast.matching.columnar.search.program_formulas import ProgramFormulas
from wherecast.matching.columnar.search.residual_checks import rows_hold
from wherecast.matching.columnar.slot_batch import SlotBatch
from wherecast.matching.columnar.slots import SlotColumn, keys_of

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Verdicts = npt.NDArray[np.uint8]
_RESIDUAL = (int(Kind.PATTERN), int(Kind.DISTANCE), int(Kind.RESIDUAL))
_RANGE, _SET, _NOT_SET, _MISSING, _LATER = (
    int(kind) for kind in (Exact.RANGE, Exact.SET, Exact.NOT_SET, Exact.MISSING, Exact.LATER)
)
_STOPPED, _TRUE, _FALSE = 2, 1, 0


@dataclass(frozen=True, slots=True, eq=False)
class Programs:
    """The programs of a table.

    Attributes:
        table: the filters.
        exact: all predicates of the table in key space.
        starts: int64 [filters], the first row of each program; -1 where there is none.
        sizes: int64 [filters], the rows of each program.
        kinds: uint8 [predicates], those of `exact`; `LATER` where keys of a batch do not decide.
        kernel_kinds: the same for the kernel, which computes some formulas, and asks the memory.
        formulas: the formulas that the kernel computes.
        memory: the verdicts on patterns.
        elements: the slots that stand for the elements of arrays.
    """

    table: PredicateTable
    exact: Predicates
    starts: Ints
    sizes: Ints
    kinds: npt.NDArray[np.uint8]
    kernel_kinds: npt.NDArray[np.uint8]
    formulas: ProgramFormulas
    memory: PatternMemory
    elements: list[int]

    @staticmethod
    def of(table: PredicateTable, exact: Predicates) -> "Programs | None":
        """The programs of a table, None where it has none."""
        return Programs.of_all(table, exact) if table.are_programs().any() else None

    @staticmethod
    def of_all(table: PredicateTable, exact: Predicates) -> "Programs":
        """The programs of a table, be there any or not."""
        programs = np.flatnonzero(table.are_programs())
        owners = np.searchsorted(table.conjunction_offsets, programs, side="right") - 1
        starts = np.full(len(table), -1, np.int64)
        starts[owners] = table.predicate_offsets[programs]
        sizes = np.zeros(len(table), np.int64)
        sizes[owners] = np.diff(table.predicate_offsets)[programs]
        kinds = exact.kinds.copy()
        kinds[table.attribute >= table.eager] = _LATER
        are_elements = np.array([isinstance(one, Element) for one in table.attributes], bool)
        kinds[are_elements[table.attribute]] = _LATER
        formulas = ProgramFormulas.of(table)
        is_known = np.concatenate([np.ones(table.eager, bool), formulas.are_compiled()])
        patterns = (table.kind == Kind.PATTERN) & (table.attribute < table.eager)
        kernel_kinds = np.where(is_known[table.attribute], exact.kinds, np.uint8(_LATER))
        kernel_kinds[patterns] = Exact.PATTERN
        asked = np.unique(table.attribute[patterns]).tolist()
        memory = PatternMemory(len(table.patterns), asked)
        slots = np.flatnonzero(are_elements).tolist()
        return Programs(table, exact, starts, sizes, kinds, kernel_kinds, formulas, memory, slots)

    def decide(self, batch: SlotBatch, publications: Ints, filters: Ints) -> Bools:
        """Which candidates hold; one whose filter has no program does.

        Shapes: publications, filters int64 [candidates]; result bool [candidates].
        """
        holds = np.ones(len(filters), bool)
        mine = np.flatnonzero(self.starts[filters] >= 0)
        if len(mine):
            run = ProgramRun(self, batch, publications[mine], self.starts[filters[mine]])
            holds[mine] = run.verdicts()
        return holds


class ProgramRun:
    """Candidates on their way through their programs, test by test.

    Attributes:
        tests: number of tests so far, those counted twice that stopped a candidate.
    """

    def __init__(
        self, programs: Programs, batch: SlotBatch, publications: Ints, starts: Ints
    ) -> None:
        self._programs, self._batch = programs, ProgramBatch(programs, batch)
        self._publications, self._starts = publications, starts
        self.tests = 0

    def verdicts(self) -> Bools:
        """Which candidates hold, bool [candidates]."""
        count = len(self._starts)
        rows, outcome = self._starts.copy(), np.full(count, _STOPPED, np.uint8)
        waiting = np.arange(count)
        given = outcome.copy()
        while len(waiting):
            self._advance(waiting, rows, given, outcome)
            waiting = waiting[outcome[waiting] == _STOPPED]
            given[waiting] = self._batch.decided(self._publications[waiting], rows[waiting])
        holds: Bools = outcome == _TRUE
        return holds

    def _advance(self, waiting: Ints, rows: Ints, given: Verdicts, outcome: Verdicts) -> None:
        """Takes candidates on until each is decided or stops at a test.

        Shapes: rows int64 [candidates], where each one is; given uint8 [candidates], the verdict of
        the test there, or `_STOPPED` where it is not known; outcome uint8 [candidates].
        """
        jumps = self._programs.table.jumps
        while len(waiting):
            self.tests += len(waiting)
            here = rows[waiting]
            verdict = given[waiting].copy()
            given[waiting] = _STOPPED
            fresh = np.flatnonzero(verdict == _STOPPED)
            fresh = fresh[self._programs.kinds[here[fresh]] != _LATER]
            verdict[fresh] = self._holds(self._publications[waiting[fresh]], here[fresh])
            going = np.flatnonzero(verdict != _STOPPED)
            jump = jumps[here[going]].astype(np.int64)
            target = np.where(verdict[going] == _TRUE, jump >> 16, jump & 0xFFFF)
            waiting = waiting[going]
            outcome[waiting[target == MATCHES]] = _TRUE
            outcome[waiting[target == FAILS]] = _FALSE
            left = target < MATCHES
            waiting = waiting[left]
            rows[waiting] = self._starts[waiting] + target[left]

    def _holds(self, publications: Ints, rows: Ints) -> Bools:
        """Which tests of keys hold, bool [tests]."""
        exact, kinds = self._programs.exact, self._programs.kinds[rows]
        slots = exact.slots[rows]
        there = self._batch.there[publications, slots]
        keys = self._batch.keys[publications, slots]
        return tested(exact, rows, kinds, keys, there)


class ProgramBatch:
    """A batch as programs see it.

    Attributes:
        keys: int64 [rows, eager slots].
        there: bool [rows, eager slots], whether each of these is there.
        elements: of arrays, by slot.
        generation: the memory of patterns of this batch.
        codes: int32 [rows, eager slots], the places of strings in that memory.
    """

    def __init__(self, programs: Programs, batch: SlotBatch) -> None:
        self._programs, self._batch = programs, batch
        columns = batch.columns
        self.keys = np.stack([keys_of(column.values) for column in columns], axis=1)
        self.elements = {slot: batch.elements(slot) for slot in programs.elements}
        self.there = np.stack([column.present() for column in columns], axis=1)
        self.generation, self.codes = programs.memory.codes(columns, batch.rows)

    def decided(self, publications: Ints, rows: Ints) -> Bools:
        """Which tests that keys of the batch do not decide hold, bool [tests]."""
        table, exact = self._programs.table, self._programs.exact
        holds = np.zeros(len(rows), bool)
        residual = np.isin(table.kind[rows], _RESIDUAL)
        some = np.flatnonzero(residual)
        if len(some):
            columns = _ColumnView(self._batch)
            holds[some] = rows_hold(table, columns, publications[some], rows[some])  # type: ignore[arg-type]
            self._remember(publications[some], rows[some], holds[some])
        others = np.flatnonzero(~residual)
        slots = exact.slots[rows[others]]
        order = np.argsort(slots, kind="stable")
        firsts = np.flatnonzero(np.diff(slots[order], prepend=-1))
        for mine in np.split(others[order], firsts[1:]) if len(order) else ():
            slot = int(exact.slots[rows[mine[0]]])
            if slot in self.elements:
                column = self.elements[slot]
                holds[mine] = _elements_tested(exact, rows[mine], column, publications[mine])
                continue
            keys, there = self._batch.keys(slot)
            at, kinds = publications[mine], exact.kinds[rows[mine]]
            holds[mine] = tested(exact, rows[mine], kinds, keys[at], there[at])
        return holds

    def _remember(self, publications: Ints, rows: Ints, holds: Bools) -> None:
        """Notes the verdicts on patterns for later candidates and batches."""
        mine = np.flatnonzero(self._programs.kernel_kinds[rows] == Exact.PATTERN)
        at = self._programs.table.attribute[rows[mine]]
        there = self.there[publications[mine], at]
        mine, at = mine[there], at[there]
        places = self.codes[publications[mine], at].astype(np.int64)
        self.generation.remember(self._programs.table.low[rows[mine]], places, holds[mine])


class _ColumnView:
    """Columns of a batch by slot, lazy ones too."""

    def __init__(self, batch: SlotBatch) -> None:
        self._batch = batch

    def __getitem__(self, slot: int) -> SlotColumn:
        return self._batch.column(slot)


def _elements_tested(
    exact: Predicates, rows: Ints, column: ElementColumn, publications: Ints
) -> Bools:
    """Which predicates hold on the elements of which publications, bool [tests]."""
    holds = np.zeros(len(rows), bool)
    for place, (row, publication) in enumerate(
        zip(rows.tolist(), publications.tolist(), strict=True)
    ):
        kind, low, high = int(exact.kinds[row]), int(exact.lows[row]), int(exact.highs[row])
        keys = column.keys[column.starts[publication] : column.starts[publication + 1]]
        if kind == _RANGE:
            holds[place] = ((keys >= low) & (keys <= high)).any()
        elif kind == _SET:
            holds[place] = np.isin(keys, exact.keys[low:high]).any()
        else:
            excluded = exact.keys[low:high] if kind == _NOT_SET else keys[:0]
            is_free = not np.isin(keys, excluded).any()
            holds[place] = is_free and column.states[publication] == ArrayState.THERE
    return holds


def tested(
    exact: Predicates, rows: Ints, kinds: npt.NDArray[np.uint8], keys: Ints, there: Bools
) -> Bools:
    """Which predicates hold on which keys, bool [tests]."""
    holds = there.copy()
    holds[kinds == _MISSING] = ~there[kinds == _MISSING]
    lows, highs = exact.lows[rows], exact.highs[rows]
    ranges = kinds == _RANGE
    holds[ranges] &= (keys[ranges] >= lows[ranges]) & (keys[ranges] <= highs[ranges])
    for place in np.flatnonzero((kinds == _SET) | (kinds == _NOT_SET)).tolist():
        members = exact.keys[lows[place] : highs[place]]
        at = int(np.searchsorted(members, keys[place]))
        inside = at < len(members) and members[at] == keys[place]
        holds[place] &= inside == (kinds[place] == _SET)
    return holds
