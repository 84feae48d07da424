"""Builds packed trees: entries become cells, groups, and trees of blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.cells import (
    Cells,
    QuantiserBuilder,
    Quantisers,
    missing_cells,
)
from wherecast.matching.columnar.layout import LANES, GroupFlag, Header
from wherecast.matching.columnar.packed import PackedTrees
from wherecast.matching.columnar.packing.cell_weights import CellWeights, cell_weights
from wherecast.matching.columnar.packing.clauses import FoldedEntries, fold_clauses
from wherecast.matching.columnar.packing.dimensions import Dimensions, boxes_of, dimensions_of
from wherecast.matching.columnar.packing.entries import Entries
from wherecast.matching.columnar.packing.headers import (
    cell_count,
    directory_of,
    headers_of,
    set_exact,
    set_flags,
)
from wherecast.matching.columnar.packing.outcomes import outcomes_by_block
from wherecast.matching.columnar.packing.planner import plan_groups
from wherecast.matching.columnar.packing.residual_sides import (
    residual_sides_by_position,
    residual_sides_of,
)
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.search.encoder import Encoder, Encoding
from wherecast.matching.columnar.slots import SlotColumn

Ints = npt.NDArray[np.int64]
_SAMPLE = 64
_FORM_SHIFT = 8  # above all flags of groups


@dataclass(frozen=True, slots=True, eq=False)
class Conjunctions:
    """The conjunctions that entries come from.

    Attributes:
        filters: int64 [conjunctions], the filter of each.
        extra: bool [conjunctions], those that keys do not decide.
        several: bool [conjunctions], those of filters that have several.
        whole: bool [conjunctions], those whose group has all their sides as dimensions.
        elements: bool [conjunctions], those of filters that ask for elements of arrays.
        repeated: bool [conjunctions], those that several elements of a publication may find.
    """

    filters: Ints
    extra: npt.NDArray[np.bool_]
    several: npt.NDArray[np.bool_]
    whole: npt.NDArray[np.bool_]
    elements: npt.NDArray[np.bool_]
    repeated: npt.NDArray[np.bool_]


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
    folded = fold_clauses(entries, filters, chance)
    entries, low, high = folded.entries, low[folded.sides], high[folded.sides]
    chance = chance[folded.sides]
    whole = conjunctions.whole[entries.conjunctions] | (folded.form > 0)
    outcome = _outcomes(folded, conjunctions, quantisers.exact)
    kinds = (outcome & GroupFlag.ELEMENT) + (folded.form << _FORM_SHIFT)
    plan = plan_groups(entries, whole, chance, kinds)
    count = len(plan.shared)
    order = np.argsort(plan.group, kind="stable")
    starts = np.searchsorted(plan.group[order], np.arange(count + 1))
    members = np.split(order, starts[1:-1]) if count else []
    dimensions = dimensions_of(folded, plan, members, chance, width)
    headers, positions = headers_of(starts, dimensions)
    set_flags(headers, entries, plan, outcome, quantisers.exact)
    set_exact(headers, dimensions, quantisers.exact)
    blocks = aligned(cell_count(headers), np.uint16)
    numbers, sources = aligned(positions, np.int32), aligned(positions, np.int32)
    numbers[:], sources[:] = -1, 0
    placed = np.empty(len(entries), np.int64)  # the entries in the order of their positions
    for group, own in enumerate(members):
        boxes = boxes_of(entries, own, dimensions[group], (low, high), width)
        places = _order(*boxes, dimensions[group], weights)
        _fill(headers[group], *boxes, places, blocks)
        placed[starts[group] : starts[group + 1]] = own[places]
        first, chosen = headers[group, Header.FIRST], entries.conjunctions[own[places]]
        numbers[first : first + len(own)] = filters[chosen]
        sources[first : first + len(own)] = chosen
    unordered = residual_sides_of(entries, plan, low, high, chance)
    rest_ends, rests = residual_sides_by_position(headers, unordered, placed, starts)
    directory, groups, seconds = directory_of(dimensions, width)
    outcomes = outcomes_by_block(headers, outcome, placed, starts)
    return PackedTrees(
        quantisers, headers, directory, groups, seconds, blocks, numbers, sources, rest_ends,
        rests, outcomes,
    )  # fmt: skip


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


def _outcomes(
    folded: FoldedEntries, conjunctions: Conjunctions, exact: npt.NDArray[np.uint8]
) -> Ints:
    """What becomes of the matches of each entry, int64 [entries]: EXTRA, ONCE or neither.

    With ELEMENT where several probes of a publication may find the entry.
    """
    entries = folded.entries
    extra = conjunctions.extra[entries.conjunctions]
    several = conjunctions.several[entries.conjunctions] & (folded.form == 0)
    elements = conjunctions.elements[entries.conjunctions]
    again = several | conjunctions.repeated[entries.conjunctions] | _may_meet(entries, exact)
    reported = np.where(extra, int(GroupFlag.EXTRA), np.where(again, int(GroupFlag.ONCE), 0))
    found: Ints = reported + np.where(elements, int(GroupFlag.ELEMENT), 0)
    return found


def _may_meet(entries: Entries, exact: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """The entries that may match a value together with another entry of their conjunction.

    That is so where two parts of a split predicate share a cell.
    """
    found = np.zeros(len(entries), bool)
    sides = np.flatnonzero(entries.split & (exact[entries.slots] == 0))
    found[np.searchsorted(entries.offsets, sides, side="right") - 1] = True
    return found


def _order(
    low: Cells, high: Cells, dimensions: Dimensions, weights: CellWeights
) -> npt.NDArray[np.int32]:
    """The order of a group's entries that keeps similar boxes together."""
    from wherecast.matching.columnar import kernels

    dims = dimensions.slots
    if len(low) <= LANES or not len(dims):
        return np.arange(len(low), dtype=np.int32)
    found: npt.NDArray[np.int32] = kernels.order_of(
        low, high, weights.sums, weights.starts[dims], weights.tops[dims], _SAMPLE,
        dimensions.continues,
    )  # fmt: skip
    return found


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
