"""Each kernel beside its obvious twin, written with NumPy or plain loops."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("numba")

from wherecast.language.meaning.keys import RANGES, float_keys
from wherecast.matching.columnar import kernels
from wherecast.matching.columnar.cells import QuantiserBuilder
from wherecast.matching.columnar.layout import Stamps
from wherecast.matching.columnar.search.encoder import Encoder, Encoding
from wherecast.matching.columnar.slots import SlotColumn

Cells = npt.NDArray[np.uint16]


def packed(present: npt.NDArray[np.bool_], first: int) -> npt.NDArray[np.uint8]:
    """The bits of a column that begins at a bit, with the padding that the kernel reads."""
    bits = np.packbits(np.concatenate([np.zeros(first, bool), present]), bitorder="little")
    return np.concatenate([bits, np.zeros(16, np.uint8)])


def cells_twin(
    values: npt.NDArray[np.float64], bounds: npt.NDArray[np.int64], exact: bool
) -> Cells:
    keys = float_keys(values)
    below = np.searchsorted(bounds, keys, side="left")
    equal = np.isin(keys, bounds)
    return (1 + (below << int(exact)) + equal).astype(np.uint16)


@pytest.mark.parametrize("count", [3, 200, 40_000, 90_000])
@pytest.mark.parametrize("first", [0, 5])
def test_cells(count: int, first: int) -> None:
    draw = np.random.default_rng(count)
    ends = np.unique(float_keys(np.round(draw.normal(0, 1e3, count), 3)))
    builder = QuantiserBuilder()
    builder.add(ends, ends, *RANGES["float"], True)
    quantisers = builder.finish()
    odd = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e308, -1e308, 5e-324]
    values = np.concatenate([draw.normal(0, 2e3, 300), draw.normal(0, 1, 100), odd])
    present = draw.random(len(values)) < 0.6
    column = SlotColumn(values, packed(present, first), first)

    cells, there = Encoder([column], Encoding.of(quantisers, np.ones(1, np.uint8))).cells()

    bounds = quantisers.bounds[:-4]
    wanted = np.where(present, cells_twin(values, bounds, bool(quantisers.exact[0])), 0)
    assert (cells[:, 0] == wanted).all()
    bits = np.unpackbits(there.view(np.uint8), bitorder="little")[: len(values)]
    assert (bits == present).all()


def boxes(entries: int, dims: int) -> tuple[Cells, Cells]:
    draw = np.random.default_rng(entries)
    ends = np.sort(draw.integers(1, 1_000, (2, entries, dims)), axis=0).astype(np.uint16)
    return ends[0], ends[1]


@pytest.mark.parametrize("entries", [1, 64, 65, 5_000])
def test_blocks_and_levels(entries: int) -> None:
    dims = 3
    low, high = boxes(entries, dims)
    order = np.random.default_rng(1).permutation(entries).astype(np.int32)
    count = -(-entries // 64)
    above = -(-count // 64)
    blocks = np.zeros((count + above) * dims * 128, np.uint16)

    kernels.fill_leaves(low, high, order, blocks, 0)
    kernels.fill_level(blocks, 0, count, count * dims * 128, dims)

    leaves = blocks[: count * dims * 128].reshape(count, dims, 2, 64)
    padded_low = np.full((count * 64, dims), 65535, np.uint16)
    padded_high = np.zeros((count * 64, dims), np.uint16)
    padded_low[:entries], padded_high[:entries] = low[order], high[order]
    assert (leaves[:, :, 0] == padded_low.reshape(count, 64, dims).transpose(0, 2, 1)).all()
    assert (leaves[:, :, 1] == padded_high.reshape(count, 64, dims).transpose(0, 2, 1)).all()
    upper = blocks[count * dims * 128 :].reshape(above, dims, 2, 64).transpose(0, 3, 1, 2)
    flat = upper.reshape(above * 64, dims, 2)
    assert (flat[:count, :, 0] == leaves[:, :, 0].min(axis=2)).all()
    assert (flat[:count, :, 1] == leaves[:, :, 1].max(axis=2)).all()
    assert (flat[count:] == [65535, 0]).all()


@pytest.mark.parametrize("entries", [65, 4_096, 5_000])
def test_an_order_is_a_permutation_that_keeps_boxes_small(entries: int) -> None:
    """Blocks of 64 neighbours are much smaller than blocks of any 64."""
    low, high = boxes(entries, 2)
    sums = np.linspace(0, 1, 1_003).astype(np.float32)
    starts, tops = np.zeros(2, np.int64), np.full(2, 1_001, np.int64)

    order = kernels.order_of(low, high, sums, starts, tops, 64, np.zeros(2, bool))

    assert sorted(order.tolist()) == list(range(entries))

    def spread(places: npt.NDArray[np.int32]) -> float:
        groups = [places[start : start + 64] for start in range(0, entries, 64)]
        sizes = [np.ptp(low[group].astype(int), axis=0).prod() for group in groups]
        return float(np.mean(sizes))

    assert spread(order) <= spread(np.arange(entries, dtype=np.int32))


def test_parts_become_rows() -> None:
    draw = np.random.default_rng(3)
    parts = np.stack([draw.integers(0, 50, 400), draw.integers(1, 9, 400)], axis=1).astype(np.int32)
    stream = draw.integers(0, 1_000, int(parts[:, 1].sum())).astype(np.int32)
    ends, out = np.zeros(61, np.int64), np.zeros(len(stream) + 7, np.int32)
    ends[:11] = 7  # ten rows before had seven matches

    kernels.gather(parts, len(parts), stream, 10, 50, ends, out)

    rows: list[list[int]] = [[] for _ in range(50)]
    at = 0
    for row, size in parts.tolist():
        rows[row] += stream[at : at + size].tolist()
        at += size
    assert [out[ends[10 + r] : ends[11 + r]].tolist() for r in range(50)] == rows
    assert ends[60] == 7 + len(stream)


def stamps(filters: int) -> Stamps:
    return Stamps(np.zeros(filters, np.uint8), np.zeros(1, np.int64))


def test_rows_keep_each_filter_once() -> None:
    """More rows than there are marks, of a chunk behind others."""
    draw = np.random.default_rng(4)
    sizes = draw.integers(0, 30, 600)
    ends = np.cumsum(np.concatenate([[0], sizes]))
    out = draw.integers(0, 20, int(ends[-1])).astype(np.int32)
    rows = [out[a:b].tolist() for a, b in pairwise(ends.tolist())]

    kernels.once(5, 595, np.ones(595, np.uint8), ends, out, stamps(20))

    kept = [out[a:b].tolist() for a, b in pairwise(ends.tolist())]
    assert kept == rows[:5] + [list(dict.fromkeys(row)) for row in rows[5:]]


def test_matches_are_added_to_rows_once() -> None:
    draw = np.random.default_rng(5)
    rows = [draw.permutation(30)[: draw.integers(0, 20)].tolist() for _ in range(600)]
    ends = np.cumsum([0, *map(len, rows)])
    numbers = np.array([number for row in rows for number in row], np.int32)
    publications, filters = draw.integers(0, 600, 2_000), draw.integers(0, 30, 2_000)
    publications[publications % 7 == 0] = 3  # rows that get none
    out = np.zeros(len(numbers) + len(filters), np.int32)

    joined = kernels.add_matches(
        ends, numbers, publications, filters.astype(np.int32), stamps(30), out
    )

    for publication, number in zip(publications.tolist(), filters.tolist(), strict=True):
        if number not in rows[publication]:
            rows[publication].append(number)
    assert [out[a:b].tolist() for a, b in pairwise(joined.tolist())] == rows


def test_many_matches_are_added() -> None:
    """More than fit into memory that stays mapped when it is freed."""
    count = 9_000_000
    publications = np.zeros(count, np.int64)
    out = np.zeros(count + 1, np.int32)

    joined = kernels.add_matches(
        np.zeros(2, np.int64), np.zeros(0, np.int32), publications,
        np.full(count, 7, np.int32), stamps(8), out,
    )  # fmt: skip

    assert joined.tolist() == [0, 1]
    assert out[0] == 7
