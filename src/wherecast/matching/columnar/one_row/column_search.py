"""The search for one publication on whole columns of conjunctions, in plain NumPy.

It serves where numba cannot be imported, and until compiled code is loaded.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import spans
from wherecast.language.meaning.index_plan import FAILS, MATCHES
from wherecast.matching.columnar.cells import QuantiserBuilder
from wherecast.matching.columnar.layout import CELL_LAST, CELL_MISSING, Exact
from wherecast.matching.columnar.one_row.row_plan import NOT_PLAIN, RowPlan
from wherecast.matching.columnar.one_row.row_tests import RowTests, programs_of
from wherecast.matching.columnar.one_row.slot_values import SlotValues
from wherecast.matching.columnar.packing.entries import sides_of
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.search.candidate_tests import cover_rows
from wherecast.matching.columnar.search.programs import tested
from wherecast.matching.columnar.snapshot import Snapshot

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int32]
_SLOTS_MIN = 4  # slots whose sides are compared for all conjunctions
_SIDES_MAX = 1 << 22  # sides of more slots
_TRIED_MAX = 64  # candidates that remain to be decided; more are left to the batch


class SlotSides:
    """The sides of all conjunctions on one slot, as cells.

    Attributes:
        slot: the slot.
        lows, highs: uint16 [conjunctions]; a conjunction that does not ask holds for any cell.
        is_exact: whether cells decide.
    """

    def __init__(self, predicates: Predicates, slot: int, is_float: bool) -> None:
        rows = np.flatnonzero(predicates.slots == slot)
        owners = np.searchsorted(predicates.offsets, rows, side="right") - 1
        asking, places = np.unique(owners, return_inverse=True)
        least, most = int(predicates.least[slot]), int(predicates.most[slot])
        low, high, missing = sides_of(predicates, rows)
        lows, highs = np.full(len(asking), least), np.full(len(asking), most)
        absent = np.zeros(len(asking), np.uint8)
        np.maximum.at(lows, places, low)
        np.minimum.at(highs, places, high)
        np.maximum.at(absent, places, missing)
        builder = QuantiserBuilder()
        low_cells, high_cells = builder.add(lows, highs, least, most, is_float)
        low_cells[absent > 0] = high_cells[absent > 0] = CELL_MISSING
        conjunctions = len(predicates.offsets) - 1
        self.slot = slot
        self.lows = np.full(conjunctions, CELL_MISSING, np.uint16)
        self.highs = np.full(conjunctions, CELL_LAST, np.uint16)
        self.lows[asking], self.highs[asking] = low_cells, high_cells
        made = builder.finish()
        self.is_exact = bool(made.exact[0])
        self._bounds = made.keys(0)

    def holding(self, key: int | None) -> Bools:
        """Which conjunctions may hold for the key of a value, or for None."""
        cell = np.uint16(CELL_MISSING if key is None else self._cell(key))
        inside: Bools = self.lows <= cell
        inside &= cell <= self.highs
        return inside

    def _cell(self, key: int) -> int:
        place = int(self._bounds.searchsorted(key))
        is_bound = place < len(self._bounds) and self._bounds[place] == key
        return 1 + (place << self.is_exact) + is_bound


class ColumnSearch:
    """The filters of a snapshot, one publication at a time.

    Args:
        snapshot: the filters.
        plan: how publications become values.
        counts: int64 [4], where publications, blocks and entries are counted.
    """

    def __init__(self, snapshot: Snapshot, plan: RowPlan, counts: Ints) -> None:
        self._snapshot, self._plan, self._counts = snapshot, plan, counts
        self._programs = programs_of(snapshot)
        self._cover_rows = cover_rows(snapshot.table)
        plain, width = snapshot.plain, len(snapshot.is_float)
        self._sizes = np.diff(plain.offsets)
        asked = np.bincount(plain.slots, minlength=width)
        compared = max(_SLOTS_MIN, _SIDES_MAX // max(1, len(self._sizes)))
        most = np.argsort(-asked, kind="stable")[:compared]
        self._sides = [
            SlotSides(plain, slot, bool(snapshot.is_float[slot]))
            for slot in most[asked[most] > 0].tolist()
        ]
        exact = np.zeros(width, bool)
        exact[[one.slot for one in self._sides if one.is_exact]] = True
        is_open = ~exact[plain.slots] | (
            (plain.kinds != Exact.RANGE) & (plain.kinds != Exact.PRESENT)
        )
        owners = np.repeat(np.arange(len(self._sizes)), self._sizes)
        self._open = np.zeros(len(self._sizes), bool)
        self._open[owners[is_open]] = True
        self._rests = np.diff(snapshot.later.offsets) > 0
        if snapshot.programs is not None:
            self._rests |= snapshot.programs.starts[snapshot.filters] >= 0

    def match(self, row: Mapping[str, Any], now: int) -> Numbers | None:
        """The filters that a publication satisfies, in no order; None: the batch must tell.

        Args:
            row: the attributes of the publication.
            now: the value of `now()`.
        """
        state = SlotValues(len(self._snapshot.is_float))
        try:
            self._plan.fill(row, state, now)
        except NOT_PLAIN:
            return None
        keys = state.keys(self._snapshot.is_float)
        found = [self._conjunctions(keys, probe) for probe in state.probes()]
        conjunctions = found[0] if len(found) == 1 else np.concatenate(found)
        self._counts[0] += 1
        self._counts[3] += len(self._sizes)
        rests = self._rests[conjunctions]
        filters = self._snapshot.filters[conjunctions[~rests]]
        if rests.any():
            waiting = conjunctions[rests]
            if len(waiting) > _TRIED_MAX:
                return None
            filters = np.concatenate([filters, self._decided(waiting.tolist(), row, now)])
        return _distinct(filters).astype(np.int32)

    def _conjunctions(self, keys: dict[int, int], probe: tuple[int, int] | None) -> Ints:
        """The conjunctions whose plain predicates hold for a probe."""
        if probe is not None:
            keys = {**keys, probe[0]: probe[1]}
        if not self._sides:
            found = np.arange(len(self._sizes))
        else:
            inside = self._sides[0].holding(keys.get(self._sides[0].slot))
            for side in self._sides[1:]:
                inside &= side.holding(keys.get(side.slot))
            found = np.flatnonzero(inside)
        is_open = self._open[found]
        if is_open.any():
            doubtful = found[is_open]
            return np.concatenate([found[~is_open], doubtful[self._hold(doubtful, keys)]])
        return found

    def _hold(self, conjunctions: Ints, keys: dict[int, int]) -> Bools:
        """Which conjunctions hold, each predicate of which is tried."""
        plain, sizes = self._snapshot.plain, self._sizes[conjunctions]
        rows = spans(plain.offsets[conjunctions], sizes)
        values = np.zeros(len(self._snapshot.is_float), np.int64)
        there = np.zeros(len(values), bool)
        slots = list(keys)
        values[slots], there[slots] = list(keys.values()), True
        slot = plain.slots[rows]
        holds = tested(plain, rows, plain.kinds[rows], values[slot], there[slot])
        failed = np.repeat(np.arange(len(conjunctions)), sizes)[~holds]
        result = np.ones(len(conjunctions), bool)
        result[failed] = False
        return result

    def _decided(self, conjunctions: list[int], row: Mapping[str, Any], now: int) -> list[int]:
        """The filters of the conjunctions whose residual predicates and programs hold."""
        snapshot, programs = self._snapshot, self._programs
        assert programs is not None
        asked = RowTests(programs, self._plan.canonical(row, now), self._plan.key_of)
        found = []
        for conjunction in conjunctions:
            later = snapshot.later
            rows = later.rows[later.offsets[conjunction] : later.offsets[conjunction + 1]]
            number = int(snapshot.filters[conjunction])
            covered = all(asked.holds(int(self._cover_rows[place])) for place in rows)
            if covered and self._program_holds(int(programs.starts[number]), asked):
                found.append(number)
        return found

    def _program_holds(self, start: int, asked: RowTests) -> bool:
        """Whether the program holds that starts at a row of the table; -1: there is none."""
        if start < 0:
            return True
        at, jumps = 0, self._snapshot.table.jumps
        while at < MATCHES:
            jump = int(jumps[start + at])
            at = jump >> 16 if asked.holds(start + at) else jump & 0xFFFF
        return at != FAILS


def _distinct(filters: Ints) -> Ints:
    """The filters, each once."""
    if len(filters) < 2 or (np.diff(filters) > 0).all():
        return filters
    return np.unique(filters)
