"""The forest: trees of packed boxes, built from entries, and matched by the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from wherecast.matching.columnar.cells import (
    Cells,
    QuantiserBuilder,
    Quantisers,
    missing_cells,
)
from wherecast.matching.columnar.encoder import Encoder
from wherecast.matching.columnar.entries import Entries
from wherecast.matching.columnar.layout import (
    CELL_LAST,
    HEADER_WORDS,
    LANES,
    LEVELS_MAX,
    Flag,
    Header,
)
from wherecast.matching.columnar.mass import Mass, mass_of
from wherecast.matching.columnar.plan import Plan, plan_groups
from wherecast.matching.columnar.predicates import Predicates
from wherecast.matching.columnar.slots import Column

Ints = npt.NDArray[np.int64]
_SAMPLE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Groups of entries as flat arrays; see `layout`.

    Attributes:
        quantisers: of the slots.
        headers: int64 [groups, 24].
        directory: int32 [slots + 2], into `groups`: for each slot the groups that need it most,
            then those that need none.
        groups, seconds: int32 [groups], groups, and for each another slot that it needs, or the
            same.
        blocks: uint16, 64-byte aligned.
        numbers, sources: int32 [positions], the filter and the conjunction of each entry.
        rest_ends: int32, for the positions of groups that have rests, where theirs begin and end.
        rests: uint16, triples.
    """

    quantisers: Quantisers
    headers: Ints
    directory: npt.NDArray[np.int32]
    groups: npt.NDArray[np.int32]
    seconds: npt.NDArray[np.int32]
    blocks: npt.NDArray[np.uint16]
    numbers: npt.NDArray[np.int32]
    sources: npt.NDArray[np.int32]
    rest_ends: npt.NDArray[np.int32]
    rests: npt.NDArray[np.uint16]

    @property
    def nbytes(self) -> int:
        """The bytes of the trees, without those of the quantisers."""
        arrays = [getattr(self, field.name) for field in fields(self)[1:]]
        return sum(array.nbytes for array in arrays)


@dataclass(frozen=True, slots=True, eq=False)
class Conjunctions:
    """What entries are of.

    Attributes:
        filters: int64 [conjunctions], the filter of each.
        extra: bool [conjunctions], those whose matches take the longer way.
        whole: bool [conjunctions], those whose group has all their sides as dimensions.
    """

    filters: Ints
    extra: npt.NDArray[np.bool_]
    whole: npt.NDArray[np.bool_]


