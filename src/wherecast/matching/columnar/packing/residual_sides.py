"""Residual sides: the sides of entries that are no dimensions of their group."""

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import spans
from wherecast.matching.columnar.cells import Cells
from wherecast.matching.columnar.layout import GroupFlag, Header
from wherecast.matching.columnar.packing.entries import Entries
from wherecast.matching.columnar.packing.planner import GroupPlan

Ints = npt.NDArray[np.int64]


def residual_sides_of(
    entries: Entries, plan: GroupPlan, low: Cells, high: Cells, chance: npt.NDArray[np.float64]
) -> tuple[Ints, npt.NDArray[np.uint16]]:
    """Where the residual sides of each entry begin, and the sides, the least likely first."""
    rows = np.flatnonzero(~plan.is_dim)
    owner = np.searchsorted(entries.offsets, rows, side="right") - 1
    order = np.lexsort((chance[rows], owner))
    rows = rows[order]
    starts = np.cumsum(np.bincount(owner + 1, minlength=len(entries) + 1))
    slots = entries.slots[rows].astype(np.uint16)
    return starts, np.stack([slots, low[rows], high[rows]], axis=1)


def residual_sides_by_position(
    headers: Ints, given: tuple[Ints, npt.NDArray[np.uint16]], placed: Ints, starts: Ints
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint16]]:
    """The residual sides in the order of positions; headers get where those of a group begin."""
    begins, triples = given
    ends, chosen, count, total = [], [], 0, 0
    for group in np.flatnonzero(headers[:, Header.FLAGS] & GroupFlag.REST).tolist():
        members = placed[starts[group] : starts[group + 1]]
        sizes = begins[members + 1] - begins[members]
        each = np.zeros(int(headers[group, Header.SIZE]) + 1, np.int64)
        each[1 : len(members) + 1] = sizes
        headers[group, Header.REST] = count
        ends.append(total + np.cumsum(each))
        chosen.append(spans(begins[members], sizes))
        count, total = count + len(each), total + int(sizes.sum())
    none = np.zeros(0, np.int64)
    return (
        np.concatenate([none, *ends]).astype(np.int32),
        triples[np.concatenate([none, *chosen])].ravel(),
    )
