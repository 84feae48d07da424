"""How likely the cells of each slot are, by which the planner and the order of entries decide.

The bounds of filters tell where values are expected, and a sample of publications where they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.cells import Cells, Quantisers
from wherecast.matching.columnar.layout import CELL_FIRST, CELL_LAST
from wherecast.matching.columnar.packing.entries import Entries

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_FLOOR = 1e-9  # so that no cell is impossible


@dataclass(frozen=True, slots=True, eq=False)
class CellWeights:
    """The chance that a publication's value falls into each cell.

    Attributes:
        sums: float32, for each slot the sums of the chances of its cells below each cell.
        starts: int64 [slots], where those of a slot begin.
        tops: int64 [slots], the last cell of a slot; greater ones count as it.
        presence: float64 [slots], the chance that a publication has a value.
    """

    sums: npt.NDArray[np.float32]
    starts: Ints
    tops: Ints
    presence: Floats

    def chance(self, slots: npt.NDArray[np.int32], low: Cells, high: Cells) -> Floats:
        """The chance that a publication has a value between two cells."""
        starts, tops = self.starts[slots], self.tops[slots]
        upper = self.sums[starts + np.minimum(high, tops) + 1]
        lower = self.sums[starts + np.minimum(low, tops)]
        missing = high == 0
        share = (upper - lower).astype(np.float64)
        presence = self.presence[slots]
        return np.where(missing, 1.0 - presence, presence * np.maximum(share, _FLOOR))


def cell_weights(
    entries: Entries, ends: tuple[Cells, Cells], quantisers: Quantisers, sampled: Sequence[Cells]
) -> CellWeights:
    """The weights of the cells of all slots.

    Args:
        entries: the boxes.
        ends: two of uint16 [sides], the low and the high cells of their sides.
        quantisers: of the slots.
        sampled: uint16 [rows, slots] each, the cells of samples of publications; may be empty.
    """
    tops = np.minimum(quantisers.counts(), CELL_LAST)
    starts = np.cumsum(tops + 2) - (tops + 2)
    size = int((tops + 2).sum())
    place = starts[entries.slots] + 1
    weights = np.zeros(size)
    for cells in ends:
        inner = (cells > CELL_FIRST) & (cells < tops[entries.slots])
        weights += np.bincount(place[inner] + cells[inner], minlength=size)
    weights = _normalised(weights, starts)
    usage = np.bincount(entries.slots, minlength=len(tops)) / max(1, len(entries))
    presence = np.clip(usage, _FLOOR, 1.0)
    rows = sum(len(cells) for cells in sampled)
    if rows:
        counts = np.zeros(size)
        there = np.zeros(len(tops))
        for cells in sampled:
            row, slot = np.nonzero(cells)
            counts += np.bincount(starts[slot] + 1 + cells[row, slot], minlength=size)
            there += np.bincount(slot, minlength=len(tops))
        weights = (weights + _normalised(counts, starts)) / 2
        presence = np.clip(there / rows, 1 / (rows + 1), 1.0)
    sums = np.cumsum(weights)
    sums -= np.repeat(sums[starts], tops + 2)
    return CellWeights(sums.astype(np.float32), starts, tops, presence)


def _normalised(weights: Floats, starts: Ints) -> Floats:
    """Weights that sum to 1 within each slot; the first place of a slot stays 0."""
    spread = weights + _FLOOR
    spread[starts] = 0.0
    totals = np.add.reduceat(spread, starts)
    sizes = np.diff(starts, append=len(weights))
    shares: Floats = spread / np.repeat(totals, sizes)
    return shares