def build(
    entries: Entries,
    predicates: Predicates,
    is_float: npt.NDArray[np.uint8],
    conjunctions: Conjunctions,
    seen: Sequence[Sequence[Column]] = (),
) -> Forest:
    """The forest of entries.

    Args:
        entries: the boxes.
        predicates: the ends of each slot's keys.
        is_float: uint8 [slots].
        conjunctions: what the entries are of.
        seen: the columns of publications that were seen, in samples.
    """
    width, filters, extra = len(is_float), conjunctions.filters, conjunctions.extra
    low, high, quantisers = _quantised(entries, predicates, is_float)
    cells = [Encoder(columns, quantisers, is_float).cells()[0] for columns in seen]
    mass = mass_of(entries, (low, high), quantisers, cells)
    chance = mass.chance(entries.slots, low, high)
    whole, late = conjunctions.whole[entries.conjunctions], extra[entries.conjunctions]
    late |= _may_meet(entries, quantisers.exact)
    plan = plan_groups(entries, whole, chance, late)
    count = len(plan.shared)
    order = np.argsort(plan.group, kind="stable")
    starts = np.searchsorted(plan.group[order], np.arange(count + 1))
    slots, needed = _dimensions(entries, plan, chance, width)
    headers, positions = _layout(starts, slots)
    headers[:, Header.NEEDED] = needed
    _set_flags(headers, entries, plan, late, quantisers.exact)
    for group, dims in enumerate(slots):
        exact = quantisers.exact[dims].tolist()
        headers[group, Header.EXACT] = sum(1 << dim for dim, is_it in enumerate(exact) if is_it)
    blocks = aligned(_cell_count(headers), np.uint16)
    numbers, sources = aligned(positions, np.int32), aligned(positions, np.int32)
    numbers[:], sources[:] = -1, 0
    placed = np.empty(len(entries), np.int64)  # the entries in the order of their positions
    for group in range(count):
        members = order[starts[group] : starts[group + 1]]
        box_low, box_high = _boxes(entries, members, slots[group], low, high, width)
        places = _order(box_low, box_high, slots[group], mass)
        _fill(headers[group], box_low, box_high, places, blocks)
        placed[starts[group] : starts[group + 1]] = members[places]
        first, chosen = headers[group, Header.FIRST], entries.conjunctions[members[places]]
        numbers[first : first + len(members)] = filters[chosen]
        sources[first : first + len(members)] = chosen
    unordered = _rests_of(entries, plan, low, high, chance)
    rest_ends, rests = _rests(headers, unordered, placed, starts)
    directory, groups, seconds = _directory(slots, needed, width)
    return Forest(
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


def _may_meet(entries: Entries, exact: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """The entries of which two of one conjunction may hold a value: parts that share a cell."""
    found = np.zeros(len(entries), bool)
    sides = np.flatnonzero(entries.split & (exact[entries.slots] == 0))
    found[np.searchsorted(entries.offsets, sides, side="right") - 1] = True
    return found


def _set_flags(
    headers: Ints,
    entries: Entries,
    plan: Plan,
    late: npt.NDArray[np.bool_],
    exact: npt.NDArray[np.uint8],
) -> None:
    """Writes into the headers what happens to the entries of each group."""
    group = np.repeat(plan.group, np.diff(entries.offsets))
    flags = headers[:, Header.FLAGS]
    for flag, groups in (
        (Flag.CHECK_ALL, plan.group[entries.check]),
        (Flag.CHECK_EDGES, group[exact[entries.slots] == 0]),
        (Flag.EXTRA, plan.group[late]),
        (Flag.REST, group[~plan.is_dim]),
    ):
        flags[np.unique(groups)] |= int(flag)


def _order(low: Cells, high: Cells, dims: Ints, mass: Mass) -> npt.NDArray[np.int32]:
    """The order of a group's entries that keeps similar boxes together."""
    from wherecast.matching.columnar import kernels

    if len(low) <= LANES or not len(dims):
        return np.arange(len(low), dtype=np.int32)
    found: npt.NDArray[np.int32] = kernels.order_of(
        low, high, mass.sums, mass.starts[dims], mass.tops[dims], _SAMPLE
    )
    return found


def _rests_of(
    entries: Entries, plan: Plan, low: Cells, high: Cells, chance: npt.NDArray[np.float64]
) -> tuple[Ints, npt.NDArray[np.uint16]]:
    """Where the rests of each entry begin, and the rests, the least likely first."""
    rows = np.flatnonzero(~plan.is_dim)
    owner = np.searchsorted(entries.offsets, rows, side="right") - 1
    order = np.lexsort((chance[rows], owner))
    rows = rows[order]
    starts = np.cumsum(np.bincount(owner + 1, minlength=len(entries) + 1))
    slots = entries.slots[rows].astype(np.uint16)
    return starts, np.stack([slots, low[rows], high[rows]], axis=1)


def _rests(
    headers: Ints, given: tuple[Ints, npt.NDArray[np.uint16]], placed: Ints, starts: Ints
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint16]]:
    """The rests in the order of positions; the headers get where those of a group begin."""
    begins, triples = given
    ends, chosen, count, total = [], [], 0, 0
    for group in np.flatnonzero(headers[:, Header.FLAGS] & Flag.REST).tolist():
        members = placed[starts[group] : starts[group + 1]]
        sizes = begins[members + 1] - begins[members]
        each = np.zeros(int(headers[group, Header.SIZE]) + 1, np.int64)
        each[1 : len(members) + 1] = sizes
        headers[group, Header.REST] = count
        ends.append(total + np.cumsum(each))
        chosen.append(_spans(begins[members], sizes))
        count, total = count + len(each), total + int(sizes.sum())
    none = np.zeros(0, np.int64)
    return (
        np.concatenate([none, *ends]).astype(np.int32),
        triples[np.concatenate([none, *chosen])].ravel(),
    )


def _spans(starts: Ints, sizes: Ints) -> Ints:
    """The numbers of spans that begin at starts, one after the other."""
    ends = np.cumsum(sizes)
    return np.repeat(starts - (ends - sizes), sizes) + np.arange(int(sizes.sum()))


def _dimensions(
    entries: Entries, plan: Plan, chance: npt.NDArray[np.float64], width: int
) -> tuple[list[Ints], Ints]:
    """The slots of each group, those that must be present first, the least likely first."""
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
    sizes = entries.offsets[members + 1] - entries.offsets[members]
    rows = _spans(entries.offsets[members], sizes)
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
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """For each slot the groups whose first dimension it is; last, the groups that need none."""
    first = np.array([d[0] if n else width for d, n in zip(slots, needed, strict=True)], np.int64)
    second = np.array(
        [d[1] if n > 1 else d[0] if n else 0 for d, n in zip(slots, needed, strict=True)], np.int32
    )
    groups = np.argsort(first, kind="stable").astype(np.int32)
    ends = np.searchsorted(first[groups], np.arange(width + 2)).astype(np.int32)
    return ends, groups, second[groups]
