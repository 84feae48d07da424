"""join: what the shares found for the same publications → all matches.

The shares of a range hold disjoint subscriptions, so that no match is found twice and nothing must
be deduplicated. A subscription in two shares is a fault of whoever dealt it, and is not hidden.
Matches carry global versions, so the shares may come from processes that read different histories.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.pipeline.live.stage.rank_matches import RankedMatches

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JoinedMatches:
    """All matches of a range that are notified, in any order.

    Attributes:
        offsets: of the publications; int64, shape (n,).
        versions: of the changes that made the subscriptions; int64, shape (n,).
    """

    offsets: Ints
    versions: Ints


def join_shares(found: Sequence[RankedMatches]) -> JoinedMatches:
    """The matches of all shares; those of a single share are not copied."""
    parts = [one.matches for one in found]
    if len(parts) == 1:
        return JoinedMatches(parts[0].offsets, parts[0].versions)
    own = [np.unique(part.versions) for part in parts]
    together = np.concatenate([np.zeros(0, np.int64), *own])
    assert len(np.unique(together)) == len(together), "two shares hold the same subscription"
    none = np.zeros(0, np.int64)
    return JoinedMatches(
        np.concatenate([none, *(part.offsets for part in parts)]),
        np.concatenate([none, *(part.versions for part in parts)]),
    )
