"""Quantisers: how the values of each slot become cells, in entries and in publications."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.language.meaning.keys import float_values
from wherecast.matching.columnar.layout import CELL_FIRST, CELL_LAST, CELL_MISSING

Ints = npt.NDArray[np.int64]
Cells = npt.NDArray[np.uint16]
_EXACT_MAX = 32_766  # bounds that each have a cell of their own, with cells between them
_COARSE = 65_000
_TABLE_MAX = 1 << 16
_TABLE_PER_BOUND = 4
_PADDING = 4  # bounds that no key exceeds, at the end of those of each slot
_GREATEST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Quantisers:
    """How the values of each slot become cells.

    Attributes:
        bounds: int64, for each slot its sorted, distinct keys at which cells begin, and padding.
        bound_ends: int64 [slots + 1] into `bounds`.
        exact: uint8 [slots], whether every end of every entry has a cell of its own, so that cells
            decide.
        tables: int32, for equal parts of a slot's range the first bound in it: where a search
            starts.
        table_ends: int64 [slots + 1] into `tables`.
        origins, scales: float64 [slots]; a value x falls into part `(x / 2 - origin) * scale`.
    """

    bounds: Ints
    bound_ends: Ints
    exact: npt.NDArray[np.uint8]
    tables: npt.NDArray[np.int32]
    table_ends: Ints
    origins: npt.NDArray[np.float64]
    scales: npt.NDArray[np.float64]

    @property
    def nbytes(self) -> int:
        """The bytes of bounds and tables."""
        return self.bounds.nbytes + self.tables.nbytes

    def keys(self, slot: int) -> Ints:
        """The keys at which cells of a slot begin, int64, without padding."""
        return self.bounds[self.bound_ends[slot] : self.bound_ends[slot + 1] - _PADDING]

    def counts(self) -> Ints:
        """The cells of each slot below the open upper end, int64 [slots]."""
        bounds: Ints = np.diff(self.bound_ends) - _PADDING
        per_bound: Ints = 1 + self.exact.astype(np.int64)
        return CELL_FIRST + bounds * per_bound + 1


class QuantiserBuilder:
    """Collects the quantisers of one slot after the other."""

    def __init__(self) -> None:
        self._bounds: list[Ints] = []
        self._tables: list[npt.NDArray[np.int32]] = []
        self._exact: list[bool] = []
        self._places: list[tuple[float, float]] = []

    def add(
        self, lows: Ints, highs: Ints, least: int, most: int, is_float: bool
    ) -> tuple[Cells, Cells]:
        """Adds a slot; returns the cells of the low and the high ends of its entries.

        Ends at the slot's own least and greatest key are open.
        """
        ends = np.concatenate([lows[lows > least], highs[highs < most]])
        distinct, places = _distinct(ends)
        exact = len(distinct) <= _EXACT_MAX
        bounds, cells = distinct, CELL_FIRST + 2 * np.arange(len(distinct)) + 1
        if not exact:
            chosen = np.unique(np.linspace(0, len(distinct) - 1, _COARSE).astype(np.int64))
            bounds = distinct[chosen]
            below = np.searchsorted(chosen, np.arange(len(distinct)), side="left")
            kept = np.zeros(len(distinct), np.int64)
            kept[chosen] = 1
            cells = CELL_FIRST + below + kept
        found = cells[places] if len(places) else places
        low_cells = np.full(len(lows), CELL_FIRST, np.uint16)
        high_cells = np.full(len(highs), CELL_LAST, np.uint16)
        closed = lows > least
        count = int(closed.sum())
        low_cells[closed] = found[:count]
        high_cells[highs < most] = found[count:]
        self._put(bounds, exact, is_float)
        return low_cells, high_cells

    def _put(self, bounds: Ints, exact: bool, is_float: bool) -> None:
        halves = 0.5 * (float_values(bounds) if is_float else bounds.astype(np.float64))
        finite = halves[np.isfinite(halves)]
        first, last = (float(finite[0]), float(finite[-1])) if len(finite) else (0.0, 0.0)
        wanted = max(1, min(_TABLE_MAX, _TABLE_PER_BOUND * len(bounds)))
        scale = (wanted - 1) / (last - first) if last > first else 1.0
        if not np.isfinite(scale):
            scale = 1.0
        parts = np.clip((halves - first) * scale, 0, wanted - 1).astype(np.int64)
        self._tables.append(np.searchsorted(parts, np.arange(wanted + 1)).astype(np.int32))
        self._bounds.append(np.concatenate([bounds, np.full(_PADDING, _GREATEST)]))
        self._exact.append(exact)
        self._places.append((first, scale))

    def finish(self) -> Quantisers:
        """The quantisers of all slots that were added."""
        origins, scales = np.array(self._places, np.float64).reshape(-1, 2).T
        return Quantisers(
            np.concatenate([np.zeros(0, np.int64), *self._bounds]),
            np.cumsum([0, *map(len, self._bounds)]),
            np.array(self._exact, np.uint8),
            np.concatenate([np.zeros(0, np.int32), *self._tables]),
            np.cumsum([0, *map(len, self._tables)]),
            np.ascontiguousarray(origins),
            np.ascontiguousarray(scales),
        )


def _distinct(keys: Ints) -> tuple[Ints, Ints]:
    """The distinct keys, sorted, and the place of each key among them."""
    order = np.argsort(keys)
    ordered = keys[order]
    is_new = np.ones(len(keys), bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    places = np.empty(len(keys), np.int64)
    places[order] = np.cumsum(is_new) - 1
    return ordered[is_new], places


def missing_cells(low: Cells, high: Cells, missing: npt.NDArray[np.uint8]) -> None:
    """Gives the sides that ask for a missing value the cell of missing values."""
    low[missing > 0] = CELL_MISSING
    high[missing > 0] = CELL_MISSING
