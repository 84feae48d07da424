"""The outcomes of entries in mixed groups, as bits of their leaf blocks."""

import numpy as np

from wherecast.matching.columnar.layout import HEADER_WORDS, GroupFlag, Header
from wherecast.matching.columnar.packing.outcomes import are_mixed, outcomes_by_block

EXTRA, ONCE = int(GroupFlag.EXTRA), int(GroupFlag.ONCE)


def test_a_group_is_mixed_where_its_entries_differ() -> None:
    group = np.array([0, 0, 1, 1, 2, 2, 3])
    outcome = np.array([EXTRA, EXTRA, 0, ONCE, EXTRA, ONCE, 0])

    assert are_mixed(4, group, outcome).tolist() == [False, True, True, False]


def test_each_leaf_block_has_the_bits_of_its_entries() -> None:
    draw = np.random.default_rng(6)
    starts = np.array([0, 3, 130])  # of a block, and of two with one of padding
    headers = np.zeros((2, HEADER_WORDS), np.int64)
    headers[:, Header.FIRST], headers[:, Header.SIZE] = [0, 64], [64, 128]
    headers[1, Header.FLAGS] = GroupFlag.MIXED
    outcome, placed = draw.choice([0, EXTRA, ONCE], 130), draw.permutation(130)

    words = outcomes_by_block(headers, outcome, placed, starts)

    assert words.shape == (3, 2)
    positions = [*range(3), *range(64, 191)]
    for flag, word in ((EXTRA, 0), (ONCE, 1)):
        wanted = [0, 0, 0]
        for position, entry in zip(positions, placed.tolist(), strict=True):
            if outcome[entry] == flag:
                wanted[position // 64] |= 1 << position % 64
        assert words[:, word].tolist() == wanted


def test_without_mixed_groups_nothing_is_stored() -> None:
    headers = np.zeros((1, HEADER_WORDS), np.int64)

    assert (
        len(outcomes_by_block(headers, np.zeros(3, np.int64), np.arange(3), np.array([0, 3]))) == 0
    )
