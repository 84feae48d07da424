"""match: the rows of a range and one share → the matches of the share that count."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from wherecast.pipeline.live.stage.decode_range import DecodedRange
from wherecast.pipeline.live.subscriptions.roster import Roster
from wherecast.pipeline.live.subscriptions.share_index import ShareIndex

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ShareMatches:
    """Pairs of a publication and a version of a subscription, in any order.

    Attributes:
        offsets: of the publications; int64, shape (n,).
        numbers: of the versions in the roster; int64, shape (n,).
    """

    offsets: Ints
    numbers: Ints


def match_share(decoded: DecodedRange, share: ShareIndex, roster: Roster) -> ShareMatches:
    """The versions of a share that act on the publications of a range and are true on them."""
    found: list[tuple[Ints, Ints]] = []
    for rows in decoded.rows:
        counts, numbers = share.match(rows.stream, rows.batch)
        if len(numbers):
            offsets = np.repeat(rows.offsets, counts)
            acting = roster.acting(decoded.range.partition, offsets, numbers)
            found.append((offsets[acting], numbers[acting]))
    if len(found) == 1:
        return ShareMatches(*found[0])
    none = np.zeros(0, np.int64)
    return ShareMatches(
        np.concatenate([none, *(offsets for offsets, _ in found)]),
        np.concatenate([none, *(numbers for _, numbers in found)]),
    )
