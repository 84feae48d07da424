"""The search for one publication in a snapshot: through its trees, or conjunction by conjunction.

Concurrency: any number of threads may search. A search borrows a state and gives it back; the list
of states that wait is changed by single operations that the interpreter does not interrupt.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import GroupFlag, Header, ProgramPointers, RowWord
from wherecast.matching.columnar.one_row.row_plan import NOT_PLAIN, RowPlan
from wherecast.matching.columnar.one_row.row_state import STOPS_MAX, RowRooms, RowState
from wherecast.matching.columnar.one_row.row_tests import RowTests
from wherecast.matching.columnar.search.candidate_tests import CandidateTests
from wherecast.matching.columnar.search.encoder import address
from wherecast.matching.columnar.search.programs import Programs
from wherecast.matching.columnar.snapshot import Snapshot

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
_EXTRA_ROOM = 1 << 16  # candidates, beside those of the largest group


class RowSearch:
    """The filters of a snapshot, one publication at a time.

    Args:
        snapshot: the filters.
        plan: how publications become values.
        counts: int64 [4], where publications, blocks and entries are counted.
    """

    def __init__(self, snapshot: Snapshot, plan: RowPlan, counts: Ints) -> None:
        from wherecast.matching.columnar import kernels

        self._match, self._resume = kernels.match_row, kernels.resume_row
        self._snapshot, self._plan = snapshot, plan
        snapshot.tree_inputs()
        self._programs, self._tests = _tests_of(snapshot)
        self._rooms = _rooms_of(snapshot, self._programs, self._tests, counts)
        memory = None if self._programs is None else self._programs.memory
        self._memory = memory if memory is not None and memory.slots else None
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
            if self._memory is not None:
                self._find_codes(state)
            found = self._match(state.at)
            if state.words[RowWord.STOPPED]:
                found = self._resumed(row, state, now)
            return None if found < 0 else state.out[:found].copy()
        finally:
            states.append(state)

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
        if self._memory is None:
            return
        table = self._snapshot.table
        slot = int(table.attribute[place])
        if slot in self._memory.slots and state.there[slot] and state.codes[slot] >= 0:
            state.generation.verdicts[table.low[place], state.codes[slot]] = 1 + verdict


def _tests_of(snapshot: Snapshot) -> tuple[Programs | None, CandidateTests | None]:
    """The programs of a snapshot and the tests of its candidates, None where nothing is tested."""
    programs = snapshot.programs
    if programs is not None:
        return programs, snapshot.candidate_tests(programs)
    if not len(snapshot.later.rows):
        return None, None
    programs = Programs.of_all(snapshot.table, snapshot.plain)
    return programs, snapshot.candidate_tests(programs)


def _rooms_of(
    snapshot: Snapshot,
    programs: Programs | None,
    tests: CandidateTests | None,
    counts: Ints,
) -> RowRooms:
    inputs = snapshot.tree_inputs()
    packed = inputs.packed
    flags = int(np.bitwise_or.reduce(packed.headers[:, Header.FLAGS], initial=0))
    entries = int(packed.headers[:, Header.SIZE].sum()) + 128 * (len(packed.headers) + 1)
    stamped = bool(flags & (GroupFlag.ONCE | GroupFlag.EXTRA))
    words = {RowWord.CELLS: address(inputs.encoding.pointers), RowWord.COUNTS: address(counts)}
    pointers, starts = None, np.zeros(0, np.int32)
    if programs is not None and tests is not None:
        starts = tests.of_entries
        words[RowWord.STARTS] = address(starts)
        pointers = _program_pointers(programs, tests)
    return RowRooms(
        width=len(snapshot.is_float), search=inputs.pointers, programs=pointers, words=words,
        elements=[] if programs is None else programs.elements, out=entries,
        extra=min(entries, _EXTRA_ROOM + inputs.most) if flags & GroupFlag.EXTRA else 1 << 10,
        half=inputs.most // 64 + 64,
        filters=len(snapshot.table) if stamped else 0,
        held=(inputs, counts, tests, starts, programs),
    )  # fmt: skip


def _program_pointers(programs: Programs, tests: CandidateTests) -> Ints:
    pointers = np.zeros(len(ProgramPointers), np.int64)
    for place, array in {
        ProgramPointers.RECORDS: tests.records, ProgramPointers.SETS: programs.exact.keys,
        ProgramPointers.STEPS: programs.formulas.steps,
        ProgramPointers.STEP_ENDS: programs.formulas.ends,
    }.items():  # fmt: skip
        pointers[place] = address(array)
    return pointers
