"""Builds packed trees: entries become cells, groups, and trees of blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import spans
from wherecast.matching.columnar.cells import (
    Cells,
    QuantiserBuilder,
    Quantisers,
    missing_cells,
)
from wherecast.matching.columnar.layout import CELL_LAST, LANES, GroupFlag, Header
from wherecast.matching.columnar.packed import PackedTrees
from wherecast.matching.columnar.packing.cell_weights import CellWeights, cell_weights
from wherecast.matching.columnar.packing.entries import Entries
from wherecast.matching.columnar.packing.headers import (
    cell_count,
    directory_of,
    headers_of,
    set_exact,
    set_flags,
)
from wherecast.matching.columnar.packing.planner import GroupPlan, plan_groups
from wherecast.matching.columnar.packing.residual_sides import (
    residual_sides_by_position,
    residual_sides_of,
)
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.search.encoder import Encoder, Encoding
from wherecast.matching.columnar.slots import SlotColumn

Ints = npt.NDArray[np.int64]
_SAMPLE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Conjunctions:
    """The conjunctions that entries come from.

    Attributes:
        filters: int64 [conjunctions], the filter of each.
        extra: bool [conjunctions], those that keys do not decide.
        several: bool [conjunctions], those of filters that have several.
        whole: bool [conjunctions], those whose group has all their sides as dimensions.
    """

    filters: Ints
    extra: npt.NDArray[np.bool_]
    several: npt.NDArray[np.bool_]
    whole: npt.NDArray[np.bool_]


def build(
    entries: Entries,
    predicates: Predicates,
    is_float: npt.NDArray[np.uint8],
    conjunctions: Conjunctions,
    samples: Sequence[Sequence[SlotColumn]] = (),
) -> PackedTrees:
    """The packed trees of entries.

    Args:
        entries: the boxes.
        predicates: the ends of each slot's keys.
        is_float: uint8 [slots].
        conjunctions: the conjunctions that the entries come from.
        samples: the columns of each sample of publications.
    """
    width, filters = len(is_float), conjunctions.filters
    low, high, quantisers = _quantised(entries, predicates, is_float)
    encoding = Encoding.of(quantisers, is_float)
    cells = [Encoder(columns, encoding).cells()[0] for columns in samples]
    weights = cell_weights(entries, (low, high), quantisers, cells)
    chance = weights.chance(entries.slots, low, high)
    whole = conjunctions.whole[entries.conjunctions]
    outcome = _outcomes(entries, conjunctions, quantisers.exact)
    plan = plan_groups(entries, whole, chance, outcome)
    count = len(plan.shared)
    order = np.argsort(plan.group, kind="stable")
    starts = np.searchsorted(plan.group[order], np.arange(count + 1))
    slots, needed = _dimensions(entries, plan, chance, width)
    headers, positions = headers_of(starts, slots)
    headers[:, Header.NEEDED] = needed
    set_flags(headers, entries, plan, outcome, quantisers.exact)
    set_exact(headers, slots, quantisers.exact)
    blocks = aligned(cell_count(headers), np.uint16)
    numbers, sources = aligned(positions, np.int32), aligned(positions, np.int32)
    numbers[:], sources[:] = -1, 0
    placed = np.empty(len(entries), np.int64)  # the entries in the order of their positions
    for group in range(count):
        members = order[starts[group] : starts[group + 1]]
        box_low, box_high = _boxes(entries, members, slots[group], low, high, width)
        places = _order(box_low, box_high, slots[group], weights)
        _fill(headers[group], box_low, box_high, places, blocks)
        placed[starts[group] : starts[group + 1]] = members[places]
        first, chosen = headers[group, Header.FIRST], entries.conjunctions[members[places]]
        numbers[first : first + len(members)] = filters[chosen]
        sources[first : first + len(members)] = chosen
    unordered = residual_sides_of(entries, plan, low, high, chance)
    rest_ends, rests = residual_sides_by_position(headers, unordered, placed, starts)
    directory, groups, seconds = directory_of(slots, needed, width)
    return PackedTrees(
        quantisers, headers, directory, groups, seconds, blocks, numbers, sources, rest_ends, rests
    )


def aligned(count: int, dtype: Any) -> Any:
    """An array that starts at a multiple of 64 bytes."""
    size = np.dtype(dtype).itemsize
    raw = np.empty(count * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * size].view(dtype)


def _quantised(
    entries: Entries, predicates: Predicates, is_float: npt.NDArray[np.uint8]
) -> tuple[Cells, Cells, Quantisers]:
    """The cells of all sides, and the quantisers."""
    low, high = np.zeros(len(entries.slots), np.uint16), np.zeros(len(entries.slots), np.uint16)
    builder = QuantiserBuilder()
    by_slot = np.argsort(entries.slots, kind="stable")
    ends = np.searchsorted(entries.slots[by_slot], np.arange(len(is_float) + 1))
    for slot in range(len(is_float)):
        sides = by_slot[ends[slot] : ends[slot + 1]]
        least, most = int(predicates.least[slot]), int(predicates.most[slot])
        low[sides], high[sides] = builder.add(
            entries.lows[sides], entries.highs[sides], least, most, bool(is_float[slot])
        )
    missing_cells(low, high, entries.missing)
    return low, high, builder.finish()


def _outcomes(entries: Entries, conjunctions: Conjunctions, exact: npt.NDArray[np.uint8]) -> Ints:
    """What becomes of the matches of each entry, int64 [entries]: EXTRA, ONCE or no flag."""
    extra = conjunctions.extra[entries.conjunctions]
    again = conjunctions.several[entries.conjunctions] | _may_meet(entries, exact)
    return np.where(extra, int(GroupFlag.EXTRA), np.where(again, int(GroupFlag.ONCE), 0))


def _may_meet(entries: Entries, exact: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """The entries that may match a value together with another entry of their conjunction.

    That is so where two parts of a split predicate share a cell.
    """
    found = np.zeros(len(entries), bool)
    sides = np.flatnonzero(entries.split & (exact[entries.slots] == 0))
    found[np.searchsorted(entries.offsets, sides, side="right") - 1] = True
    return found


def _dimensions(
    entries: Entries, plan: GroupPlan, chance: npt.NDArray[np.float64], width: int
) -> tuple[list[Ints], Ints]:
    """The slots of each group: first the slots that must be present, the least likely first."""
    count = len(plan.shared)
    owner = np.repeat(np.arange(len(entries)), np.diff(entries.offsets))
    used = np.flatnonzero(plan.is_dim)
    groups = plan.group[owner[used]]
    distinct, back = np.unique(groups * width + entries.slots[used], return_inverse=True)
    group, slot = np.divmod(distinct, width)
    mean = np.bincount(back, chance[used]) / np.bincount(back)
    free = (np.bincount(back, entries.missing[used]) > 0) | plan.shared[group]
    order = np.lexsort((mean, free, group))
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    slots = [slot[order[bounds[g] : bounds[g + 1]]] for g in range(count)]
    return slots, np.bincount(group[~free], minlength=count)


def _order(low: Cells, high: Cells, dims: Ints, weights: CellWeights) -> npt.NDArray[np.int32]:
    """The order of a group's entries that keeps similar boxes together."""
    from wherecast.matching.columnar import kernels

    if len(low) <= LANES or not len(dims):
        return np.arange(len(low), dtype=np.int32)
    found: npt.NDArray[np.int32] = kernels.order_of(
        low, high, weights.sums, weights.starts[dims], weights.tops[dims], _SAMPLE
    )
    return found


