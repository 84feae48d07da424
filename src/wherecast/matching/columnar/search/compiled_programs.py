"""Candidates decided by the compiled kernel, which computes many formulas and knows patterns.

Gives the same as `ProgramRun` and the residual predicates of conjunctions together. Tests that the
kernel cannot decide stop candidates; those tests are decided together, and the candidates go on.
"""

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.search.candidate_tests import CandidateTests
from wherecast.matching.columnar.search.encoder import address, addresses
from wherecast.matching.columnar.search.program_formulas import STACK_MAX
from wherecast.matching.columnar.search.programs import ProgramBatch, Programs
from wherecast.matching.columnar.slot_batch import SlotBatch

Ints = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class CompiledRun:
    """The candidates of one batch.

    Attributes:
        tests: number of tests so far, those counted twice that stopped a candidate.
        stopped: number of times that a candidate stopped.
    """

    def __init__(self, programs: Programs, tests: CandidateTests, batch: SlotBatch) -> None:
        self._tests, self._batch = tests, ProgramBatch(programs, batch)
        verdicts, self._width = self._batch.generation.verdicts, self._batch.keys.shape[1]
        self._held = (
            tests.records, programs.exact.keys, self._batch.keys,
            self._batch.there.view(np.uint8), programs.formulas.steps, programs.formulas.ends,
            np.empty(STACK_MAX + 1), self._batch.codes, verdicts,
        )  # fmt: skip
        self._arrays = _element_addresses(self._batch)
        self._pointers = np.concatenate(
            [addresses(self._held), [verdicts.shape[1]], addresses(self._arrays)]
        )
        self.tests = self.stopped = 0

    def holds(self, publications: Numbers, places: Numbers, starts: Numbers) -> Bools:
        """Which candidates hold, bool [candidates].

        Shapes: publications, places int32 [candidates]; starts int32, the first test of each place,
        -1 where there is none.
        """
        from wherecast.matching.columnar import kernels

        count = len(publications)
        outcome, stops = np.empty(count, np.uint8), np.empty((count, 2), np.int64)
        tests, stopped = kernels.decide(
            self._pointers, self._width, publications, places, starts, outcome, stops
        )  # fmt: skip
        self.tests += tests
        while stopped:
            self.stopped += stopped
            at = publications[stops[:stopped, 0]].astype(np.int64)
            given = self._batch.decided(at, self._tests.rows[stops[:stopped, 1]])
            tests, stopped = kernels.resume(
                self._pointers, self._width, publications, given.view(np.uint8), outcome, stops
            )
            self.tests += tests
        return outcome.view(np.bool_)


def _element_addresses(batch: ProgramBatch) -> tuple[Ints, Ints, Ints]:
    """For each slot the addresses of the starts, keys and states of its elements, or 0."""
    starts, keys, states = (np.zeros(batch.keys.shape[1], np.int64) for _ in range(3))
    for slot, column in batch.elements.items():
        starts[slot], keys[slot] = address(column.starts), address(column.keys)
        states[slot] = address(column.states)
    return starts, keys, states
