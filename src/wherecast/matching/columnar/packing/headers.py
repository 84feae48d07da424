"""The headers of groups, and the directory by which a publication finds the groups."""

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.layout import HEADER_WORDS, LANES, LEVELS_MAX, GroupFlag, Header
from wherecast.matching.columnar.packing.dimensions import Dimensions
from wherecast.matching.columnar.packing.entries import Entries
from wherecast.matching.columnar.packing.outcomes import are_mixed
from wherecast.matching.columnar.packing.planner import GroupPlan

Ints = npt.NDArray[np.int64]
_OUTCOMES = (GroupFlag.EXTRA, GroupFlag.ONCE, GroupFlag.ELEMENT)


def headers_of(starts: Ints, dimensions: list[Dimensions]) -> tuple[Ints, int]:
    """Headers with dimensions and the places of all levels; and the number of positions."""
    headers = np.zeros((len(dimensions), HEADER_WORDS), np.int64)
    at = position = 0
    for group, each in enumerate(dimensions):
        header, dims = headers[group], each.slots
        header[Header.NEEDED], header[Header.CLAUSES] = each.needed, _bits(each.continues)
        header[Header.CONJUNCTIONS] = each.form.conjunctions if each.form else 1
        count = (int(starts[group + 1] - starts[group]) + LANES - 1) // LANES
        header[Header.DIMS], header[Header.FIRST] = max(1, len(dims)), position
        header[Header.SIZE] = count * LANES
        position += count * LANES
        for level in range(LEVELS_MAX):
            header[Header.BASE + level] = at
            at += count * max(1, len(dims)) * 2 * LANES
            header[Header.LEVELS] = level + 1
            if count == 1:
                break
            count = (count + LANES - 1) // LANES
        packed = np.zeros(16, np.uint16)
        packed[: len(dims)] = dims
        header[Header.SLOTS : Header.SLOTS + 4] = packed.view(np.int64)
    return headers, position


def cell_count(headers: Ints) -> int:
    """The number of cells of all blocks."""
    if not len(headers):
        return 0
    last = headers[-1]
    level = int(last[Header.LEVELS]) - 1
    return int(last[Header.BASE + level] + last[Header.DIMS] * 2 * LANES)


def set_flags(
    headers: Ints,
    entries: Entries,
    plan: GroupPlan,
    outcome: Ints,
    exact: npt.NDArray[np.uint8],
) -> None:
    """Writes into the headers what happens to the entries of each group."""
    group = np.repeat(plan.group, np.diff(entries.offsets))
    flags = headers[:, Header.FLAGS]
    for flag, groups in (
        (GroupFlag.CHECK_ALL, plan.group[entries.check]),
        (GroupFlag.CHECK_EDGES, group[exact[entries.slots] == 0]),
        *((flag, plan.group[outcome & flag > 0]) for flag in _OUTCOMES),
        (GroupFlag.REST, group[~plan.is_dim]),
    ):
        flags[np.unique(groups)] |= int(flag)
    flags[are_mixed(len(headers), plan.group, outcome)] |= int(GroupFlag.MIXED)


def set_exact(headers: Ints, dimensions: list[Dimensions], exact: npt.NDArray[np.uint8]) -> None:
    """Writes into the headers a bit for each dimension whose cells decide."""
    for group, each in enumerate(dimensions):
        headers[group, Header.EXACT] = _bits(exact[each.slots] > 0)


def _bits(given: npt.NDArray[np.bool_]) -> int:
    """The number that has a bit for each dimension of which something is true."""
    return sum(1 << dim for dim, is_it in enumerate(given.tolist()) if is_it)


def directory_of(
    dimensions: list[Dimensions], width: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """For each slot the groups whose first dimension it is; last, the groups that need none."""
    first = np.array([each.slots[0] if each.needed else width for each in dimensions], np.int64)
    second = np.array(
        [each.slots[min(1, each.needed - 1)] if each.needed else 0 for each in dimensions], np.int32
    )
    groups = np.argsort(first, kind="stable").astype(np.int32)
    ends = np.searchsorted(first[groups], np.arange(width + 2)).astype(np.int32)
    return ends, groups, second[groups]
