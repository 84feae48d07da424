"""The compiled search for one publication: through trees, or conjunction by conjunction.

Concurrency: any number of threads may search. A search borrows a state and gives it back; the list
of states that wait is changed by single operations that the interpreter does not interrupt.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import (
    Exact,
    GroupFlag,
    Header,
    Pointers,
    ProgramPointers,
    RowWord,
)
from wherecast.matching.columnar.one_row.row_plan import NOT_PLAIN, RowPlan
from wherecast.matching.columnar.one_row.row_state import STOPS_MAX, RowRooms, RowState
from wherecast.matching.columnar.one_row.row_tests import RowTests, programs_of
from wherecast.matching.columnar.search.candidate_tests import CandidateTests
from wherecast.matching.columnar.search.encoder import address
from wherecast.matching.columnar.search.programs import Programs
from wherecast.matching.columnar.search.tree_matching import TreeInputs
from wherecast.matching.columnar.snapshot import Snapshot

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
_EXTRA_ROOM = 1 << 16  # candidates, beside those of the largest group
_PROBES_MAX = 16  # elements of a publication for each of which all conjunctions are tried


class CompiledSearch:
    """The filters of a snapshot, one publication at a time.

    Args:
        snapshot: the filters.
        plan: how publications become values.
        counts: int64 [4], where publications, blocks and entries are counted.
        inputs: of the trees; None to try each conjunction.
    """

    def __init__(
        self, snapshot: Snapshot, plan: RowPlan, counts: Ints, inputs: TreeInputs | None
    ) -> None:
        from wherecast.matching.columnar import kernels

        self._match, self._resume = kernels.match_row, kernels.resume_row
        self._snapshot, self._plan = snapshot, plan
        self._programs = programs = programs_of(snapshot)
        self._tests = None if programs is None else snapshot.candidate_tests(programs)
        self._rooms = (
            _flat_rooms(snapshot, programs, self._tests, counts)
            if inputs is None
            else _tree_rooms(snapshot, inputs, programs, self._tests, counts)
        )
        memory = None if self._programs is None else self._programs.memory
        self._memory = memory if memory is not None and memory.slots else None
        self._globe = [] if inputs is None else _globe_of(snapshot)
        self._counts = counts
        self._flat: CompiledSearch | None = None
        self._has_elements = len(self._rooms.elements) > 0
        self._states: list[RowState] = []

    def match(self, row: Mapping[str, Any], now: int) -> Numbers | None:
        """The filters that a publication satisfies, in no order; None: the batch must tell.

        Args:
            row: the attributes of the publication.
            now: the value of `now()`.
        """
        states = self._states
        state = states.pop() if states else RowState(self._rooms)
        try:
            state.clear()
            try:
                self._plan.fill(row, state, now)
            except NOT_PLAIN:
                return None
            if self._globe and self._is_off_globe(state):
                return self._without_trees().match(row, now)
            if self._memory is not None:
                self._find_codes(state)
            if self._has_elements:
                state.words[RowWord.ELEMENT_COUNT] = state.element_count
            found = self._match(state.at)
            if state.words[RowWord.STOPPED]:
                found = self._resumed(row, state, now)
            return None if found < 0 else state.out[:found].copy()
        finally:
            states.append(state)

    def _without_trees(self) -> "CompiledSearch":
        if self._flat is None:
            self._flat = CompiledSearch(self._snapshot, self._plan, self._counts, None)
        return self._flat

    def _is_off_globe(self, state: RowState) -> bool:
        """Whether it has a position off the globe, where the boxes around circles do not hold."""
        for slot, most, is_float in self._globe:
            value = state.doubles[slot] if is_float else state.ints[slot]
            if state.there[slot] and not -most <= value <= most:
                return True
        return False

    def _find_codes(self, state: RowState) -> None:
        """Writes the places of strings in the memory of patterns."""
        assert self._memory is not None
        assert state.pointers is not None
        slots = [slot for slot in self._memory.slots if state.there[slot]]
        generation, places = self._memory.places([state.texts[slot] for slot in slots])
        state.codes[slots] = -1 if places is None else places
        if state.generation is not generation:
            state.generation = generation
            state.pointers[ProgramPointers.VERDICTS] = address(generation.verdicts)
            state.pointers[ProgramPointers.TEXTS_MAX] = generation.verdicts.shape[1]

    def _resumed(self, row: Mapping[str, Any], state: RowState, now: int) -> int:
        """The number of matches after the tests that the kernel cannot decide; -1: too many."""
        programs, tests, left = self._programs, self._tests, STOPS_MAX
        assert programs is not None
        assert tests is not None
        found = -1
        asked = RowTests(programs, self._plan.canonical(row, now), self._plan.key_of)
        while stopped := state.words[RowWord.STOPPED]:
            left -= stopped
            if left < 0:
                return -1
            for stop in range(stopped):
                place = int(tests.rows[state.stops[stop, 1]])
                state.stops[stop, 2] = asked.holds(place)
                self._remember(place, state, state.stops[stop, 2])
            found = self._resume(state.at)
        return found

    def _remember(self, place: int, state: RowState, verdict: int) -> None:
        """Notes the verdict on a pattern for later publications."""
        assert self._programs is not None
        if self._memory is None or self._programs.kernel_kinds[place] != Exact.PATTERN:
            return
        table = self._snapshot.table
        slot = int(table.attribute[place])
        if slot in self._memory.slots and state.there[slot] and state.codes[slot] >= 0:
            state.generation.verdicts[table.low[place], state.codes[slot]] = 1 + verdict


def _globe_of(snapshot: Snapshot) -> list[tuple[int, float, bool]]:
    """The slots of positions, the greatest value of each on the globe, whether it is a double."""
    given = snapshot.table.distances
    return [
        (slot, most, bool(snapshot.is_float[slot]))
        for slots, most in ((given.latitudes, 90.0), (given.longitudes, 180.0))
        for slot in np.unique(slots).tolist()
    ]


def _tree_rooms(
    snapshot: Snapshot,
    inputs: TreeInputs,
    programs: Programs | None,
    tests: CandidateTests | None,
    counts: Ints,
) -> RowRooms:
    headers = inputs.packed.headers
    flags = int(np.bitwise_or.reduce(headers[:, Header.FLAGS], initial=0))
    entries = int(headers[:, Header.SIZE].sum()) + 128 * (len(headers) + 1)
    stamped = bool(flags & (GroupFlag.ONCE | GroupFlag.EXTRA))
    words = {RowWord.CELLS: address(inputs.encoding.pointers), RowWord.COUNTS: address(counts)}
    if tests is not None:
        words[RowWord.STARTS] = address(tests.of_entries)
    return RowRooms(
        width=len(snapshot.is_float), search=inputs.pointers,
        programs=_program_pointers(programs, tests), words=words,
        elements=snapshot.element_slots if programs is None else programs.elements, out=entries,
        extra=min(entries, _EXTRA_ROOM + inputs.most) if flags & GroupFlag.EXTRA else 1,
        half=inputs.most // 64 + 64, filters=len(snapshot.table) if stamped else 0,
        held=(inputs, counts, tests, programs),
    )  # fmt: skip


def _flat_rooms(
    snapshot: Snapshot, programs: Programs | None, tests: CandidateTests | None, counts: Ints
) -> RowRooms:
    plain, conjunctions = snapshot.plain, len(snapshot.filters)
    numbers = snapshot.filters.astype(np.int32)
    search = np.zeros(len(Pointers), np.int64)
    held: dict[Pointers, npt.NDArray[Any]] = {
        Pointers.IS_FLOAT: snapshot.is_float, Pointers.NUMBERS: numbers,
        Pointers.OFFSETS: plain.offsets, Pointers.SLOTS: plain.slots, Pointers.KINDS: plain.kinds,
        Pointers.LOWS: plain.lows, Pointers.HIGHS: plain.highs, Pointers.KEYS: plain.keys,
    }  # fmt: skip
    for place, array in held.items():
        search[place] = address(array)
    words = {RowWord.CONJUNCTIONS: conjunctions, RowWord.COUNTS: address(counts)}
    if tests is not None:
        words[RowWord.STARTS] = address(tests.starts)
    return RowRooms(
        width=len(snapshot.is_float), search=search,
        programs=_program_pointers(programs, tests), words=words,
        elements=snapshot.element_slots if programs is None else programs.elements,
        out=len(snapshot.table) + 128,
        extra=conjunctions * (_PROBES_MAX if snapshot.element_slots else 1) + 1,
        half=64, filters=len(snapshot.table), held=(snapshot, numbers, counts, tests, programs),
    )  # fmt: skip


def _program_pointers(programs: Programs | None, tests: CandidateTests | None) -> Ints | None:
    if programs is None or tests is None:
        return None
    pointers = np.zeros(len(ProgramPointers), np.int64)
    held: dict[ProgramPointers, npt.NDArray[Any]] = {
        ProgramPointers.RECORDS: tests.records, ProgramPointers.SETS: programs.exact.keys,
        ProgramPointers.STEPS: programs.formulas.steps,
        ProgramPointers.STEP_ENDS: programs.formulas.ends,
    }  # fmt: skip
    for place, array in held.items():
        pointers[place] = address(array)
    return pointers
