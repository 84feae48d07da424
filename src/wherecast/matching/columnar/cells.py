"""Quantisers: the cells of a slot, for entries when a forest is built and for publications."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import CELL_FIRST, CELL_LAST, CELL_MISSING

Ints = npt.NDArray[np.int64]
_EXACT_MAX = 32_766  # bounds that each have a cell of their own, with cells between them
_COARSE = 65_000
_TABLE_SLOTS = 1 << 14
_INT_MIN = np.int64(-(2**63))
_INFINITY_KEY = 0x7FF0_0000_0000_0000


@dataclass(frozen=True, slots=True, eq=False)
class Quantiser:
    """How the values of one slot become cells.

    Attributes:
        bounds: float64 or int64, sorted, distinct: the values at which cells begin.
        exact: whether every end of every entry has a cell of its own, so that cells decide.
        table: int32, for equal parts of the range the first bound in it: where a search starts.
        origin, scale: a value x falls into part `(x / 2 - origin) * scale`.
    """

    bounds: npt.NDArray[np.float64] | npt.NDArray[np.int64]
    exact: bool
    table: npt.NDArray[np.int32]
    origin: float
    scale: float


def quantise(
    lows: Ints, highs: Ints, least: int, most: int, is_float: bool
) -> tuple[Quantiser, npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """The quantiser of a slot and the cells of its entries' ends.

    Ends at the slot's own least and greatest key are open.
    """
    ends = np.concatenate([lows[lows > least], highs[highs < most]])
    distinct = np.unique(ends)
    exact = len(distinct) <= _EXACT_MAX
    chosen = np.arange(len(distinct))
    if not exact:
        chosen = np.unique(np.linspace(0, len(distinct) - 1, _COARSE).astype(np.int64))
    bounds = distinct[chosen]
    low_cells = np.where(lows > least, _cells(lows, bounds, exact), CELL_FIRST)
    high_cells = np.where(highs < most, _cells(highs, bounds, exact), CELL_LAST)
    quantiser = _quantiser(_float_values(bounds) if is_float else bounds, exact)
    return quantiser, low_cells.astype(np.uint16), high_cells.astype(np.uint16)


def _cells(keys: Ints, bounds: Ints, exact: bool) -> Ints:
    """The cells of keys, as the kernel computes those of values."""
    if not len(bounds):
        return np.full(len(keys), CELL_FIRST, np.int64)
    order = np.argsort(keys, kind="stable")  # a sorted look-up is many times faster
    ordered = keys[order]
    below = np.searchsorted(bounds, ordered, side="left")
    equal = bounds[np.minimum(below, len(bounds) - 1)] == ordered
    cells = np.empty(len(keys), np.int64)
    cells[order] = CELL_FIRST + (below << int(exact)) + equal
    return cells


def _float_values(keys: Ints) -> npt.NDArray[np.float64]:
    """The doubles that have those keys."""
    inside = np.minimum(keys, _INFINITY_KEY)
    return np.where(inside >= 0, inside, _INT_MIN - inside).view(np.float64)


def _quantiser(bounds: npt.NDArray[np.float64] | npt.NDArray[np.int64], exact: bool) -> Quantiser:
    halves = bounds.astype(np.float64) * 0.5
    finite = halves[np.isfinite(halves)]
    first, last = (float(finite[0]), float(finite[-1])) if len(finite) else (0.0, 0.0)
    scale = (_TABLE_SLOTS - 1) / (last - first) if last > first else 1.0
    if not np.isfinite(scale):
        scale = 1.0
    parts = np.clip((halves - first) * scale, 0, _TABLE_SLOTS - 1).astype(np.int64)
    table = np.searchsorted(parts, np.arange(_TABLE_SLOTS + 1)).astype(np.int32)
    return Quantiser(bounds, exact, table, first, scale)


def missing_cells(
    low: npt.NDArray[np.uint16], high: npt.NDArray[np.uint16], missing: npt.NDArray[np.uint8]
) -> None:
    """Gives the sides that ask for a missing value the cell of one."""
    low[missing > 0] = CELL_MISSING
    high[missing > 0] = CELL_MISSING
