"""The dimensions of groups, and the boxes of their entries on them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.arrays.ranges import spans
from wherecast.matching.columnar.cells import Cells
from wherecast.matching.columnar.layout import CELL_LAST
from wherecast.matching.columnar.packing.clauses import ClauseForm, FoldedEntries
from wherecast.matching.columnar.packing.entries import Entries
from wherecast.matching.columnar.packing.planner import GroupPlan

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Dimensions:
    """The dimensions of one group.

    Attributes:
        slots: int64 [dims], first those that must be present, the least likely first.
        needed: the number of these.
        continues: bool [dims], the dimensions that are in the clause of the one before.
        form: the clauses; None where every dimension is one.
        columns: int64 [dims], where an entry with clauses has the sides of the dimensions.
    """

    slots: Ints
    needed: int
    continues: Bools
    form: ClauseForm | None = None
    columns: Ints | None = None


def dimensions_of(
    folded: FoldedEntries,
    plan: GroupPlan,
    members: Sequence[Ints],
    chance: npt.NDArray[np.float64],
    width: int,
) -> list[Dimensions]:
    """The dimensions of each group.

    Args:
        folded: the entries.
        plan: their groups.
        members: of each group, its entries.
        chance: float64 [sides], how likely a publication satisfies each side.
        width: the number of slots.
    """
    entries, count = folded.entries, len(plan.shared)
    owner = np.repeat(np.arange(len(entries)), np.diff(entries.offsets))
    used = np.flatnonzero(plan.is_dim)
    groups = plan.group[owner[used]]
    distinct, back = np.unique(groups * width + entries.slots[used], return_inverse=True)
    group, slot = np.divmod(distinct, width)
    mean = np.bincount(back, chance[used]) / np.bincount(back)
    free = (np.bincount(back, entries.missing[used]) > 0) | plan.shared[group]
    order = np.lexsort((mean, free, group))
    bounds = np.searchsorted(group[order], np.arange(count + 1))
    needed = np.bincount(group[~free], minlength=count)
    found = []
    for number in range(count):
        form = int(folded.form[members[number][0]])
        if form:
            own = folded.forms[form - 1]
            found.append(_with_clauses(own, entries.offsets[members[number]], chance))
        else:
            slots = slot[order[bounds[number] : bounds[number + 1]]]
            found.append(Dimensions(slots, int(needed[number]), np.zeros(len(slots), bool)))
    return found


def _with_clauses(form: ClauseForm, first: Ints, chance: npt.NDArray[np.float64]) -> Dimensions:
    """The dimensions of entries with clauses: those of one side first, the least likely first."""
    slots = np.array([slot for clause in form.slots for slot in clause])
    single = sum(len(clause) == 1 for clause in form.slots)
    mean = np.array([chance[first + place].mean() for place in range(single)])
    columns = np.concatenate([np.argsort(mean, kind="stable"), np.arange(single, len(slots))])
    return Dimensions(slots[columns], single, form.continues, form, columns)


def boxes_of(
    entries: Entries, members: Ints, dimensions: Dimensions, ends: tuple[Cells, Cells], width: int
) -> tuple[Cells, Cells]:
    """The cells of a group's entries on its dimensions; without any, a cell range of all values.

    Shapes: ends, two of uint16 [sides]; result, two of uint16 [members, dims].
    """
    low, high = ends
    if dimensions.columns is not None:
        sides = entries.offsets[members][:, None] + dimensions.columns
        return low[sides], high[sides]
    dims = dimensions.slots
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
