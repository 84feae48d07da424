import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wherecast.store.segments.merging import FAN_IN, SEALED_BYTES, due


def merged(tiers: list[int], sizes: list[int]) -> int:
    """Merges all that is due, in place; returns how many bytes were written."""
    written = 0
    while found := due(tiers, sizes):
        size = sum(sizes[found.begin : found.end])
        written += size
        tiers[found.begin : found.end] = [found.tier]
        sizes[found.begin : found.end] = [size]
    return written


WEEK = 7 * 24 * 3600  # a batch every second


@pytest.mark.parametrize("batches", [5_000, pytest.param(WEEK, marks=pytest.mark.release)])
def test_their_number_grows_with_the_logarithm(batches: int) -> None:
    tiers: list[int] = []
    sizes: list[int] = []
    written = 0
    for count in range(1, batches):
        tiers.append(0)
        sizes.append(1)
        written += merged(tiers, sizes)
        tier_count = 1 + int(math.log(count, FAN_IN))
        assert len(tiers) <= (FAN_IN - 1) * tier_count
        assert sum(sizes) == count
        assert tiers == sorted(tiers, reverse=True)
    assert written <= batches * math.log(batches, FAN_IN)  # each is written once per tier


def test_where_merging_lags_much_is_merged_at_once() -> None:
    tiers, sizes, steps = [0] * 20_000, [1] * 20_000, 0
    while found := due(tiers, sizes):
        tiers[found.begin : found.end] = [found.tier]
        sizes[found.begin : found.end] = [sum(sizes[found.begin : found.end])]
        steps += 1
    assert steps < 20_000 / FAN_IN**2
    assert len(tiers) < 8 * math.log(20_000, FAN_IN)


@given(st.lists(st.sampled_from([1, 1000, SEALED_BYTES // 3, SEALED_BYTES, SEALED_BYTES * 20])))
def test_large_ones_are_left_and_the_rest_between_them_becomes_one(given_sizes: list[int]) -> None:
    tiers: list[int] = []
    sizes: list[int] = []
    for size in given_sizes:
        tiers.append(0)
        sizes.append(size)
        merged(tiers, sizes)
    sealed = [size for size in sizes if size >= SEALED_BYTES]
    assert [size for size in given_sizes if size >= 20 * SEALED_BYTES] == [
        size for size in sealed if size >= 20 * SEALED_BYTES
    ]
    open_places = [place for place, size in enumerate(sizes) if size < SEALED_BYTES]
    closed = [place for place in open_places if any(s >= SEALED_BYTES for s in sizes[place:])]
    assert all(b - a > 1 for a, b in itertools.pairwise(closed))


def test_nothing_is_due_of_nothing() -> None:
    assert due([], []) is None
    assert due([0] * (FAN_IN - 1), [1] * (FAN_IN - 1)) is None
