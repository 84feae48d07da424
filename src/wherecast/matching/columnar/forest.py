"""The forest: trees of packed boxes, built from entries, and matched by the kernels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.cells import Quantiser, missing_cells, quantise
from wherecast.matching.columnar.entries import Entries
from wherecast.matching.columnar.layout import (
    CELL_LAST,
    HEADER_WORDS,
    LANES,
    LEVELS_MAX,
    Flag,
    Header,
)
from wherecast.matching.columnar.plan import Plan, plan_groups
from wherecast.matching.columnar.predicates import Predicates

Ints = npt.NDArray[np.int64]
_SAMPLE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Groups of entries as flat arrays; see `kernels.layout`.

    Attributes:
        quantisers: one per slot.
        headers: int64 [groups, 24].
        directory, groups: int32, for each slot the groups that need it most, then those that
            need none.
        blocks: uint16, 64-byte aligned.
        numbers, sources: int32 [positions], the filter and the conjunction of each entry.
    """

    quantisers: tuple[Quantiser, ...]
    headers: Ints
    directory: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    blocks: npt.NDArray[np.uint16]
    numbers: npt.NDArray[np.int32]
    sources: npt.NDArray[np.int32]

    @property
    def nbytes(self) -> int:
        """The bytes of the trees."""
        arrays = (
            self.headers,
            self.directory,
            self.groups,
            self.blocks,
            self.numbers,
            self.sources,
        )
        return sum(array.nbytes for array in arrays)


def build(
    entries: Entries,
    predicates: Predicates,
    is_float: npt.NDArray[np.uint8],
    filters: Ints,
    extra: npt.NDArray[np.bool_],
    whole: npt.NDArray[np.bool_],
) -> Forest:
    """The forest of entries.

    Args:
        entries: the boxes.
        predicates: the ends of each slot's keys.
        is_float: uint8 [slots].
        filters: int64 [conjunctions], the filter of each.
        extra: bool [conjunctions], those whose matches take the longer way.
        whole: bool [conjunctions], those whose group has all their sides as dimensions.
    """
    from wherecast.matching.columnar import kernels

    width = len(is_float)
    low, high, quantisers, mass = _quantised(entries, predicates, is_float)
    upper = mass[entries.slots, high.astype(np.int64) + 1]
    chance = (upper - mass[entries.slots, low]).astype(np.float64)
    plan = plan_groups(entries, whole[entries.conjunctions], chance, extra[entries.conjunctions])
    order = np.argsort(plan.group, kind="stable")
    starts = np.searchsorted(plan.group[order], np.arange(plan.count + 1))
    slots, needed = _dimensions(entries, plan, chance, width)
    headers, positions = _layout(starts, slots)
    blocks = aligned(_cell_count(headers), np.uint16)
    numbers = aligned(positions, np.int32)
    sources = aligned(positions, np.int32)
    numbers[:], sources[:] = -1, 0
    for group in range(plan.count):
        members = order[starts[group] : starts[group + 1]]
        dims = slots[group]
        box_low, box_high = _boxes(entries, members, dims, low, high, width)
        places = kernels.order_of(box_low, box_high, mass[dims], _SAMPLE)
        _fill(headers[group], box_low, box_high, places, blocks)
        first = headers[group, Header.FIRST]
        chosen = entries.conjunctions[members[places]]
        numbers[first : first + len(members)] = filters[chosen]
        sources[first : first + len(members)] = chosen
        exact = [quantisers[slot].exact for slot in dims]
        residual = bool((~plan.is_dim[_rows(entries, members)]).any())
        check = residual or bool(entries.check[members].any())
        headers[group, Header.FLAGS] = (
            (Flag.CHECK_ALL if check else 0)
            | (Flag.CHECK_EDGES if not all(exact) else 0)
            | (Flag.EXTRA if extra[chosen].any() else 0)
        )
        headers[group, Header.EXACT] = sum(1 << dim for dim, is_it in enumerate(exact) if is_it)
        headers[group, Header.NEEDED] = needed[group]
    directory, groups = _directory(slots, needed, width)
    return Forest(quantisers, headers, directory, groups, blocks, numbers, sources)


def aligned(count: int, dtype: Any) -> Any:
    """An array that starts at a multiple of 64 bytes."""
    size = np.dtype(dtype).itemsize
    raw = np.empty(count * size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + count * size].view(dtype)


