"""Disjoint shares are joined without a copy too many; a subscription in two shares is a fault."""

import numpy as np
import pytest

from wherecast.pipeline.live.stage.join_shares import join_shares
from wherecast.pipeline.live.stage.match_share import ShareMatches
from wherecast.pipeline.live.stage.rank_matches import RankedMatches, rank_matches


def found(*pairs: tuple[int, int]) -> RankedMatches:
    array = np.array(pairs, np.int64).reshape(len(pairs), 2)
    return rank_matches(ShareMatches(array[:, 0], array[:, 1]))


def test_the_matches_of_all_shares_are_there() -> None:
    joined = join_shares([found((7, 1), (8, 1)), found(), found((7, 2))])
    pairs = zip(joined.offsets.tolist(), joined.versions.tolist(), strict=True)
    assert sorted(pairs) == [(7, 1), (7, 2), (8, 1)]


def test_one_share_is_passed_on_as_it_is() -> None:
    one = found((7, 1), (7, 2))
    joined = join_shares([one])
    assert joined.offsets is one.matches.offsets
    assert joined.versions is one.matches.versions


def test_shares_that_are_not_disjoint_are_refused() -> None:
    with pytest.raises(AssertionError, match="two shares hold the same subscription"):
        join_shares([found((7, 1)), found((8, 1))])