def _boxes(
    entries: Entries,
    members: Ints,
    dims: Ints,
    low: npt.NDArray[np.uint16],
    high: npt.NDArray[np.uint16],
    width: int,
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """The cells of a group's entries on its dimensions; without any, a cell range of all values."""
    count = max(1, len(dims))
    box_low = np.zeros((len(members), count), np.uint16)
    box_high = np.full((len(members), count), CELL_LAST, np.uint16)
    place_of = np.full(width + 1, -1, np.int64)
    place_of[dims] = np.arange(len(dims))
    sizes = entries.offsets[members + 1] - entries.offsets[members]
    rows = spans(entries.offsets[members], sizes)
    owner = np.repeat(np.arange(len(members)), sizes)
    place = place_of[entries.slots[rows]]
    used = place >= 0
    box_low[owner[used], place[used]] = low[rows[used]]
    box_high[owner[used], place[used]] = high[rows[used]]
    return box_low, box_high


def _fill(
    header: Ints,
    low: npt.NDArray[np.uint16],
    high: npt.NDArray[np.uint16],
    order: npt.NDArray[np.int32],
    blocks: npt.NDArray[np.uint16],
) -> None:
    """Writes one tree, from its leaves to its root."""
    from wherecast.matching.columnar import kernels

    kernels.fill_leaves(low, high, order, blocks, int(header[Header.BASE]))
    count = (len(low) + LANES - 1) // LANES
    for level in range(1, int(header[Header.LEVELS])):
        below, here = int(header[Header.BASE + level - 1]), int(header[Header.BASE + level])
        kernels.fill_level(blocks, below, count, here, low.shape[1])
        count = (count + LANES - 1) // LANES