def _quantised(
    entries: Entries, predicates: Predicates, is_float: npt.NDArray[np.uint8]
) -> tuple[
    npt.NDArray[np.uint16], npt.NDArray[np.uint16], tuple[Quantiser, ...], npt.NDArray[np.float32]
]:
    """The cells of all sides, the quantisers, and the cumulative chance of each slot's cells."""
    low, high = np.zeros(len(entries.slots), np.uint16), np.zeros(len(entries.slots), np.uint16)
    mass = np.zeros((len(is_float), CELL_LAST + 2), np.float32)
    quantisers = []
    by_slot = np.argsort(entries.slots, kind="stable")
    ends = np.searchsorted(entries.slots[by_slot], np.arange(len(is_float) + 1))
    for slot in range(len(is_float)):
        sides = by_slot[ends[slot] : ends[slot + 1]]
        least, most = int(predicates.least[slot]), int(predicates.most[slot])
        quantiser, low[sides], high[sides] = quantise(
            entries.lows[sides], entries.highs[sides], least, most, bool(is_float[slot])
        )
        quantisers.append(quantiser)
        counts = np.bincount(low[sides], minlength=CELL_LAST + 1).astype(np.float64)
        counts += np.bincount(high[sides], minlength=CELL_LAST + 1)
        counts[[0, 1, CELL_LAST]] = 0
        counts += 1e-9
        mass[slot, 1:] = np.cumsum(counts / counts.sum())
    missing_cells(low, high, entries.missing)
    return low, high, tuple(quantisers), mass


def _rows(entries: Entries, members: Ints) -> Ints:
    """The sides of some entries."""
    sizes = entries.offsets[members + 1] - entries.offsets[members]
    ends = np.cumsum(sizes)
    return np.repeat(entries.offsets[members] - (ends - sizes), sizes) + np.arange(int(sizes.sum()))


def _dimensions(
    entries: Entries, plan: Plan, chance: npt.NDArray[np.float64], width: int
) -> tuple[list[Ints], Ints]:
    """The slots of each group, those that must be present first, the most selective first."""
    owner = np.repeat(np.arange(len(entries)), np.diff(entries.offsets))
    used = np.flatnonzero(plan.is_dim)
    keys = plan.group[owner[used]] * width + entries.slots[used]
    distinct, back = np.unique(keys, return_inverse=True)
    mean = np.bincount(back, chance[used]) / np.bincount(back)
    missing = np.bincount(back, entries.missing[used]) > 0
    group, slot = np.divmod(distinct, width)
    order = np.lexsort((mean, missing, group))
    bounds = np.searchsorted(group[order], np.arange(plan.count + 1))
    slots = [slot[order[bounds[g] : bounds[g + 1]]] for g in range(plan.count)]
    needed = np.bincount(group[~missing], minlength=plan.count)
    return slots, needed


def _layout(starts: Ints, slots: list[Ints]) -> tuple[Ints, int]:
    """Headers with the places of all levels; and the number of positions."""
    headers = np.zeros((len(slots), HEADER_WORDS), np.int64)
    at = position = 0
    for group, dims in enumerate(slots):
        header = headers[group]
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


def _cell_count(headers: Ints) -> int:
    """The number of cells of all blocks."""
    if not len(headers):
        return 0
    last = headers[-1]
    level = int(last[Header.LEVELS]) - 1
    return int(last[Header.BASE + level] + last[Header.DIMS] * 2 * LANES)


def _boxes(
    entries: Entries,
    members: Ints,
    dims: Ints,
    low: npt.NDArray[np.uint16],
    high: npt.NDArray[np.uint16],
    width: int,
) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]]:
    """The cells of a group's entries on its dimensions; without any, one that all satisfy."""
    count = max(1, len(dims))
    box_low = np.zeros((len(members), count), np.uint16)
    box_high = np.full((len(members), count), CELL_LAST, np.uint16)
    place_of = np.full(width + 1, -1, np.int64)
    place_of[dims] = np.arange(len(dims))
    rows = _rows(entries, members)
    sizes = entries.offsets[members + 1] - entries.offsets[members]
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


def _directory(
    slots: list[Ints], needed: Ints, width: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """For each slot the groups whose first dimension it is; last, the groups that need none."""
    first = np.array([d[0] if n else width for d, n in zip(slots, needed, strict=True)], np.int64)
    groups = np.argsort(first, kind="stable").astype(np.int32)
    ends = np.searchsorted(first[groups], np.arange(width + 2)).astype(np.int32)
    return ends, groups
